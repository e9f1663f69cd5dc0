"""Names in a query → memories to start from, and what the graphs know of its words (003, task 3)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestration.lexicon import Lexicon, holding, phrases, read_lexicon, sounding
from schemas.errors import Fault, StoreTimeout
from substrate.connection import Connection, GraphMissing, parameters
from substrate.cypher.search import LEXICON_NOW, LEXICON_THEN


async def look_up(
    connection: Connection, graph: str, query_text: str, words: Sequence[str], *, past: bool
) -> Lexicon:
    """The lexicon of one graph; an unknown one when it was late or failed, and likeness carries the level.

    Only for words that it does not hold the graph is asked again, for names that sound alike.
    Raises Unavailable when the engine does not answer.
    """
    query = LEXICON_THEN if past else LEXICON_NOW
    asked = {"words": list(words), "phrases": phrases(query_text), "sounds": holding(words)}
    try:
        rows = await connection.read(graph, query, parameters(asked))
        unheard = [row[1] for row in rows if row[0] == "word" and not row[2]]
        if sounds := sounding(unheard):
            misspelt = {"words": [], "phrases": [], "sounds": sounds}
            rows = [*rows, *await connection.read(graph, query, parameters(misspelt))]
    except GraphMissing:
        return Lexicon()
    except (StoreTimeout, Fault):
        return Lexicon.unknown(words)
    return read_lexicon(rows, query_text)
