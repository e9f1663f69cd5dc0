"""The two generations of a query text."""

from __future__ import annotations

from itertools import chain

import pytest

from scripts.queries import collect
from substrate.cypher.fragments import felt, fits
from substrate.cypher.query import TRACE_LABELS, Query, trace_role
from substrate.store.filters import EVERY_MEMORY

FILTERING = {name for record in ("s", "m") for name in Query("any", felt(record)).parameters()}
ONE_OF_THEM = {
    "unfiltered": False,
    "generalised": True,
    "min_energy": 0.1,
    "min_confidence": 1,
    "emotions_needed": 1,
}


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("(n)-[:HAS_TRACE]->(t:Trace)", "(n)-[:HAS_TRACE]->(t:Trace)", "(n)-[:HAS_TRACE_B]->(t:TraceB)"),
        ("queryNodes('PastTrace', 'x')", "queryNodes('PastTrace', 'x')", "queryNodes('PastTraceB', 'x')"),
        ("labels.OtherTrace", "labels.TraceB", "labels.Trace"),
        ("(:OtherPastTrace) 'HAS_OTHER_TRACE'", "(:PastTraceB) 'HAS_TRACE_B'", "(:PastTrace) 'HAS_TRACE'"),
        ("Traces Tracer MY_HAS_TRACE", "Traces Tracer MY_HAS_TRACE", "Traces Tracer MY_HAS_TRACE"),
    ],
)
def test_a_text_says_the_names_of_the_generation_in_use(text: str, first: str, second: str) -> None:
    query = Query("any", text)
    assert (query.for_generation(0), query.for_generation(1)) == (first, second)


def test_each_label_has_one_role() -> None:
    assert [trace_role(label) for label in TRACE_LABELS] == 2 * ["Trace", "PastTrace", "PassageTrace"]
    assert trace_role("Tag") == "Tag"


def test_without_filters_no_query_asks_for_them() -> None:
    queries = chain.from_iterable(collect().values())
    asking = [query for query in queries if "unfiltered" in query.parameters()]
    assert len(asking) > 50
    for query in asking:
        plain = query.for_values(EVERY_MEMORY)
        assert plain.name == query.name
        assert not plain.parameters() & FILTERING
        assert plain.parameters() == query.parameters() - FILTERING
        assert "node_type <> 'Generalisation'" in plain.text


@pytest.mark.parametrize("name", ONE_OF_THEM)
def test_with_one_filter_all_are_asked_for(name: str) -> None:
    query = Query("any", f"{felt('s')} AND {fits('m')}")
    assert query.for_values({**EVERY_MEMORY, name: ONE_OF_THEM[name]}) is query
