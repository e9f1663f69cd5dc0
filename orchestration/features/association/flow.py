"""Association (001): finds memories with words of a question, then follows their tags and links; no vectors."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.entity_extraction import look_up_lexicons
from orchestration.features.association import queries as store
from orchestration.features.association import scoring
from orchestration.features.association.queries import WeighedTag
from orchestration.features.association.scoring import (
    AssociationHit,
    FilledBudget,
    Harvest,
    QueryTerms,
    TagCounts,
    TagKey,
)
from orchestration.features.association.values import Associated, Associations, Bridge, TagWalk
from orchestration.graph_queries.execution import QueryKind, QueryRequest, QueryResult, check_answered, run_all
from orchestration.graph_queries.existing_graphs import View, open_view, read_filters
from orchestration.graph_queries.six_queries import draw
from orchestration.mind.energy import Decay
from orchestration.question.lexicon import Lexicon, discriminative_terms
from orchestration.ranking.candidates import Key
from orchestration.ranking.consciousness_score import plurality_term
from orchestration.ranking.relevance import word_weights
from schemas.base import json_bytes
from schemas.memory import GraphKey, describe_unreadable
from schemas.temporal import Instant, Scope, to_instant
from substrate.graphs.graph import GraphTarget, Query
from substrate.language.text import count_of, query_words, stem
from substrate.store.derived import count_carriers, read_made
from substrate.store.filters import filter_values
from substrate.store.reader import tag_members
from substrate.store.search import NODE_START

POOL: Final = 250
"""At most this many candidates in each phase and level."""
FILTERED_POOL: Final = 5000
"""The same for tags at another moment with filters, where the engine filters after it has cut."""
MAX_CARRIERS: Final = 2000
"""A tag of more memories than this is shown but not followed: it connects everything."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A question, the graphs to search, and for each level its lexicon and the words to search."""

    request: TagWalk
    keywords: tuple[str, ...]
    view: View
    lexicons: Mapping[GraphKey, Lexicon]
    searched: Mapping[GraphKey, Sequence[str]]
    filter_notes: tuple[str, ...]

    def values(self) -> dict[str, Any]:
        """The parameters that all queries share: the time scope and the filters."""
        return {**self.view.scope.bounds(), **filter_values(self.request.filters)}


async def walk(request: TagWalk, deps: Deps, now: Instant) -> bytes:
    """Memories that match the words of a question, and others that tags and links lead to; no vectors (001)."""
    return json_bytes(await associate(request, deps, now))


async def associate(request: TagWalk, deps: Deps, now: Instant) -> Associations:
    """The memories with words of a question (anchors), and memories that share tags or links with them.

    A level without a graph is left out; a query that failed is named in `degraded`. Raises Unavailable when no
    graph answered.
    """
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    view = await open_view(request.citizen_id, request.graphs, scope, deps, now=now)
    lexicons, filtered = await asyncio.gather(
        look_up_lexicons(request.query_text, view), read_filters(request.filters, view)
    )
    searched = {level: discriminative_terms(lexicon) for level, lexicon in lexicons.items()}
    keywords = tuple(query_words(request.query_text))
    question = _Question(request, keywords, view, lexicons, searched, filtered.notes)
    pools = [(target, searched[level]) for level, target in view.targets.items()]
    drawing = draw(request, pools, scope.bounds(), request.filters)
    anchor_results, pool_results = await asyncio.gather(_search_words(question), drawing)
    query = _query_terms(question, anchor_results)
    hits: list[AssociationHit] = []
    for result in anchor_results:
        hits += map(AssociationHit.from_row, store.read_anchors(result.rows, result.key, result.request.known_to))
    of_searched = _with_searched_words(query, question)
    drawn = _pool_hits(pool_results)
    hits += [hit for hit in scoring.score_words(drawn, of_searched) if hit.words]
    harvested = await _harvest(question, scoring.rank_anchors(scoring.score_words(hits, query)))
    walk_results = await _walk(question, harvested)
    reached = {hit.key: hit for hit in (*drawn, *_walk_hits(walk_results, harvested))}
    anchors, neighbours = found = _choose(question, of_searched, harvested, reached)
    results = (*anchor_results, *walk_results, *pool_results)
    failed = [result.request.name for result in results if result.timing.failure]
    shown = [one.memory for one in (*anchors.memories, *neighbours.memories)]
    decay = Decay(deps.half_lives, scope.valid.start)
    return Associations(
        citizen_id=request.citizen_id,
        keywords=keywords,
        anchors=_with_decay(anchors.memories, decay),
        tags=tuple(harvested.bridges.values()),
        neighbours=_with_decay(neighbours.memories, decay),
        anchor_chars=anchors.chars,
        neighbour_chars=neighbours.chars,
        omitted=anchors.omitted + neighbours.omitted,
        notes=_notes(question, harvested, found),
        degraded=(*failed, *describe_unreadable(shown)),
    )


