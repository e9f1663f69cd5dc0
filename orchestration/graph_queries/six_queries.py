"""The six queries as values, and running them at once, each within its deadline.

A query that fails or is late costs its level that part, never the answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

from orchestration.dependencies import FAR
from orchestration.graph_queries.existing_graphs import Where
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import ASKING, WISHES, Question
from schemas.errors import SubstrateError
from schemas.intention import RetrievalIntention
from schemas.memory import Level
from schemas.stream import QueryTiming
from schemas.temporal import Instant, Scope, TemporalMode
from substrate.connection.errors import GraphMissing
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection, Row
from substrate.cypher import search as cypher
from substrate.cypher.filters import Narrow, filter_values
from substrate.cypher.query import Query
from substrate.emotions import normal_emotion
from substrate.text import name_key

EXACT_BELOW = 256
"""Graphs with fewer traces are scanned: as fast as the index there, and nothing can be starved."""
EXACT_WITHIN = 2000
"""So few memories with a label are scanned, however large the graph."""
OVERFETCH = 3
"""The index takes its k nearest before time and felt filters: ask for this many times what is wanted."""
WIDER = 8
"""How much wider a starved search is asked again before the exact scan."""
MAX_K = 4000
GRACE_SECONDS = 0.25
FEW_COMMON_WORDS = 3
COMMON_WORD_SHARE = 0.2
"""A word that this share of the memories holds says little; it is not searched while rarer words are there."""


BROAD_POOL, BROAD_EXPANDED = 160, 60
"""For a broad question: its answer is not among the nearest alone."""

MIN_POOL = 40
"""Candidates of each query at least: ordering needs more to choose from than a short answer shows."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a stream looks around (003, decision 3: depth 2).

    `pool` candidates per query; of the first hits of likeness and of the first anchors the strongest
    `first_hop` links each; of the first `far` of both a second hop. On the development conversations fewer cost
    recall, and more brought little for their time. `wishes`: standing wishes of the asker are looked for too.
    `no_anchors` are words that are searched only where there are no others: a date stands in every session.
    """

    pool: int
    expanded_hits: int = 16
    expanded_anchors: int = 10
    first_hop: int = 4
    far: int = FAR
    second_starts: int = 3
    second_hop: int = 3
    wishes: bool = field(default=False, kw_only=True)
    no_anchors: frozenset[str] = field(default=frozenset(), kw_only=True)


WORDS_ALONE: Final = 120
"""So many anchors are sought and followed where no likeness finds what has none of the words."""


def reach(question: Question, pool: int, *, by_words_alone: bool = False) -> Reach:
    """How far to look for the answer of a question, at least `pool` candidates per query."""
    if question.broad:
        found = Reach(max(pool, BROAD_POOL), BROAD_EXPANDED, BROAD_EXPANDED, no_anchors=question.time_words)
    else:
        found = Reach(pool, wishes=question.wishes, no_anchors=question.time_words)
    if not by_words_alone:
        return found
    return replace(found, pool=max(found.pool, WORDS_ALONE), expanded_anchors=WORDS_ALONE)


@dataclass(frozen=True, slots=True)
class Asked:
    """One of the six: what to send where. `wider` are the queries to fall back on when it comes back starved."""

    name: str
    level: Level
    graph: str
    query: Query
    values: Mapping[str, Any]
    wanted: int = 0
    wider: tuple[tuple[Query, Mapping[str, Any]], ...] = ()

    @property
    def known_to(self) -> Instant:
        """Where the known side of the scope ends."""
        return int(self.values["known_to"])


@dataclass(frozen=True, slots=True)
class Answered:
    """The rows of one of the six, and how it went."""

    asked: Asked
    rows: list[Row]
    timing: QueryTiming


def scope_of(intention: RetrievalIntention, instants: Mapping[str, Instant | None], now: Instant) -> Scope:
    """What the question may see on both axes (DESIGN §4)."""
    as_of, known = instants.get("as_of_time"), instants.get("known_at")
    if intention.temporal_mode is TemporalMode.CURRENT:
        return Scope.current(now)
    if intention.temporal_mode is TemporalMode.POINT_IN_TIME:
        return Scope.asked(as_of, known, now)
    return Scope.history(instants.get("time_range_start"), instants.get("time_range_end"))


def shared_values(intention: RetrievalIntention, scope: Scope) -> dict[str, Any]:
    """Time scope and filters, the same for all six."""
    required = sorted({normal_emotion(name) for name in intention.required_emotions or ()})
    return {
        **scope.bounds(),
        "min_energy": intention.min_energy or 0.0,
        "min_confidence": intention.min_confidence or 0.0,
        "required_emotions": required,
        **filter_values(intention.filters),
    }


def telling_words(lexicon: Lexicon) -> list[str]:
    """The query's words that some memory holds; of common ones a few, and only when none is rarer."""
    frequencies = lexicon.frequencies or {}
    held = [word for word, count in frequencies.items() if count > 0]
    telling = [word for word in held if not _common(word, lexicon)]
    return telling or sorted(held, key=lambda word: frequencies[word])[:FEW_COMMON_WORDS]


def _common(word: str, lexicon: Lexicon) -> bool:
    limit = min(cypher.DOCUMENT_CAP - 1, max(20.0, COMMON_WORD_SHARE * lexicon.memories))
    return (lexicon.frequencies or {})[word] > limit


def _anchors(lexicon: Lexicon, others: frozenset[str]) -> list[str]:
    """What the full-text index is asked for, in turn as long as too little is found.

    The telling words without `others` and the names of those who speak, unless nothing would be left. Of common
    words first for memories that hold two: each is in thousands, and those with more of them are the best anyway.
    """
    words = telling_words(lexicon)
    names = {word for name in lexicon.speakers() for word in name_key(name).split()}
    words = [word for word in words if word not in names | others] or words
    pairs = combinations(words, 2) if all(_common(word, lexicon) for word in words) else ()
    both = "|".join(f"({one} {other})" for one, other in pairs)
    return [both, "|".join(words)] if both else ["|".join(words)]


