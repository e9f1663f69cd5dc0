"""Drafts: the graphs into which an import writes, and which take the name of the graph once they are whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import uuid4

from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.engine.append_log import delete_graph
from substrate.graphs.graph import Graph
from substrate.likeness.elements import set_names
from substrate.store.archive import count_stored

DRAFT_IDLE_SECONDS: Final = 600


def draft_name(name: str) -> str:
    """Return a new name for the draft of a graph; the braces put both names in one slot of a cluster."""
    return f"{{{name}}}import-{uuid4().hex[:8]}"


async def draft_names(graph: Graph) -> list[str]:
    """Return the names of the drafts of a graph: of imports that run, and of imports that were killed."""
    names: Sequence[str] = await graph.connection.command("GRAPH.LIST")
    return [name for name in names if name.startswith(f"{{{graph.name}}}import-")]


async def delete_idle_drafts(graph: Graph) -> None:
    """Delete the drafts of a graph that were not written to for `DRAFT_IDLE_SECONDS`."""
    for name in await draft_names(graph):
        if await graph.connection.command("OBJECT", "IDLETIME", name) > DRAFT_IDLE_SECONDS:
            await delete_graph(graph.connection, name)


async def is_empty(graph: Graph) -> bool:
    """True when the graph does not exist, or has no node except its stamp."""
    try:
        labels, _ = await count_stored(graph)
    except GraphMissing:
        return True
    return not labels.keys() - {"SubstrateMeta"}


async def rename_draft(connection: Connection, draft: str, name: str) -> bool:
    """Rename a draft to `name` and replace an empty graph of that name; False when that graph is not empty."""
    if not await is_empty(Graph(connection, name)):
        return False
    await delete_graph(connection, name)
    async with connection.watched([name]) as unchanged:
        if await connection.command("EXISTS", name):
            return False
        pairs = zip(set_names(draft), set_names(name), strict=True)
        sets = [("RENAME", *pair) for pair in pairs if await connection.command("EXISTS", pair[0])]
        return await unchanged(*sets, ("RENAMENX", draft, name))