async def _search_words(question: _Question) -> list[QueryResult]:
    """Phase 1: search memories with the words. Raises Unavailable when no graph answered."""
    requests = []
    for level, words in question.searched.items():
        if words:
            target = question.view.targets[level]
            query = target.choose(store.ANCHORS)
            values = {**question.values(), "words": "|".join(words), "pool": POOL}
            requests.append(_request("anchors", target, query, values))
    results = await run_all(requests)
    check_answered(results)
    return results


def _request(kind: QueryKind, target: GraphTarget, query: Query, values: Mapping[str, Any]) -> QueryRequest:
    return QueryRequest(kind, target, query, values, reading=partial(store.read_rows, query))


def _query_terms(question: _Question, anchor_results: Sequence[QueryResult]) -> QueryTerms:
    lexicons = question.lexicons
    mean_terms = {result.key: store.read_mean_terms(result.rows) for result in anchor_results}
    return QueryTerms(
        stems=frozenset(map(stem, question.keywords)),
        weights={
            level: word_weights(lexicon.frequencies or {}, lexicon.memories) for level, lexicon in lexicons.items()
        },
        mean_terms={level: mean_terms.get(level) or 1.0 for level in lexicons},
        memory_counts={level: lexicon.memories for level, lexicon in lexicons.items()},
    )


def _with_searched_words(query: QueryTerms, question: _Question) -> QueryTerms:
    """The question reduced to the searched words, so that a memory with only a common word is no hit."""
    weights = {}
    for level, lexicon in question.lexicons.items():
        frequencies = lexicon.frequencies or {}
        searched = {word: frequencies[word] for word in question.searched[level]}
        weights[level] = word_weights(searched, lexicon.memories)
    return query._replace(weights=weights)


async def _harvest(question: _Question, anchors: Sequence[AssociationHit]) -> Harvest:
    """Phase 2: read the made tags of the anchors, and count the memories of each of their tags."""
    targets = question.view.targets.values()
    made: dict[Key, tuple[str, ...]] = {}
    shown: dict[TagKey, str] = {}
    for names, forms in await asyncio.gather(*(_read_made(target, anchors) for target in targets)):
        made |= names
        shown |= forms
    tagged = [replace(hit, made=made.get(hit.key, ())) for hit in anchors]
    carriers = scoring.find_carriers(tagged)
    counts = await asyncio.gather(*(_count_tags(target, carriers) for target in targets))
    memory_counts = {level: lexicon.memories for level, lexicon in question.lexicons.items()}
    return scoring.harvest(tagged, carriers, TagCounts(dict(ChainMap(*counts)), memory_counts), shown)


async def _read_made(
    target: GraphTarget, anchors: Sequence[AssociationHit]
) -> tuple[dict[Key, tuple[str, ...]], dict[TagKey, str]]:
    """The made tags of the anchors of a level, and how a reader sees them.

    They have no past: the past is walked over given tags alone.
    """
    hits = [] if target.past else [hit for hit in anchors if hit.memory.graph_key == target.key]
    tags = await read_made(target.graph, [hit.memory.node_id for hit in hits]) if hits else {}
    names: dict[str, tuple[str, ...]] = {}
    for memory_id, some in tags.items():
        names[memory_id] = tuple(tag.name for tag in some)
    shown = {TagKey(target.key, tag.name): tag.shown for some in tags.values() for tag in some}
    return {hit.key: names.get(hit.memory.node_id, ()) for hit in hits}, shown


async def _count_tags(target: GraphTarget, tags: Iterable[TagKey]) -> dict[TagKey, int]:
    names = sorted(tag.name for tag in tags if tag.graph == target.key)
    count = tag_members if target.past else count_carriers
    counts = await count(target.graph, names)
    return {TagKey(target.key, name): count for name, count in counts.items()}


