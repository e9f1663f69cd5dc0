"""Items of LangGraph as memories: the mapping loses nothing, and filters mean what LangGraph's mean."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import MatchCondition, PutOp

from api.adapters.langgraph_items import (
    ITEM_TYPE,
    MAX_LABELS,
    UNINDEXED_TYPE,
    bucket_name,
    check_filter,
    commands_to_store,
    item_fields,
    item_to_store,
    matches_namespace,
    memory_id,
    passes_filter,
    refreshed_end,
    required_prefix,
)
from schemas.errors import InvalidRequest
from schemas.memory import ConsciousnessNode, Level

NOW = datetime(2026, 3, 1, tzinfo=UTC)
VALUES = st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=5), max_size=3)
LABELS = st.lists(st.text(max_size=4), min_size=1, max_size=4).map(tuple)


def stored(op: PutOp, fields: list[str] | None = None, **times: Any) -> ConsciousnessNode:
    """The memory as the store would give it back."""
    item = item_to_store(op, fields)
    content = {**item.content, "buckets": tuple(item.content["buckets"])}
    known = {"node_id": item.id, "level": Level.N1, "valid_at": NOW, "created_at": NOW}
    return ConsciousnessNode.unchecked({**known, **content, **times})


@given(
    LABELS,
    st.text(max_size=9),
    st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=5), max_size=3),
)
def test_an_item_comes_back_as_it_was_put(namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> None:
    try:
        memory = stored(PutOp(namespace, key, value))
    except (InvalidRequest, UnicodeEncodeError):
        return  # an integer beyond 64 bits or a lone surrogate is no JSON that can be stored
    fields = item_fields(memory)
    assert (fields["namespace"], fields["key"], fields["value"]) == (namespace, key, value)


@pytest.mark.parametrize(("index", "node_type"), [(None, ITEM_TYPE), (False, UNINDEXED_TYPE), (["a"], ITEM_TYPE)])
def test_the_whole_value_comes_back_whatever_is_indexed(index: Any, node_type: str) -> None:
    memory = stored(PutOp(("ns",), "k", {"a": "sea", "b": 1}, index=index))
    assert memory.node_type == node_type
    assert item_fields(memory)["value"] == {"a": "sea", "b": 1}


def test_storing_an_item_again_needs_no_command() -> None:
    op = PutOp(("ns",), "k", {"a": 1})
    [remember] = commands_to_store(item_to_store(op, None), None, NOW)
    assert remember["command"] == "remember"
    assert commands_to_store(item_to_store(op, None), stored(op), NOW) == []
    [supersede] = commands_to_store(item_to_store(PutOp(("ns",), "k", {"a": 2}), None), stored(op), NOW)
    assert (supersede["command"], supersede["extra"]["created_at"]) == ("supersede", NOW.isoformat())


def test_a_read_moves_an_end_only_if_it_moves_far_enough() -> None:
    memory = stored(PutOp(("ns",), "k", {"a": 1}, ttl=100), invalid_at=NOW + timedelta(minutes=100))
    assert refreshed_end(memory, NOW + timedelta(seconds=30)) is None
    assert refreshed_end(memory, NOW + timedelta(minutes=2)) == NOW + timedelta(minutes=102)


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf")])
def test_a_time_to_live_is_a_finite_time_above_zero(ttl: float) -> None:
    with pytest.raises(InvalidRequest, match="ttl"):
        item_to_store(PutOp(("ns",), "k", {"a": 1}, ttl=ttl), None)


def test_a_namespace_has_a_bounded_depth() -> None:
    with pytest.raises(InvalidRequest, match="labels"):
        item_to_store(PutOp(("x",) * (MAX_LABELS + 1), "k", {}), None)


@given(LABELS, LABELS)
def test_two_namespaces_share_neither_bucket_nor_id(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    if first != second:
        assert memory_id(first, "k") != memory_id(second, "k")
        assert bucket_name(first) != bucket_name(second)
    assert len(bucket_name(first * 20)) <= 200


VALUE = {"n": 1, "t": "sea", "yes": True, "in": {"n": 2.5}, "a.b": 3, "list": [1, {"x": None}]}


@pytest.mark.parametrize(
    ("wanted", "passes"),
    [
        ({}, True),
        ({"n": 1, "t": "sea"}, True),
        ({"n": 1.0}, True),
        ({"n": True}, False),
        ({"yes": 1}, False),
        ({"missing": None}, True),
        ({"in": {"n": {"$gt": 2}}}, True),
        ({"in.n": {"$gte": 2.5, "$lt": 3}}, True),
        ({"a.b": 3}, True),
        ({"n": {"$ne": 2}}, True),
        ({"t": {"$gt": 1}}, False),
        ({"t": {"$gt": "s"}}, True),
        ({"list": [1, {"x": None}]}, True),
        ({"list": [1, {}]}, False),
        ({"n": {"n": 1}}, False),
    ],
)
def test_a_filter_compares_as_json(wanted: dict[str, Any], passes: bool) -> None:
    check_filter(wanted)
    assert passes_filter(VALUE, wanted) is passes


@pytest.mark.parametrize("wanted", [{"n": {"$in": [1]}}, {"n": {"$gt": 1, "m": 2}}, {"n": {"$gt": None}}])
def test_an_invalid_filter_is_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        check_filter(wanted)


PATHS = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=3).map(tuple)
CONDITIONS = st.lists(st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATHS), max_size=3)


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=5).map(tuple), CONDITIONS)
def test_every_matching_namespace_has_the_required_prefix(
    namespace: tuple[str, ...], conditions: list[MatchCondition]
) -> None:
    if matches_namespace(namespace, conditions):
        prefix = required_prefix(conditions)
        assert namespace[: len(prefix)] == prefix
