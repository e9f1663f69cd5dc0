"""Flux: a question in, direct hits and what shares their tags out; no vectors (001)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import orjson

from orchestration.association import scoring
from orchestration.association.scoring import Harvested, Hit, Sought
from orchestration.dependencies import Deps
from orchestration.entity_extraction import look_up_lexicons
from orchestration.graph_queries.execution import QueryRequest, QueryResult, run_all
from orchestration.graph_queries.existing_graphs import View, open_view
from orchestration.graph_queries.plural_pools import draw
from orchestration.question.lexicon import Lexicon, discriminative_terms
from orchestration.ranking.plurality import plurality_term
from orchestration.ranking.relevance import word_weights
from schemas.association import Associations, TagWalk
from schemas.errors import Unavailable
from schemas.intention import Plurality
from schemas.memory import Level, describe_unreadable
from schemas.temporal import Instant, Scope, to_instant
from substrate.cypher import association as cypher
from substrate.store.search import NODE_START
from substrate.text import query_words, stem

POOL: Final = 250
"""Candidates of each phase and level at most."""
CROWD: Final = 2000
"""A tag that more memories have leads everywhere: it is named, and not walked."""


class _Asked(NamedTuple):
    """How the question sees its graphs, and what each knows of the words."""

    view: View
    lexicons: Mapping[Level, Lexicon]


async def associate(request: TagWalk, deps: Deps, now: Instant) -> Associations:
    """What a question brings by words, and by the tags and links of what has the words.

    A level whose graph does not exist is left out; a query that failed is named in `degraded`. Raises
    Unavailable when no graph answered.
    """
    keywords = tuple(query_words(request.query_text))
    scope = Scope.resolve_datetimes(request.as_of_time, request.known_at, now)
    view = await open_view(request.citizen_id, request.query_levels, scope, deps, now=now)
    asked = _Asked(view, await look_up_lexicons(request.query_text, view))
    answers, drawn = await asyncio.gather(_anchors(asked), _drawn(request, asked))
    sought = _sought(keywords, asked.lexicons, answers)
    hits = [_hit(row[1:], one) for one in answers for row in one.rows]
    hits += [hit for hit in scoring.scored(_hits(drawn), _telling(asked, sought)) if hit.words]
    found = scoring.anchors(scoring.scored(hits, sought))
    harvested = await _harvest(asked, found, sought)
    walked = await _walk(asked, found, harvested)
    return _told((request, keywords, asked), (found, sought, harvested), (answers, walked, drawn))


async def _anchors(asked: _Asked) -> list[QueryResult]:
    """Phase 1: what holds the words that tell. Raises Unavailable when no graph answered."""
    queries = []
    for level, lexicon in asked.lexicons.items():
        telling = discriminative_terms(lexicon)
        if telling:
            target = asked.view.targets[level]
            query = cypher.ANCHORS_THEN if target.past else cypher.ANCHORS_NOW
            values = {**asked.view.scope.bounds(), "words": "|".join(telling), "pool": POOL}
            queries.append(QueryRequest("anchors", target, query, values))
    answers = await run_all(queries)
    if answers and all(answer.timing.failure for answer in answers):
        raise Unavailable("no graph was asked in time", remedy="Try again in a moment.")
    return answers


async def _drawn(request: TagWalk, asked: _Asked) -> list[QueryResult]:
    targets = [
        (target, discriminative_terms(asked.lexicons[level])) for level, target in asked.view.targets.items()
    ]
    return await draw(request, targets, asked.view.scope.bounds())


def _sought(keywords: Sequence[str], lexicons: Mapping[Level, Lexicon], answers: Sequence[QueryResult]) -> Sought:
    """What each graph knows of the words, and how long its memories are in the mean."""
    means = {answer.level: float(answer.rows[0][0] or 0.0) for answer in answers if answer.rows}
    weights = {level: word_weights(one.frequencies or {}, one.memories) for level, one in lexicons.items()}
    return Sought(
        stems=frozenset(map(stem, keywords)),
        weights=weights,
        means={level: means.get(level) or 1.0 for level in lexicons},
        sizes={level: one.memories for level, one in lexicons.items()},
    )


async def _harvest(asked: _Asked, found: Sequence[Hit], sought: Sought) -> Harvested:
    """Phase 2: the tags of the anchors, each with how many memories have it."""
    held, shares = scoring.carriers(found), scoring.relevances(found)
    names = {level: sorted(name for at, name in held if at is level) for level in asked.view.targets}
    asking = [level for level in asked.view.targets if names[level]]
    rows = await asyncio.gather(
        *(asked.view.targets[level].graph.read(cypher.TAG_SIZES, names=names[level]) for level in asking)
    )
    counts = {
        (level, row[0]): max(int(row[1]), len(held[level, row[0]]))
        for level, answer in zip(asking, rows, strict=True)
        for row in answer
        if row[0] is not None
    }
    bridges = scoring.harvest(held, counts, shares, sought)
    named = {(bridge.level, bridge.name): bridge for bridge in bridges}
    return Harvested(named, held, shares, scoring.by_id(shares))


async def _walk(asked: _Asked, found: Sequence[Hit], harvested: Harvested) -> list[QueryResult]:
    """Phase 3: what shares the tags, or is linked with the anchors."""
    queries = []
    for target in asked.view.targets.values():
        level = target.level
        here = [hit.memory.node_id for hit in found if hit.memory.level is level]
        if not here:
            continue
        walked = [
            bridge for bridge in harvested.bridges.values() if bridge.level is level and bridge.memories <= CROWD
        ]
        own: dict[str, Any] = {
            "from": list(dict.fromkeys(here[: scoring.SOURCES])),
            "held": list(dict.fromkeys(here)),
            "tags": [[bridge.name, bridge.weight] for bridge in walked],
            "quoted_tags": _quoted(bridge.name for bridge in walked if bridge.name[0] == "#"),
            "quoted_buckets": _quoted(bridge.name for bridge in walked if bridge.name[0] == "@"),
            "pool": POOL,
        }
        query = cypher.WALK_THEN if target.past else cypher.WALK_NOW
        values = {**asked.view.scope.bounds(), **own}
        queries.append(QueryRequest("walk", target, query, values))
    return await run_all(queries)


def _quoted(names: Any) -> list[str]:
    """How a record carries the tags: as strings of JSON."""
    return [orjson.dumps(name[1:]).decode()[1:-1] for name in names]


def _told(
    of: tuple[TagWalk, tuple[str, ...], _Asked],
    by: tuple[Sequence[Hit], Sought, Harvested],
    went: tuple[Sequence[QueryResult], Sequence[QueryResult], Sequence[QueryResult]],
) -> Associations:
    request, keywords, asked = of
    found, sought, harvested = by
    answers, walked, drawn = went
    met = {hit.key: hit for hit in (*_hits(drawn), *_walked(walked))}
    direct = [replace(hit, ways=met[hit.key].ways) if hit.key in met else hit for hit in found]
    known = {hit.key for hit in found}
    beside = scoring.scored([hit for key, hit in met.items() if key not in known], _telling(asked, sought))
    plural, moment = request.plurality, asked.view.scope.valid.start
    told = [
        [scoring.associated(hit, harvested, _added(hit, plural, moment)) for hit in part]
        for part in (direct, [hit for hit in beside if not hit.words])
    ]
    per_week = None if plural is None else plural.per_week
    limit = scoring.anchor_limit(request.max_chars)
    first = scoring.filled(scoring.ordered(told[0], per_week), limit)
    hidden = [one for one in told[1] if one.score > 0.0]
    second = scoring.filled(scoring.ordered(hidden, per_week), request.max_chars - limit)
    return Associations(
        citizen_id=request.citizen_id,
        keywords=keywords,
        anchors=first.shown,
        tags=tuple(harvested.bridges.values()),
        neighbours=second.shown,
        anchor_chars=first.chars,
        neighbour_chars=second.chars,
        omitted=first.omitted + second.omitted,
        notes=_notes(of, (first, second), harvested),
        degraded=(
            *(one.request.name for one in (*answers, *walked, *drawn) if one.timing.failure),
            *describe_unreadable(one.memory for one in (*first.shown, *second.shown)),
        ),
    )


def _hit(row: Sequence[Any], answer: QueryResult) -> Hit:
    return scoring.read_hit(row, answer.level, answer.request.known_to)


def _hits(drawn: Sequence[QueryResult]) -> list[Hit]:
    return [_hit([None, *row[NODE_START:]], one) for one in drawn for row in one.rows]


def _walked(walked: Sequence[QueryResult]) -> list[Hit]:
    return [
        replace(_hit(row[1:], answer), ways=scoring.read_ways(row[0])) for answer in walked for row in answer.rows
    ]


def _added(hit: Hit, plural: Plurality | None, moment: Instant) -> float:
    if plural is None:
        return 0.0
    return plurality_term(to_instant(hit.memory.valid_at), hit.memory.importance, plural, moment)


def _telling(asked: _Asked, sought: Sought) -> Sought:
    """The question with only those words that were searched: what holds a common one is not a hit by it."""
    weights = {
        level: word_weights(
            {word: (lexicon.frequencies or {})[word] for word in discriminative_terms(lexicon)},
            lexicon.memories,
        )
        for level, lexicon in asked.lexicons.items()
    }
    return sought._replace(weights=weights)


def _notes(
    of: tuple[TagWalk, tuple[str, ...], _Asked],
    parts: tuple[scoring.Filled, scoring.Filled],
    harvested: Harvested,
) -> tuple[str, ...]:
    request, keywords, asked = of
    notes = [*request.notes, *asked.view.notes]
    if not keywords:
        notes.append("the question has no word to look for: only stop words and signs")
    elif asked.view.targets and not harvested.shares:
        notes.append("no memory has a word of the question")
    if harvested.shares and not any(part.shown for part in parts):
        found = sum(part.omitted for part in parts)
        notes.append(f"none of the {found} memories found fits into {request.max_chars} characters; allow more")
    crowded = [bridge.name for bridge in harvested.bridges.values() if bridge.memories > CROWD]
    if crowded:
        notes.append(f"not walked, for more than {CROWD} memories have it: {', '.join(crowded[:8])}")
    for level, lexicon in asked.lexicons.items():
        notes += lexicon.failure_notes(level)
    return tuple(dict.fromkeys(notes))