def vector_query(
    where: Where, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach, narrow: Narrow | None = None
) -> Asked:
    """Likeness in one graph: the index with over-fetch, or the exact scan where that is as cheap.

    Where each memory has many traces of its past, all but one or two of them are not of the moment. Of a question
    that is narrowed to a label all but its members are not wanted.
    """
    if narrow is not None and not where.past:
        return _narrow_query(where, lexicon, values, reach, narrow)
    level, graph, past = where
    index, scan = (cypher.VECTOR_THEN, cypher.SCAN_THEN) if past else (cypher.VECTOR_NOW, cypher.SCAN_NOW)
    traces = lexicon.traces + (lexicon.past_traces if past else 0)
    base = {**values, **_shape(reach, reach.expanded_hits)}
    name = f"{level}_vector"
    if traces <= EXACT_BELOW:
        return Asked(name, level, graph, scan, base)
    crowded = min(WIDER, max(1, traces // max(1, lexicon.memories)))
    k = min(OVERFETCH * reach.pool * crowded, MAX_K)
    wider = ((index, {**base, "k": min(k * WIDER, MAX_K)}), (scan, base))
    wanted = reach.pool if k < traces else 0
    return Asked(name, level, graph, index, {**base, "k": k}, wanted, wider)


def _narrow_query(
    where: Where, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach, narrow: Narrow
) -> Asked:
    """Likeness among the present members of a label: all of them where they are few, or a small part of all."""
    level, graph, _ = where
    name = f"{level}_vector"
    base = {**values, **_shape(reach, reach.expanded_hits)}
    members = {**base, "label": narrow.label}
    share = max(1, lexicon.traces // max(1, narrow.members))
    k = OVERFETCH * reach.pool * share
    if narrow.members <= EXACT_WITHIN or k > MAX_K:
        return Asked(name, level, graph, cypher.MEMBERS_NOW, members)
    wider = ((cypher.VECTOR_NOW, {**base, "k": min(k * WIDER, MAX_K)}), (cypher.MEMBERS_NOW, members))
    return Asked(name, level, graph, cypher.VECTOR_NOW, {**base, "k": k}, reach.pool, wider)


def graph_query(where: Where, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach) -> Asked:
    """Two hops in one graph from the named memories and the full-text anchors."""
    level, graph, past = where
    query = cypher.GRAPH_THEN if past else cypher.GRAPH_NOW
    shared = {
        **values,
        **_shape(reach, reach.expanded_anchors),
        "entities": [entity.id for entity in lexicon.entities],
        "wishes": [WISHES] if reach.wishes else [],
        "askers": sorted(ASKING),
    }
    first, *wider = [{**shared, "words": words} for words in _anchors(lexicon, reach.no_anchors)]
    again = tuple((query, values) for values in wider)
    return Asked(f"{level}_graph", level, graph, query, first, reach.expanded_anchors, again)


def _shape(reach: Reach, expanded: int) -> dict[str, int]:
    return {
        "limit": reach.pool,
        "expanded": expanded,
        "first_hop": reach.first_hop,
        "far": reach.far,
        "second_starts": reach.second_starts,
        "second_hop": reach.second_hop,
    }


async def run(asked: Sequence[Asked], connection: Connection) -> list[Answered]:
    """All queries at once, each when it is its turn; each comes back, with its rows or with its failure."""
    return list(await asyncio.gather(*(_answer(one, connection) for one in asked)))


async def _answer(asked: Asked, connection: Connection) -> Answered:
    """Its deadline, and its time, begin with its turn."""
    return await connection.reads.run(lambda: _in_time(asked, connection))


async def _in_time(asked: Asked, connection: Connection) -> Answered:
    begun = time.perf_counter()
    deadline = connection.timeout_ms / 1000 + GRACE_SECONDS
    rows: list[Row] = []
    again, failure = False, None
    try:
        async with asyncio.timeout(deadline):
            rows, again = await _ask(asked, connection)
    except GraphMissing:
        pass
    except TimeoutError:
        failure = f"no answer within {deadline:.2f} s"
    except SubstrateError as error:
        failure = error.detail
    milliseconds = round((time.perf_counter() - begun) * 1000, 3)
    timing = QueryTiming(
        query=asked.name, milliseconds=milliseconds, rows=len(rows), asked_again=again, failure=failure
    )
    return Answered(asked, rows, timing)


def unfollowed(answers: Iterable[Answered]) -> list[str]:
    """Says from how many of the starts a second link was looked for; nothing where no link was found at all."""
    cut = []
    for answer in answers:
        far, starts = answer.asked.values.get("far"), _starts(answer.rows)
        if far is not None and far < starts < len(answer.rows):
            cut.append(f"{far} of {starts} ({answer.asked.name})")
    return [f"what is two links away was looked for from the first starts only: {', '.join(cut)}"] if cut else []


def header(asked: Asked) -> str:
    """The parameter header of a query."""
    return parameters(asked.values)


async def _ask(asked: Asked, connection: Connection) -> tuple[list[Row], bool]:
    rows = await connection.read(asked.graph, asked.query, header(asked))
    again = False
    for query, values in asked.wider:
        if _starts(rows) >= asked.wanted:
            break
        again = True
        rows = await connection.read(asked.graph, query, parameters(values))
    return rows, again


def _starts(rows: Sequence[Row]) -> int:
    return sum(row[0] == 0 for row in rows)
