"""All operations, in the order of the documents."""

from __future__ import annotations

from typing import Final

from api.routes import appetite as intending
from api.routes import (
    citizens,
    collectives,
    episodes,
    files,
    health,
    keys,
    receipts,
    resonance,
    retrieval,
    revaluations,
    upkeep,
    upkeep_runs,
    validation,
)
from api.routes import offers as answering
from api.routes import rules as checking
from api.routes import sharing as agreeing
from orchestration.features.appetite import operations as appetite
from orchestration.features.contexts import operations as contexts
from orchestration.features.feedback import operations as feedback
from orchestration.features.identity import operations as identity
from orchestration.features.imagination import operations as imagination
from orchestration.features.offers import operations as offers
from orchestration.features.replay import operations as replay
from orchestration.features.rules import operations as rules
from orchestration.features.sharing import operations as sharing
from orchestration.features.situation import operations as situation
from orchestration.features.withholding import operations as withholding
from schemas.operation import collect

BEFORE: Final = collect(retrieval.OPERATIONS, resonance.OPERATIONS, sharing.OPERATIONS, agreeing.OPERATIONS)
AFTER: Final = collect(
    receipts.OPERATIONS, episodes.OPERATIONS, files.OPERATIONS,
    citizens.STATES, identity.LEARNED, citizens.FILES, identity.COMPARED, feedback.OPERATIONS,
    appetite.OPERATIONS, intending.OPERATIONS, collectives.OPERATIONS, contexts.OPERATIONS, imagination.OPERATIONS,
    replay.OPERATIONS, checking.OPERATIONS, rules.OPERATIONS, situation.OPERATIONS, revaluations.OPERATIONS,
    upkeep.OPERATIONS, upkeep_runs.OPERATIONS, offers.OPERATIONS, answering.OPERATIONS,
    withholding.QUARANTINES, withholding.POLICIES, validation.OPERATIONS, keys.OPERATIONS, health.OPERATIONS,
)  # fmt: skip
