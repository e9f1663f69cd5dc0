"""Which queries a question sends, and how far they look."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestration.graph_queries import six_queries
from orchestration.graph_queries.existing_graphs import View
from orchestration.graph_queries.filters import Fewest
from orchestration.graph_queries.six_queries import Reach
from orchestration.question.lexicon import Entity, Lexicon
from orchestration.question.reading import Question, Request
from orchestration.question.time_expressions import NamedPeriod
from schemas.intention import RetrievalIntention
from schemas.memory import GraphKey, Level
from schemas.temporal import Period, Scope
from substrate.connection.pool import Connection
from substrate.connection.record_cache import RecordCache
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store import search

NOW = 1_700_000_000_000_000
LARGE = Lexicon(memories=5_000, traces=5_000, past_traces=20_000, frequencies={"bridge": 3})
SMALL = Lexicon(memories=20, traces=20, past_traces=20, frequencies={"bridge": 3})


def target(level: Level = Level.N1, *, past: bool = False) -> GraphTarget:
    connection = cast(Connection, SimpleNamespace(records=RecordCache()))
    return GraphTarget(level, Graph(connection, f"graph_{level}"), past)


def intention(**fields: Any) -> RetrievalIntention:
    return RetrievalIntention.model_validate({"query_text": "the bridge", "citizen_id": "ada", **fields})


def vector_query(lexicon: Lexicon, *, past: bool = False, fewest: Fewest | None = None) -> Any:
    values = {"unfiltered": fewest is None, "embedding": [1.0]}
    return six_queries.build_vector_query(target(past=past), lexicon, values, Reach(pool=40), fewest=fewest)


def test_each_graph_gets_two_queries_one_without_an_embedding() -> None:
    targets: dict[GraphKey, GraphTarget] = {level: target(level) for level in (Level.N1, Level.N2)}
    view = View(Scope.current(NOW), targets, NOW)
    lexicons: dict[GraphKey, Lexicon] = dict.fromkeys(targets, SMALL)

    def names(embedding: list[float]) -> list[str]:
        requests = six_queries.build_queries(
            intention(), view, lexicons, Reach(40), embedding=embedding, fewest={}
        )
        return [request.name for request in requests]

    assert names([1.0]) == ["N1_vector", "N1_graph", "N2_vector", "N2_graph"]
    assert names([]) == ["N1_graph", "N2_graph"]


def test_a_small_graph_is_scanned_and_a_large_one_asks_the_index_with_over_fetch() -> None:
    assert vector_query(SMALL).query is search.NOW.scan
    large = vector_query(LARGE)
    assert large.query is search.NOW.nearest
    assert large.values["near"].k == 3 * 40
    assert [query for query, _ in large.wider] == [search.NOW.nearest, search.NOW.scan]


def test_k_grows_with_the_mean_number_of_past_traces() -> None:
    past = vector_query(LARGE, past=True)
    assert past.query is search.THEN.nearest
    assert past.values["near"].k == 3 * 40 * 5


def test_few_members_of_a_label_are_scanned_and_many_are_found_by_the_index() -> None:
    assert vector_query(LARGE, fewest=Fewest(100, "#sea")).query is search.MEMBERS_NOW
    many = vector_query(LARGE, fewest=Fewest(2_500, "#sea"))
    assert (many.query, many.values["near"].k) == (search.NOW.nearest, 3 * 40 * 2)
    assert many.wider[-1] == (search.MEMBERS_NOW, {**many.wider[-1][1], "label": "#sea"})


@pytest.mark.parametrize("past", [False, True])
def test_where_few_memories_can_pass_the_filters_they_are_compared_one_by_one(past: bool) -> None:
    texts = search.THEN if past else search.NOW
    assert vector_query(LARGE, past=past, fewest=Fewest(2_000)).query is texts.scan
    many = vector_query(LARGE, past=past, fewest=Fewest(4_000))
    assert (many.query, many.wanted) == (texts.nearest, 40)
    assert [query for query, _ in many.wider] == [texts.nearest, texts.scan]
    crowd = replace(LARGE, memories=500_000, traces=500_000, past_traces=0)
    assert vector_query(crowd, past=past, fewest=Fewest(4_000)).query is texts.scan


@pytest.mark.parametrize(
    ("lexicon", "reach", "words"),
    [
        (Lexicon(100, frequencies={"bridge": 3, "ferry": 2, "gone": 0}), Reach(40), ["bridge|ferry"]),
        (Lexicon(100, frequencies={"day": 90, "time": 80}), Reach(40), ["(time day)", "time|day"]),
        (
            Lexicon(100, frequencies={"ada": 3, "ferry": 2}, entities=(Entity("person:ada", "Ada", speaks=True),)),
            Reach(40),
            ["ferry"],
        ),
        (Lexicon(100, frequencies={}), Reach(40), [""]),
    ],
)
def test_the_words_that_are_searched(lexicon: Lexicon, reach: Reach, words: list[str]) -> None:
    request = six_queries.build_graph_query(target(), lexicon, {}, reach)
    sent = [request.values, *(values for _, values in request.wider)]
    assert [values["words"] for values in sent] == words


@pytest.mark.parametrize("past", [False, True])
def test_what_began_in_the_periods_of_a_question_is_searched_and_the_days_after_a_day_too(past: bool) -> None:
    texts, day = (search.THEN if past else search.NOW), 86_400_000_000
    periods = (NamedPeriod(Period(0, day)), NamedPeriod(Period(0, 30 * day)))
    reach = Reach(40, periods=periods)
    near = six_queries.build_period_query(target(past=past), {}, reach, [1.0])
    assert (near.kind, near.query, near.values["limit"]) == ("period", texts.begun_near, 40)
    assert near.values["periods"] == [[0, 3 * day], [0, 30 * day]]
    assert six_queries.build_period_query(target(past=past), {}, reach, []).query is texts.begun


def test_a_broad_question_looks_further_and_so_does_one_without_an_embedding() -> None:
    def reach(question: Question, embedding: tuple[float, ...] = (1.0,)) -> Reach:
        return six_queries.choose_reach(question, 10, embedding, 3)

    narrow, broad = Question("where?"), Question("summarise", broad=True)
    assert (reach(narrow).pool, reach(broad).pool) == (six_queries.MIN_POOL, six_queries.BROAD_POOL)
    assert reach(narrow, ()).expanded_anchors == six_queries.WORDS_ALONE
    assert six_queries.choose_reach(narrow, 100, (1.0,), 3).pool == 200


def test_only_what_may_be_a_request_starts_from_standing_instructions() -> None:
    for request in Request:
        reach = six_queries.choose_reach(Question("help me", request=request), 10, (1.0,), 3)
        values = six_queries.build_graph_query(target(), SMALL, {}, reach).values
        assert bool(values["instruction_words"]) is (request is not Request.NONE)


@pytest.mark.parametrize(
    ("question", "favoured"),
    [
        (Question("my plan", own=True), ["human", "user"]),
        (Question("the plan"), ["human", "user"]),
        (Question("did you tell me", own=True, others=True), []),
        (Question("a summary of mine", own=True, whole=True), []),
    ],
)
def test_the_words_of_the_asker_come_first_unless_those_of_others_are_asked_for(
    question: Question, favoured: list[str]
) -> None:
    reach = six_queries.choose_reach(question, 10, (1.0,), 3)
    values = six_queries.build_graph_query(target(), SMALL, {}, reach).values
    assert values["favoured"] == favoured
