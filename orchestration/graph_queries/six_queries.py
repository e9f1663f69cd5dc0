"""The six queries of an intention as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

from orchestration.dependencies import FAR
from orchestration.graph_queries.execution import QueryRequest, QueryResult, count_starts
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import ASKING, WISHES, Question
from schemas.intention import RetrievalIntention
from schemas.temporal import Instant, Scope, TemporalMode
from substrate.cypher import search as cypher
from substrate.cypher.filters import Narrow, filter_values
from substrate.emotions import normal_emotion
from substrate.graphs.graph import GraphTarget
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
    target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach, narrow: Narrow | None = None
) -> QueryRequest:
    """Likeness in one graph: the index with over-fetch, or the exact scan where that is as cheap.

    Where each memory has many traces of its past, all but one or two of them are not of the moment. Of a question
    that is narrowed to a label all but its members are not wanted.
    """
    if narrow is not None and not target.past:
        return _narrow_query(target, lexicon, values, reach, narrow)
    past = target.past
    index, scan = (cypher.VECTOR_THEN, cypher.SCAN_THEN) if past else (cypher.VECTOR_NOW, cypher.SCAN_NOW)
    traces = lexicon.traces + (lexicon.past_traces if past else 0)
    base = {**values, **_shape(reach, reach.expanded_hits)}
    if traces <= EXACT_BELOW:
        return QueryRequest("vector", target, scan, base)
    crowded = min(WIDER, max(1, traces // max(1, lexicon.memories)))
    k = min(OVERFETCH * reach.pool * crowded, MAX_K)
    wider = ((index, {**base, "k": min(k * WIDER, MAX_K)}), (scan, base))
    wanted = reach.pool if k < traces else 0
    return QueryRequest("vector", target, index, {**base, "k": k}, wanted, wider)


def _narrow_query(
    target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach, narrow: Narrow
) -> QueryRequest:
    """Likeness among the present members of a label: all of them where they are few, or a small part of all."""
    base = {**values, **_shape(reach, reach.expanded_hits)}
    members = {**base, "label": narrow.label}
    share = max(1, lexicon.traces // max(1, narrow.members))
    k = OVERFETCH * reach.pool * share
    if narrow.members <= EXACT_WITHIN or k > MAX_K:
        return QueryRequest("vector", target, cypher.MEMBERS_NOW, members)
    wider = ((cypher.VECTOR_NOW, {**base, "k": min(k * WIDER, MAX_K)}), (cypher.MEMBERS_NOW, members))
    return QueryRequest("vector", target, cypher.VECTOR_NOW, {**base, "k": k}, reach.pool, wider)


def graph_query(target: GraphTarget, lexicon: Lexicon, values: Mapping[str, Any], reach: Reach) -> QueryRequest:
    """Two hops in one graph from the named memories and the full-text anchors."""
    query = cypher.GRAPH_THEN if target.past else cypher.GRAPH_NOW
    shared = {
        **values,
        **_shape(reach, reach.expanded_anchors),
        "entities": [entity.id for entity in lexicon.entities],
        "wishes": [WISHES] if reach.wishes else [],
        "askers": sorted(ASKING),
    }
    first, *wider = [{**shared, "words": words} for words in _anchors(lexicon, reach.no_anchors)]
    again = tuple((query, values) for values in wider)
    return QueryRequest("graph", target, query, first, reach.expanded_anchors, again)


def _shape(reach: Reach, expanded: int) -> dict[str, int]:
    return {
        "limit": reach.pool,
        "expanded": expanded,
        "first_hop": reach.first_hop,
        "far": reach.far,
        "second_starts": reach.second_starts,
        "second_hop": reach.second_hop,
    }


def unfollowed(results: Iterable[QueryResult]) -> list[str]:
    """Says from how many of the starts a second link was looked for; nothing where no link was found at all."""
    cut = []
    for result in results:
        far, starts = result.request.values.get("far"), count_starts(result.rows)
        if far is not None and far < starts < len(result.rows):
            cut.append(f"{far} of {starts} ({result.request.name})")
    return [f"what is two links away was looked for from the first starts only: {', '.join(cut)}"] if cut else []
