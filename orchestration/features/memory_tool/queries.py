"""Reads the files of a graph: the memories in the bucket of their directory."""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.temporal import Scope
from substrate.cypher.fragments import visible
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

BUCKET: Final = "memories"
NODE_TYPE: Final = "File"

FILES: Final = Query(
    "memory_files",
    f"MATCH (t:Tag {{name: '@{BUCKET}'}}) WITH t MATCH (n:ConsciousnessNode)-[:TAGGED]->(t) "
    f"WHERE n.node_type = '{NODE_TYPE}' AND {visible('n')} "
    "RETURN n.name, n.id, coalesce(size(n.description), 0) ORDER BY n.name",
)
TEXT: Final = Query("memory_file_text", "MATCH (n:ConsciousnessNode {id: $id}) RETURN coalesce(n.description, '')")


class StoredFile(NamedTuple):
    """A file: the id of its memory, and the characters of its text."""

    id: str
    size: int


async def read_files(graph: Graph, scope: Scope) -> dict[str, StoredFile]:
    """The files by their paths, in order. Raises what `Graph.read` raises."""
    return {str(path): StoredFile(*rest) for path, *rest in await graph.read(FILES, **scope.bounds())}


async def read_text(graph: Graph, memory_id: str) -> str:
    """The text of a file. Raises what `Graph.read` raises."""
    [[text]] = await graph.read(TEXT, id=memory_id)
    return str(text)
