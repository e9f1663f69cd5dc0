"""The jobs of upkeep, in the order in which they run. A job is one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestration.upkeep.job import Job
from orchestration.upkeep.jobs.consolidation import ConsolidationJob
from orchestration.upkeep.jobs.erasure import ErasureJob
from orchestration.upkeep.jobs.mirror import MirrorJob
from orchestration.upkeep.jobs.retention import RetentionJob
from orchestration.upkeep.jobs.revaluation import RevaluationJob
from orchestration.upkeep.jobs.sweep import SweepJob
from orchestration.upkeep.jobs.tags import TagsJob

JOBS: Final[Sequence[Job]] = (
    SweepJob(),
    TagsJob(),
    ConsolidationJob(),
    RetentionJob(),
    ErasureJob(),
    RevaluationJob(),
    MirrorJob(),
)
