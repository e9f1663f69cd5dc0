"""What a graph knows of the words of a question: its sizes, how many records hold each word, whose names match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.memory import GENERALISED_KEY
from substrate.connection.pool import Row
from substrate.cypher.fragments import told
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.rows import is_made

DOCUMENT_CAP: Final = 250
"""At most this many records with a word are counted; a count that reaches it is a lower bound."""
NAMES_PER_WORD: Final = 8
"""At most this many names that hold a word are read: a word in more names than that names nobody by itself."""
NAMES_PER_PHRASE: Final = 64

_SIZES: Final = (
    f"CALL {{ MATCH (g:ConsciousnessNode {{text_key: {GENERALISED_KEY}}}) RETURN count(g) AS made }} "
    "CALL db.meta.stats() YIELD labels "
    "UNWIND [['memories', labels.ConsciousnessNode - made], ['traces', labels.Trace - made], "
    "['past_traces', labels.PastTrace], ['past_versions', labels.PastVersion], "
    "['passages', labels.Passage]] AS size "
    "RETURN 'size' AS kind, size[0] AS key, size[1] AS amount, "
    "null AS name, null AS aliases, null AS node_type, null AS unset "
)


def _count_words(label: str, kind: str) -> str:
    return (
        "UNION ALL UNWIND $words AS word CALL { WITH word "
        f"CALL db.idx.fulltext.queryNodes('{label}', word) YIELD node "
        f"WITH node LIMIT {DOCUMENT_CAP} WITH node WHERE {told('node')} "
        "RETURN count(node) AS found } "
        f"RETURN '{kind}' AS kind, word AS key, found AS amount, null AS name, null AS aliases, "
        "null AS node_type, null AS unset "
    )


def _match_names(label: str) -> str:
    columns = (
        "'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases, "
        "node.node_type AS node_type, node.unset AS unset "
    )
    return (
        f"UNION ALL MATCH (node:{label}) WHERE node.name_key IN $phrases "
        f"WITH node LIMIT {NAMES_PER_PHRASE} RETURN {columns}"
        "UNION ALL UNWIND $sounds AS sound CALL { WITH sound "
        f"CALL db.idx.fulltext.queryNodes('{label}', sound) YIELD node RETURN node LIMIT {NAMES_PER_WORD} }} "
        f"RETURN DISTINCT {columns}"
    )


_NOW: Final = Query(
    "lexicon_now", f"{_SIZES} {_count_words('ConsciousnessNode', 'word')} {_match_names('ConsciousnessNode')}"
)
_THEN: Final = Query(
    "lexicon_then", f"{_NOW.text} {_count_words('PastVersion', 'past_word')} {_match_names('PastVersion')}"
)


class NamedMemory(NamedTuple):
    """A memory that has a name; for a past record the name of that time. `made`: of a name in some text."""

    id: str
    name: str
    aliases: tuple[str, ...]
    node_type: str
    made: bool = False


class LexiconRows(NamedTuple):
    """The answer of a graph. `records` and `past_records`: how many hold each word, up to `DOCUMENT_CAP`.

    A memory may have many past records, and one memory may be named twice.
    """

    memories: int
    traces: int
    past_traces: int
    past_versions: int
    records: dict[str, int]
    past_records: dict[str, int]
    names: list[NamedMemory]
    passages: int = 0


async def look_up(
    graph: Graph, *, words: Sequence[str], phrases: Sequence[str], name_queries: Sequence[str], past: bool
) -> LexiconRows:
    """Count the `words`, and find the memories whose comparable name is one of the `phrases` or that a full-text
    query of `name_queries` finds. `past`: past records are counted and searched too.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    values = {"words": list(words), "phrases": list(phrases), "sounds": list(name_queries)}
    return read_rows(await graph.read(_THEN if past else _NOW, **values))


def read_rows(rows: Sequence[Row]) -> LexiconRows:
    """The rows of a lexicon query as named values."""
    sizes = dict.fromkeys(("memories", "traces", "past_traces", "past_versions", "passages"), 0)
    counts: dict[str, dict[str, int]] = {"word": {}, "past_word": {}}
    names: list[NamedMemory] = []
    for kind, key, amount, name, aliases, node_type, unset in rows:
        if kind == "size":
            sizes[key] = amount or 0
        elif kind == "name":
            names.append(NamedMemory(key, name, _aliases(aliases), node_type, made=is_made(unset)))
        else:
            counts[kind][key] = amount
    return LexiconRows(**sizes, records=counts["word"], past_records=counts["past_word"], names=names)


def _aliases(stored: Any) -> tuple[str, ...]:
    return tuple(orjson.loads(stored)) if stored else ()
