"""The jobs of upkeep, in the order in which they run. A job is one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestration.features.consolidation.job import ConsolidationJob
from orchestration.features.mirror.job import MirrorJob
from orchestration.features.revaluation.job import RevaluationJob
from orchestration.features.tagging.job import TagsJob
from orchestration.features.withholding.erasure_job import ErasureJob
from orchestration.features.withholding.retention_job import RetentionJob
from orchestration.upkeep.job import Job
from orchestration.upkeep.jobs.sweep import SweepJob

JOBS: Final[Sequence[Job]] = (
    SweepJob(),
    TagsJob(),
    ConsolidationJob(),
    RetentionJob(),
    ErasureJob(),
    RevaluationJob(),
    MirrorJob(),
)
