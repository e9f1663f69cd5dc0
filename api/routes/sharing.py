"""The shared world: share a memory up a level, contest what another shared, and see how far citizens agree."""

from __future__ import annotations

from typing import Final

from api.dependencies import Now
from api.request_parsing.addresses import SharedMemoryInPath
from api.security.permissions import named_graph, of_record
from orchestration.dependencies import Deps
from orchestration.features.sharing.flow import read_agreement
from orchestration.features.sharing.values import (
    Agreement,
)
from schemas.collectives import OfCollective
from schemas.operation import Called, Operation, group


async def agreement(address: SharedMemoryInPath, query: OfCollective, deps: Deps, now: Now) -> Agreement:
    """How far the citizens agree on a shared memory: who holds it, who has a copy there, who contests it."""
    return await read_agreement(named_graph(address.level, query), address.memory_id, deps, now)


OPERATIONS: Final = group(
    "sharing",
    Operation("get_agreement", "GET /v1/memories/{level}/{memory_id:path}/agreement",
              "See how far citizens agree on a memory", of_record("read", "LEVEL:read"), agreement,
              call=Called("agreement", "How far the citizens agree on a shared memory: who holds it, who has a "
                          "copy, who contests it.")),
)  # fmt: skip
