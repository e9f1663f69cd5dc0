"""What the mirror adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.mirror.job import MirrorJob

FEATURE: Final = Feature("mirror", jobs=(MirrorJob(),))
