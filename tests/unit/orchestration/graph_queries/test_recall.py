"""A stream that is asked again begins at what it found, without what was erased, and counts words as it did."""

from __future__ import annotations

from typing import Any, cast

from orchestration.graph_queries.execution import QueryKind, QueryRequest, QueryResult
from orchestration.graph_queries.recall import (
    Hit,
    Recall,
    WordsThen,
    as_recalled,
    recalled_lexicon,
    take_hits,
    take_words,
)
from orchestration.question.lexicon import Entity, Lexicon
from schemas.memory import Level
from schemas.stream import QueryTiming
from schemas.temporal import Scope
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph, GraphTarget, Query
from substrate.store import passages, search
from substrate.store.search import HOP, ID, NODE_START, SCORE, VERSION

TARGET = GraphTarget(Level.N1, Graph(cast(Connection, None), "citizen_ada"), past=False)
SCOPE = Scope.at(9, 9)
A, B, C = Hit("a", 1), Hit("b", 2), Hit("c", 1)


def request(kind: QueryKind, query: Query, **values: Any) -> QueryRequest:
    return QueryRequest(kind, TARGET, query, values, wanted=5, wider=((query, values),))


def row(hop: int, hit: Hit) -> list[Any]:
    columns: list[Any] = [None] * (NODE_START + 40)
    columns[HOP], columns[SCORE], columns[ID], columns[VERSION] = hop, 0.25, hit.id, hit.version
    return columns


def result(asked: QueryRequest, *rows: list[Any]) -> QueryResult:
    return QueryResult(asked, list(rows), QueryTiming(query=asked.name, milliseconds=0.0))


def test_the_starts_of_a_search_are_taken_in_their_order_and_given_again() -> None:
    asked = request("vector", search.NOW.nearest, embedding=[1.0])
    hits = take_hits([result(asked, row(0, B), row(1, C), row(0, A))])
    assert hits == {"N1_vector": (B, A)}
    [again] = as_recalled([asked], Recall(SCOPE, hits))
    assert again.values["given"] == [["b", 2, None], ["a", 1, None]]
    assert (again.query, again.wanted, again.wider) == (search.GIVEN_NEAREST, 0, ())


def test_what_was_erased_is_not_sought_and_nothing_is_followed_in_its_place() -> None:
    asked = request("graph", search.NOW.reached, expanded=2, far=1)
    [again] = as_recalled([asked], Recall(SCOPE, {"N1_graph": (A, B, C)}, lost=frozenset((A,))))
    assert [name for name, _, _ in again.values["given"]] == ["b", "c"]
    assert (again.values["expanded"], again.values["far"]) == (1, 0)


def test_without_a_recall_nothing_changes_and_what_is_not_noted_is_asked_anew() -> None:
    asked = [request("graph", search.NOW.reached), request("vector", search.NOW.nearest)]
    assert as_recalled(asked, None) == asked
    assert as_recalled(asked, Recall(SCOPE)) == asked
    [again] = as_recalled([request("passages", passages.NOW.nearest, embedding=[1.0])], Recall(SCOPE))
    assert again.query == passages.THEN.scan


def test_words_are_counted_and_names_named_as_then() -> None:
    boat, lake = Entity("boat", "Boat"), Entity("lake", "Lake")
    then = take_words({Level.N1: Lexicon(memories=7, frequencies={"boat": 2}, entities=(boat,))})
    assert then == {"N1": WordsThen(7, {"boat": 2}, ("boat",))}
    now = recalled_lexicon(Lexicon(memories=9, frequencies={"boat": 5}, entities=(lake, boat)), then["N1"])
    assert (now.memories, now.frequencies, now.entities) == (7, {"boat": 2}, (boat,))
    assert recalled_lexicon(now, None) is now
