"""What the mirror adds to the core."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from orchestration.feature import Feature, Keeper
from orchestration.features.mirror.job import MirrorJob


def _make_keeper(directory: Path) -> Keeper:
    from orchestration.features.mirror.keeper import MirrorKeeper  # noqa: PLC0415  (few keep mirrors; it is slow)

    return MirrorKeeper(directory)


FEATURE: Final = Feature("mirror", jobs=(MirrorJob(),), keeper=_make_keeper)
