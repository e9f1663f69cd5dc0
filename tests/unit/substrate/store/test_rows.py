"""Rows of the engine as models, one by one and many at once; as records and as receipts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level, graph_fields
from schemas.temporal import END_OF_TIME, to_datetime
from substrate.cypher.fragments import LINK_COLUMNS, LINK_UPKEEP, NODE_COLUMNS, NODE_UPKEEP, PROVENANCE
from substrate.store import rows
from substrate.store.search import LINK_START, NODE_START
from tests.builders import stored_link, stored_row

MAYBE_OF_A_MEMORY: dict[str, Any] = {
    "invalid_at": 7, "version": 3, "closed_reason": "reality_changed", "invalidation_reason": "discovered_false",
    "emotion_vector": '{"joy":0.5}', "tags": '["a","b"]', "extra": '{"x":1}', "unset": "energy,tags",
    "resolution_state": "blocked", "source": "upkeep", "importance": "0.25", "speaker": "Ada",
}  # fmt: skip
MAYBE_OF_A_LINK: dict[str, Any] = {
    "version": 2, "closed_reason": "discovered_false", "emotion_vector": '{"fear":1}',
    "sensory_details": '{"a":1}',
    "felt_quality": "firm", "extra": '{"y":[]}', "episode_id": "e", "expired_at": 9,
}  # fmt: skip


def some(maybe: dict[str, Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """A few records, each with some of these fields."""
    fields = st.sets(st.sampled_from(sorted(maybe))).map(lambda names: {name: maybe[name] for name in names})
    return st.lists(fields, max_size=4)


@given(some(MAYBE_OF_A_MEMORY))
def test_the_fields_of_a_memory_are_those_of_its_model(records: list[dict[str, Any]]) -> None:
    for place, record in enumerate(records):
        row = stored_row({"id": f"m{place}", **record})[NODE_START:]
        fields = {**rows.node_fields(row), **graph_fields(Level.N2), "relevance_score": 0.5}
        memory = ConsciousnessNode.of_fields(fields)
        by_itself = rows.node(row, Level.N2, relevance_score=0.5)
        assert memory == by_itself
        assert memory.model_dump_json() == by_itself.model_dump_json()


@given(some(MAYBE_OF_A_LINK))
def test_the_fields_of_a_link_are_those_of_its_model(records: list[dict[str, Any]]) -> None:
    times = {"valid_at": 1, "invalid_at": END_OF_TIME, "created_at": 1, "expired_at": END_OF_TIME}
    for place, record in enumerate(records):
        link = {**stored_link(f"l{place}"), **times, **record}
        row = stored_row({"id": "b"}, link, hop=1, ends=("a", "b"))[LINK_START:NODE_START]
        fields = {**rows.link_fields(row), **graph_fields(Level.N1), "source_id": "a", "target_id": "b"}
        by_itself = rows.link(row, ("a", "b"), Level.N1)
        assert ConsciousnessRelationship.of_fields(fields).model_dump_json() == by_itself.model_dump_json()


LONG = "we moved to the house by the old lighthouse in spring, and the cello came last"


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"id": "talk:D1:3", "name": "D1:3", "speaker": "Ada", "description": "Hello\nall"}, "Ada: Hello all"),
        ({"id": "talk:D1:3", "name": "D1:3", "speaker": "user", "description": "Hi."}, "User: Hi."),
        (
            {"id": "talk:D1:3", "name": "D1:3", "speaker": "Ada", "description": LONG},
            "Ada: we moved to the house by the old lighthouse in spring, and…",
        ),
        ({"id": "talk:D1:3", "name": "The move", "speaker": "Ada", "description": LONG}, "The move"),
        ({"id": "m:tea", "name": "tea", "description": "Black."}, "tea"),
        (
            {"id": "t:session_1", "node_type": "Session", "name": "session 1 · 8 May 2023",
             "description": "8 May 2023", "extra": '{"subjects":["lighthouse","cello"]}'},
            "8 May 2023: lighthouse, cello",
        ),
        (
            {"id": "t:session_1", "node_type": "Session", "name": "Planning · 8 May 2023",
             "description": "8 May 2023", "extra": '{"subjects":["cello"]}'},
            "Planning · 8 May 2023: cello",
        ),
        ({"id": "t:session_1", "node_type": "Session", "name": "session 1", "description": ""}, "session 1"),
    ],
)  # fmt: skip
def test_a_turn_is_shown_by_its_first_words_and_a_session_by_its_subjects(
    fields: dict[str, Any], shown: str
) -> None:
    row = stored_row(fields)[NODE_START:]
    assert rows.node(row, Level.N1).name == shown
    assert rows.node_fields(row)["name"] == shown


# --- records and receipts --------------------------------------------------------------------------------

TIMES: dict[str, Any] = {"valid_at": 1, "invalid_at": END_OF_TIME, "created_at": 5, "expired_at": 9}


@given(some(MAYBE_OF_A_MEMORY))
def test_a_record_is_the_same_from_a_row_and_from_its_properties(records: list[dict[str, Any]]) -> None:
    for fields in records:
        properties = {**dict.fromkeys((*NODE_COLUMNS, *PROVENANCE)), **TIMES, "id": "m", "name": "m", **fields}
        record = rows.memory_from_properties(properties)
        assert rows.record(list(properties.values())) == record
        assert rows.times(record.valid, record.known) == {name: properties[name] for name in rows.TIMES}
        assert set(record.content) <= set(rows.NODE_CONTENT)
        assert None not in record.content.values()


@pytest.mark.parametrize(("known_to", "expired_at", "reason"), [(9, None, None), (10, 9, "reality_changed")])
def test_a_record_is_shown_as_it_was_known(known_to: int, expired_at: int | None, reason: str | None) -> None:
    row = [{**TIMES, "id": "m", "closed_reason": "reality_changed"}.get(column) for column in NODE_COLUMNS]
    memory = rows.node(row, Level.N1, known_to)
    fields = rows.node_fields(row, known_to)
    assert memory.expired_at == (None if expired_at is None else to_datetime(expired_at))
    assert memory.closed_reason == reason
    assert (fields["expired_at"], fields["closed_reason"]) == (memory.expired_at, memory.closed_reason)


def test_json_that_cannot_be_read_is_named_and_left_out() -> None:
    row = [{**TIMES, "id": "m", "tags": "[", "buckets": '["x"]'}.get(column) for column in NODE_COLUMNS]
    memory = rows.node(row, Level.N1)
    assert (memory.unreadable, memory.tags, memory.buckets) == (("tags",), (), ("x",))


@given(st.dictionaries(st.sampled_from(("name", "tags", "emotion_vector", "energy")), st.none(), max_size=4))
def test_stored_properties_have_every_column(fields: dict[str, Any]) -> None:
    assert set(rows.memory_properties(fields)) == {*NODE_COLUMNS, *NODE_UPKEEP}
    assert set(rows.link_properties(fields)) == {*LINK_COLUMNS, *LINK_UPKEEP}
    assert set(rows.memory_properties(fields).values()) == {None}
