"""What the searches of a stream found and counted, so that it can be asked again as it was.

What an index finds, and in which order, depends on all that is stored: on memories that came later, and on
those that were erased. So a stream that is asked again begins at the memories that were found then, follows the
links that held then, and counts words as they were counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from orchestration.graph_queries.execution import QueryRequest, QueryResult
from orchestration.question.lexicon import Entity, Lexicon
from orchestration.question.time_expressions import NamedPeriod
from schemas.memory import GraphKey
from schemas.mind.state import CitizenState
from schemas.temporal import Scope
from substrate.graphs.graph import Query, Search
from substrate.store import passages, search, waking
from substrate.store.search import HOP, FoundRow

_GIVEN: Final[Mapping[str, Query]] = {
    "vector": search.GIVEN_NEAREST,
    "scan": search.GIVEN_NEAREST,
    "members": search.GIVEN_NEAREST,
    "graph": search.GIVEN_REACHED,
    "instructed": search.GIVEN_REACHED,
    "pools": search.GIVEN_ALONE,
    "told_lately": search.GIVEN_ALONE,
    "felt_near": waking.GIVEN_FELT,
    "felt_new": waking.GIVEN_FELT,
    "unresolved": waking.GIVEN_FELT,
    "resolved_by_goal": waking.GIVEN_RESOLVED,
}
"""By the name of a search that goes by an index, or by what is newest: how its hits are read again."""
_SCORED: Final = frozenset(("unresolved", "resolved_by_goal"))
"""Searches whose scores depend on the index too."""


class RecalledHit(NamedTuple):
    """A memory that a search found, by its version. `score`: where it cannot be computed again."""

    id: str
    version: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class WordsThen:
    """What a graph knew of a question: its memories, how many held each word, the ids of those that it named."""

    memories: int
    frequencies: Mapping[str, int]
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recall:
    """What a stream found and counted. `hits`: by the name of the query, in their order. `periods`: those of the
    event that the question names. `state`: that from which it woke. `scope`: what is asked again sees. `lost`:
    hits that were erased since; none is followed in their place. `order`: what was shown, best first, where
    something was erased since: its weight on the others cannot be computed again, so they keep this order."""

    scope: Scope
    hits: Mapping[str, tuple[RecalledHit, ...]] = field(default_factory=dict)
    words: Mapping[GraphKey, WordsThen] = field(default_factory=dict)
    periods: tuple[NamedPeriod, ...] = ()
    state: CitizenState | None = None
    lost: frozenset[RecalledHit] = frozenset()
    order: tuple[tuple[GraphKey, str, int], ...] = ()


def take_hits(results: Iterable[QueryResult]) -> dict[str, tuple[RecalledHit, ...]]:
    """What the searches found that another time might find something else."""
    found = {}
    for result in results:
        search_name = _stem(result.request.query)
        if search_name in _GIVEN and not result.request.kind.startswith("event"):
            rows = [FoundRow.of(row) for row in result.rows if row[HOP] == 0]
            scored = search_name in _SCORED
            found[result.request.name] = tuple(
                [RecalledHit(row.id, row.version, float(row.score) if scored else None) for row in rows]
            )
    return found


def take_words(lexicons: Mapping[GraphKey, Lexicon]) -> dict[GraphKey, WordsThen]:
    """What the graphs knew of a question."""
    taken = {}
    for key, each in lexicons.items():
        named = tuple(entity.id for entity in each.entities)
        taken[str(key)] = WordsThen(each.memories, each.frequencies or {}, named)
    return taken


def _stem(query: Query) -> str:
    return query.name.removesuffix("_now").removesuffix("_then").removesuffix("_fitting")


def as_recalled(requests: Sequence[QueryRequest], recall: Recall | None) -> list[QueryRequest]:
    """The requests; with `recall` each search begins at what it found then, and compares all passages."""
    return list(requests) if recall is None else [_again(request, recall) for request in requests]


def _again(request: QueryRequest, recall: Recall) -> QueryRequest:
    if request.kind == "passages" and "embedding" in request.values:
        values = {**_without_search(request.values), "k": MOST_PASSAGES}
        return replace(request, query=passages.THEN.scan, values=values, wanted=0, wider=(), reading=None)
    hits = recall.hits.get(request.name)
    if hits is None:
        return request
    standing = [hit for hit in hits if hit not in recall.lost]
    reached: dict[str, int] = {}
    for name in ("expanded", "far"):
        if isinstance(most := request.values.get(name), int):
            reached[name] = sum(hit not in recall.lost for hit in hits[:most])
    given = {**_without_search(request.values), **reached, "given": list(map(list, standing))}
    return replace(request, query=_GIVEN[_stem(request.query)], values=given, wanted=0, wider=(), reading=None)


def _without_search(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with the embedding itself in place of a search for what is near to it."""
    near = values.get("near")
    others = {name: value for name, value in values.items() if name != "near"}
    return {**others, "embedding": list(near.embedding)} if isinstance(near, Search) else others


MOST_PASSAGES: Final = 20_000


def recalled_lexicon(lexicon: Lexicon, then: WordsThen | None) -> Lexicon:
    """The lexicon with what was counted and named then."""
    if then is None:
        return lexicon
    known = {entity.id: entity for entity in lexicon.all_named()}
    entities = tuple(known.get(name, Entity(name, name)) for name in then.entities)
    return replace(lexicon, memories=then.memories, frequencies=then.frequencies, entities=entities, left_out=())
