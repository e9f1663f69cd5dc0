"""The features of this service. To remove one: its folder, its face, and its line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestration.feature import Features
from orchestration.features.appetite import feature as appetite
from orchestration.features.association import feature as association
from orchestration.features.consolidation import feature as consolidation
from orchestration.features.contexts import feature as contexts
from orchestration.features.feedback import feature as feedback
from orchestration.features.identity import feature as identity
from orchestration.features.imagination import feature as imagination
from orchestration.features.mirror import feature as mirror
from orchestration.features.offers import feature as offers
from orchestration.features.replay import feature as replay
from orchestration.features.revaluation import feature as revaluation
from orchestration.features.rules import feature as rules
from orchestration.features.shape import feature as shape
from orchestration.features.sharing import feature as sharing
from orchestration.features.situation import feature as situation
from orchestration.features.tagging import feature as tagging
from orchestration.features.withholding import feature as withholding
from orchestration.upkeep.job import Job
from orchestration.upkeep.sweep import SweepJob

FEATURES: Final = Features(
    (
        tagging.FEATURE,
        consolidation.FEATURE,
        withholding.FEATURE,
        revaluation.FEATURE,
        mirror.FEATURE,
        contexts.FEATURE,
        feedback.FEATURE,
        imagination.FEATURE,
        rules.FEATURE,
        offers.FEATURE,
        appetite.FEATURE,
        sharing.FEATURE,
        shape.FEATURE,
        situation.FEATURE,
        replay.FEATURE,
        association.FEATURE,
        identity.FEATURE,
    )
)
JOBS: Final[Sequence[Job]] = (SweepJob(), *(job for feature in FEATURES.all for job in feature.jobs))
"""The jobs of upkeep, in the order in which they run."""
