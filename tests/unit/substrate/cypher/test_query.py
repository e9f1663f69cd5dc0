"""The two generations of a query text."""

from __future__ import annotations

import pytest

from substrate.cypher.query import TRACE_LABELS, Query, trace_role


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
