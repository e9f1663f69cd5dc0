"""Names in a query → memories to start from, and what the graphs know of its words (003, task 3)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestration.lexicon import Lexicon, phrases, read_lexicon, sounds
from substrate.connection import Connection, GraphMissing, parameters
from substrate.cypher.search import LEXICON


async def look_up(connection: Connection, graph: str, query_text: str, words: Sequence[str]) -> Lexicon | None:
    """The lexicon of one graph, None when the graph does not exist."""
    header = parameters({"words": list(words), "phrases": phrases(query_text), "sounds": sounds(words)})
    try:
        return read_lexicon(await connection.read(graph, LEXICON, header), query_text)
    except GraphMissing:
        return None
