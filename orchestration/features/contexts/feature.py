"""What contexts add to the core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from orchestration.feature import Feature
from orchestration.features.contexts.operations import OPERATIONS
from orchestration.features.contexts.queries import forget_notes, note_of, read_notes
from orchestration.features.contexts.values import ContextReceipt
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


FEATURE: Final = Feature(
    "contexts",
    operations=OPERATIONS,
    kept=(Kept("ContextNote", "context_notes", _forget, is_carried=True, check=_check, as_known=as_created),),
)
