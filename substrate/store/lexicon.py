"""What a graph knows of the words of a question: its sizes, how many records hold each word, whose names match."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import orjson

from schemas.memory import GENERALISED_KEY
from substrate.connection.kept import WORDS, GraphState, Reads
from substrate.connection.pool import Row
from substrate.connection.together import together
from substrate.cypher.fragments import ALONE, SEEN, each_alone, is_statement, is_told
from substrate.cypher.query import Query
from substrate.graphs.graph import UNKEPT, Graph
from substrate.store.rows import is_made

DOCUMENT_CAP: Final = 250
"""At most this many records with a word are counted; a count that reaches it is a lower bound."""
NAMES_PER_WORD: Final = 8
"""At most this many names that hold a word are read: a word in more names than that names nobody by itself."""
NAMES_PER_PHRASE: Final = 64

_SIZES: Final = (
    f"UNWIND $sized AS one CALL {{ MATCH (g:ConsciousnessNode {{text_key: {GENERALISED_KEY}}}) "
    "RETURN count(g) AS made } CALL db.meta.stats() YIELD labels "
    "UNWIND [['memories', labels.ConsciousnessNode - made], ['traces', labels.Trace - made], "
    "['past_traces', labels.PastTrace], ['past_versions', labels.PastVersion], "
    "['passages', labels.Passage]] AS size "
    "RETURN 'size' AS kind, size[0] AS key, size[1] AS amount, "
    "null AS name, null AS aliases, null AS node_type, null AS unset, null AS via "
)
_STATE: Final = (
    f"{SEEN} RETURN 'seen' AS kind, seen[0] AS key, seen[1] AS amount, "
    "null AS name, null AS aliases, null AS node_type, null AS unset, null AS via "
)


_NAME: Final = (
    "'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases, "
    "node.node_type AS node_type, node.unset AS unset"
)


def _count_word(label: str, kind: str) -> str:
    """How many records hold `word`. Rows have in `via` how many were looked at."""
    return (
        "CALL { WITH word "
        f"CALL db.idx.fulltext.queryNodes('{label}', word) YIELD node WITH node LIMIT {DOCUMENT_CAP} "
        f"RETURN count(CASE WHEN {is_told('node')} AND {is_statement('node')} THEN 1 END) AS found, "
        "count(node) AS looked_at } "
        f"RETURN '{kind}' AS kind, word AS key, found AS amount, null AS name, null AS aliases, "
        "null AS node_type, null AS unset, looked_at AS via "
    )


def _find_names(label: str) -> str:
    """The names that hold `sound`. Rows have in `via` the full-text query that found the name."""
    return (
        "CALL { WITH sound "
        f"CALL db.idx.fulltext.queryNodes('{label}', sound) YIELD node RETURN node LIMIT {NAMES_PER_WORD} }} "
        f"RETURN {_NAME}, sound AS via "
    )


def _look_up(label: str, kind: str) -> str:
    return (
        f"UNION ALL UNWIND $words AS word {_count_word(label, kind)}"
        f"UNION ALL MATCH (node:{label}) WHERE node.name_key IN $phrases "
        f"WITH node LIMIT {NAMES_PER_PHRASE} RETURN {_NAME}, null AS via "
        f"UNION ALL UNWIND $sounds AS sound {_find_names(label)}"
    )


def _look_up_alone(label: str, kind: str) -> str:
    words = each_alone("words", "word", _count_word(label, kind))
    return f"{words} UNION ALL {each_alone('sounds', 'sound', _find_names(label))}"


_NOW: Final = Query("lexicon_now", f"{_STATE} UNION ALL {_SIZES} {_look_up('ConsciousnessNode', 'word')}")
_THEN: Final = Query("lexicon_then", f"{_NOW.body} {_look_up('PastVersion', 'past_word')}")
_NOW_ALONE: Final = Query("lexicon_now_alone", _look_up_alone("ConsciousnessNode", "word"))
_THEN_ALONE: Final = Query(
    "lexicon_then_alone", f"{_NOW_ALONE.body} UNION ALL {_look_up_alone('PastVersion', 'past_word')}"
)
"""The same for words and names by which a search was not read to its end for another one (`each_alone`)."""


class NamedMemory(NamedTuple):
    """A memory that has a name; for a past record the name of that time. `made`: of a name in some text."""

    id: str
    name: str
    aliases: tuple[str, ...]
    node_type: str
    made: bool = False


class LexiconRows(NamedTuple):
    """The answer of a graph. `records` and `past_records`: how many hold each word, up to `DOCUMENT_CAP`. A memory
    may have many past records, and one memory may be named twice."""

    memories: int
    traces: int
    past_traces: int
    past_versions: int
    records: dict[str, int]
    past_records: dict[str, int]
    names: list[NamedMemory]
    passages: int = 0


_SIZE_NAMES: Final = ("memories", "traces", "past_traces", "past_versions", "passages")
_KEPT_BYTES: Final = 300


class _Answer(NamedTuple):
    """What one query answered. `phrases`: the names that are phrases; `sounds`: those that a query found. `cut`:
    the words and queries that found as much as their limit."""

    sizes: dict[str, int]
    counts: dict[str, dict[str, int]]
    phrases: list[NamedMemory]
    sounds: dict[str, list[NamedMemory]]
    state: GraphState | None
    cut: set[str]


async def look_up(
    graph: Graph,
    *,
    words: Sequence[str],
    phrases: Sequence[str],
    name_queries: Sequence[str],
    past: bool,
    reads: Reads = UNKEPT,
) -> LexiconRows:
    """Count the `words`, and find the memories whose comparable name is one of the `phrases` or that a full-text
    query of `name_queries` finds. `past`: past records are counted and searched too. `reads`: what is kept of the
    graph, for a lookup without its past."""
    if not past and reads.state is not None:
        kept = _KeptLookup(reads, words, phrases, name_queries)
        asked = kept.unknown()
        if any(asked.values()):
            kept.add(await _ask(graph, asked, past=False), asked)
        return kept.rows()
    asked = {"words": list(words), "phrases": list(phrases), "sounds": list(name_queries), "sized": ["sizes"]}
    return _rows_of(await _ask(graph, asked, past=past))


class _KeptLookup:
    """What is known already of a lookup, and what has to be asked."""

    def __init__(
        self, reads: Reads, words: Sequence[str], phrases: Sequence[str], name_queries: Sequence[str]
    ) -> None:
        self.reads = reads
        self.words, self.sounds = list(dict.fromkeys(words)), list(dict.fromkeys(name_queries))
        self.sizes: dict[str, int] | None = reads.get("sizes", about=WORDS)
        self.counts = {
            word: count for word in self.words if (count := reads.get(("word", word), about=WORDS)) is not None
        }
        self.found: dict[str, list[NamedMemory]] = {
            sound: names
            for sound in self.sounds
            if (names := reads.get(("sound", sound), about=WORDS)) is not None
        }
        self.phrases = tuple(phrase for phrase in phrases if reads.get(("no name", phrase), about=WORDS) is None)
        named = reads.get(("names", self.phrases), about=WORDS) if self.phrases else []
        self.named: list[NamedMemory] | None = named

    def unknown(self) -> dict[str, list[str]]:
        """The parameters of the query for what is not known."""
        return {
            "words": [word for word in self.words if word not in self.counts],
            "phrases": list(self.phrases) if self.named is None else [],
            "sounds": [sound for sound in self.sounds if sound not in self.found],
            "sized": ["sizes"] if self.sizes is None else [],
        }

    def add(self, answer: _Answer, asked: dict[str, list[str]]) -> None:
        """Take what was answered, and keep it if the graph was still in the same state."""
        self.sizes = self.sizes or answer.sizes
        counts = {word: answer.counts["word"].get(word, 0) for word in asked["words"]}
        found = {sound: answer.sounds.get(sound, []) for sound in asked["sounds"]}
        self.counts |= counts
        self.found |= found
        if self.named is None:
            self.named = answer.phrases
        if answer.state != self.reads.state:
            return
        self.reads.keep("sizes", self.sizes, _KEPT_BYTES, about=WORDS)
        for word, count in counts.items():
            self.reads.keep(("word", word), count, _KEPT_BYTES, about=WORDS)
        for sound, names in found.items():
            self.reads.keep(("sound", sound), names, _KEPT_BYTES * (1 + len(names)), about=WORDS)
        if asked["phrases"]:
            size = _KEPT_BYTES * (1 + len(self.named) + len(self.phrases))
            self.reads.keep(("names", self.phrases), self.named, size, about=WORDS)
        if asked["phrases"] and not self.named:
            for phrase in self.phrases:
                self.reads.keep(("no name", phrase), True, _KEPT_BYTES, about=WORDS)

    def rows(self) -> LexiconRows:
        """The whole answer."""
        by_sound = dict.fromkeys(name for sound in self.sounds for name in self.found[sound])
        counts = {word: self.counts[word] for word in self.words}
        return LexiconRows(
            **(self.sizes or {}), records=counts, past_records={}, names=[*(self.named or ()), *by_sound]
        )


def read_rows(rows: Sequence[Row]) -> LexiconRows:
    """The rows of a lexicon query as named values."""
    return _rows_of(_read_answer(rows))


def _rows_of(answer: _Answer) -> LexiconRows:
    names = dict.fromkeys(chain(answer.phrases, *answer.sounds.values()))
    records, past_records = answer.counts["word"], answer.counts["past_word"]
    return LexiconRows(**answer.sizes, records=records, past_records=past_records, names=list(names))


async def _ask(graph: Graph, asked: Mapping[str, list[str]], *, past: bool) -> _Answer:
    """What the query answers, with those searches repeated alone that came after one with more than its limit."""
    answer = _read_answer(await graph.read(_THEN if past else _NOW, **asked))
    words, sounds = _after(asked["words"], answer.cut), _after(asked["sounds"], answer.cut)
    alone = _THEN_ALONE if past else _NOW_ALONE
    parts = [
        {"words": words[first : first + ALONE], "sounds": sounds[first : first + ALONE]}
        for first in range(0, max(len(words), len(sounds)), ALONE)
    ]
    for sound in sounds:
        answer.sounds.pop(sound, None)
    for rows in await together(*(graph.read(alone, **part) for part in parts)):
        again = _read_answer(rows)
        answer.sounds.update(again.sounds)
        for kind, counts in again.counts.items():
            answer.counts[kind].update(counts)
    return answer


def _after(asked: list[str], cut: Collection[str]) -> list[str]:
    """Those that were asked after one of which the search was cut."""
    return asked[next((place + 1 for place, one in enumerate(asked) if one in cut), len(asked)) :]


def _read_answer(rows: Sequence[Row]) -> _Answer:
    sizes = dict.fromkeys(_SIZE_NAMES, 0)
    counts: dict[str, dict[str, int]] = {"word": {}, "past_word": {}}
    phrases: list[NamedMemory] = []
    sounds: dict[str, list[NamedMemory]] = {}
    seen: dict[str, int] = {}
    cut: set[str] = set()
    for row in rows:
        kind, key, amount, *_, via = row
        if kind == "size":
            sizes[key] = amount or 0
        elif kind == "seen":
            seen[key] = amount
        elif kind == "name":
            _, memory_id, _, name, aliases, node_type, unset, _ = row
            others = tuple(orjson.loads(aliases)) if aliases else ()
            named = NamedMemory(memory_id, name, others, node_type, made=is_made(unset))
            (phrases if via is None else sounds.setdefault(via, [])).append(named)
        else:
            counts[kind][key] = amount
            if via == DOCUMENT_CAP:
                cut.add(key)
    cut.update(sound for sound, names in sounds.items() if len(names) >= NAMES_PER_WORD)
    return _Answer(sizes, counts, phrases, sounds, GraphState.from_values(seen), cut)