async def _walk(question: _Question, harvested: Harvest) -> list[QueryResult]:
    """Phase 3: search memories that share tags with the anchors or are linked to them."""
    requests = []
    for graph, target in question.view.targets.items():
        hit_ids = [hit.memory.node_id for hit in harvested.anchors if hit.memory.graph_key == graph]
        if hit_ids:
            tags = _followed(graph, harvested)
            query = target.choose(store.WALK)
            pool = FILTERED_POOL if target.past and not question.values()["unfiltered"] else POOL
            own = store.walk_values(hit_ids, tags, starts=scoring.WALK_STARTS, pool=pool)
            requests.append(_request("walk", target, query, {**question.values(), **own}))
    return await run_all(requests)


def _followed(graph: GraphKey, harvested: Harvest) -> list[WeighedTag]:
    return [
        WeighedTag(tag.name, bridge.weight)
        for tag, bridge in harvested.bridges.items()
        if tag.graph == graph and not _is_crowded(bridge)
    ]


class _Filled(NamedTuple):
    """What fits into the characters asked for: the direct hits, and what is reached from them."""

    anchors: FilledBudget
    neighbours: FilledBudget


def _choose(
    question: _Question, of_searched: QueryTerms, harvested: Harvest, reached: Mapping[Key, AssociationHit]
) -> _Filled:
    request, moment = question.request, question.view.scope.valid.start
    plurality = request.plurality
    per_week = None if plurality is None else plurality.per_week

    def associated(hit: AssociationHit) -> Associated:
        if plurality is None:
            return scoring.associate_hit(hit, harvested)
        memory = hit.memory
        added = plurality_term(to_instant(memory.valid_at), memory.importance, plurality, moment)
        return scoring.associate_hit(hit, harvested, added)

    direct = [
        replace(hit, paths=reached[hit.key].paths) if hit.key in reached else hit for hit in harvested.anchors
    ]
    chars = request.max_chars * scoring.ANCHOR_PERCENT // 100
    anchors = scoring.fill_budget(scoring.rank(map(associated, direct), per_week), chars)
    others = [hit for key, hit in reached.items() if key not in harvested.relevance]
    candidates = [associated(hit) for hit in scoring.score_words(others, of_searched) if not hit.words]
    ranked = scoring.rank((neighbour for neighbour in candidates if neighbour.score > 0.0), per_week)
    return _Filled(anchors, scoring.fill_budget(ranked, request.max_chars - chars))


def _with_decay(shown: Sequence[Associated], decay: Decay) -> tuple[Associated, ...]:
    """The memories as they are shown, each with its score and how its energy faded."""
    memories = decay.show([one.memory.model_copy(update={"relevance_score": one.score}) for one in shown])
    each = zip(shown, memories, strict=True)
    return tuple(one.model_copy(update={"memory": memory}) for one, memory in each)


def _pool_hits(results: Iterable[QueryResult]) -> list[AssociationHit]:
    hits: list[AssociationHit] = []
    for result in results:
        rows = [row[NODE_START:] for row in result.rows]  # each in the order of `NODE_COLUMNS`
        hits += map(AssociationHit.from_row, store.read_memories(rows, result.key, result.request.known_to))
    return hits


def _walk_hits(results: Iterable[QueryResult], harvested: Harvest) -> list[AssociationHit]:
    hits: list[AssociationHit] = []
    for result in results:
        followed = [tag.name for tag in _followed(result.key, harvested)]
        walked = store.read_walk(result.rows, result.key, result.request.known_to)
        hits += (AssociationHit.from_row(measured, followed) for measured in walked)
    return hits


def _notes(question: _Question, harvested: Harvest, found: _Filled) -> tuple[str, ...]:
    request, (anchors, neighbours) = question.request, found
    notes = [*request.notes, *question.view.notes, *question.filter_notes]
    if not question.keywords:
        notes.append("the question has no word to search for: only stop words and punctuation")
    elif question.view.targets and not harvested.anchors:
        notes.append("no memory has a word of the question")
    if harvested.anchors and not (anchors.memories or neighbours.memories):
        omitted = anchors.omitted + neighbours.omitted
        notes.append(
            f"none of {count_of(omitted, 'memory')} fits into {request.max_chars} characters; raise max_chars"
        )
    crowded = [bridge.name for bridge in harvested.bridges.values() if _is_crowded(bridge)]
    if crowded:
        notes.append(
            f"tags not followed, because more than {MAX_CARRIERS} memories have each: {', '.join(crowded[:8])}"
        )
    for level, lexicon in question.lexicons.items():
        notes += lexicon.failure_notes(level)
    return tuple(dict.fromkeys(notes))


def _is_crowded(bridge: Bridge) -> bool:
    return bridge.memories > MAX_CARRIERS
