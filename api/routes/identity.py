"""Who a citizen is, or was."""

from __future__ import annotations

from typing import Final

from api.dependencies import Now, OpenRuntime
from orchestration.features.identity.feature import read_identity
from orchestration.features.identity.values import Identity, IdentityPage, WhoIs
from schemas.base import CitizenId
from schemas.operation import Called, Operation, citizen_may, group


async def who(citizen_id: CitizenId, query: IdentityPage, runtime: OpenRuntime, now: Now) -> Identity:
    """The most connected entities of a citizen's memories, their emotions, and the rules attached (000)."""
    whose = WhoIs(citizen_id=citizen_id, **query.model_dump())
    for note in query.notes:  # times in the dump have a zone, so that validating it makes no notes
        whose = whose.with_note(note)
    return await read_identity(whose, runtime.deps, now)


OPERATIONS: Final = group(
    "citizens",
    Operation("get_identity", "GET /v1/citizens/{citizen_id}/identity", "Read who a citizen is",
              citizen_may("read"), who,
              call=Called("identity", "Who the citizen is, or was: the entities that most of its memories point "
                          "to.", takes=WhoIs)),
)  # fmt: skip
