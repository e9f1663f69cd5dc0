"""Which queries a question sends, and how far they look."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestration.graph_queries import six_queries
from orchestration.graph_queries.existing_graphs import Fewest
from orchestration.graph_queries.six_queries import Reach
from orchestration.question.lexicon import Entity, Lexicon
from orchestration.question.reading import Question
from orchestration.question.time_expressions import NamedPeriod
from schemas.memory import Level
from schemas.temporal import Period
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store import search

NOW = 1_700_000_000_000_000
LARGE = Lexicon(memories=5_000, traces=5_000, past_traces=20_000, frequencies={"bridge": 3})
SMALL = Lexicon(memories=20, traces=20, past_traces=20, frequencies={"bridge": 3})


def target(level: Level = Level.N1, *, past: bool = False) -> GraphTarget:
    connection = cast(Connection, SimpleNamespace())
    return GraphTarget(level, Graph(connection, f"graph_{level}"), past)


def vector_query(lexicon: Lexicon, *, past: bool = False, fewest: Fewest | None = None) -> Any:
    values = {"unfiltered": fewest is None, "embedding": [1.0]}
    return six_queries.build_vector_query(target(past=past), lexicon, values, Reach(pool=40), fewest=fewest)


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
