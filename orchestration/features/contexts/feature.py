"""What contexts add to the core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from orchestration.feature import Feature
from orchestration.features.contexts import flow
from orchestration.features.contexts.queries import forget_notes, note_of, read_notes
from orchestration.features.contexts.values import ContextReceipt
from schemas.operation import Called, Operation, citizen_may, group
from substrate.graphs.graph import Graph
from substrate.store.kept import Kept, as_created, erase_links


async def _forget(graph: Graph, ids: list[str]) -> Counter[str]:
    """Erase the edges of contexts, then their notes: by these a repeated erasure finds the edges."""
    removed: Counter[str] = Counter()
    for note in await read_notes(graph, ids):
        removed += await erase_links(graph, list(note.ends), list(note.edges))
    removed["context_notes"] += await forget_notes(graph, ids)
    return removed


def _check(properties: Mapping[str, Any]) -> None:
    ContextReceipt(**note_of(properties).receipt)


OPERATIONS: Final = group(
    "mind",
    Operation("write_context", "POST /v1/contexts", "Write a context in one call",
              citizen_may("write", source="source"), flow.write_context, status=201,
              call=Called(says="Write an episode with its nodes, edges, feeling, result and rule, as a whole or "
                               "not at all.")),
    Operation("list_agent_log", "GET /v1/citizens/{citizen_id}/agent-log", "List the notes of agents",
              citizen_may("read"), flow.read_agent_log,
              call=Called("agent_log", "The notes that agents left with contexts, the newest first; `context_id` "
                          "for those of one.")),
)  # fmt: skip
FEATURE: Final = Feature(
    "contexts",
    operations=OPERATIONS,
    kept=(Kept("ContextNote", "context_notes", _forget, is_carried=True, check=_check, as_known=as_created),),
)
