"""Items of LangGraph as memories: the mapping loses nothing, and filters mean what LangGraph's mean."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import MatchCondition, PutOp

from api.adapters.langgraph_items import (
    bucket_name,
    item_fields,
    item_to_store,
    matches_namespace,
    memory_id,
    required_prefix,
)
from schemas.errors import InvalidRequest
from schemas.memory import ConsciousnessNode, Level

NOW = datetime(2026, 3, 1, tzinfo=UTC)
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


@given(LABELS, LABELS)
def test_two_namespaces_share_neither_bucket_nor_id(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    if first != second:
        assert memory_id(first, "k") != memory_id(second, "k")
        assert bucket_name(first) != bucket_name(second)
    assert len(bucket_name(first * 20)) <= 200


PATHS = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=3).map(tuple)
CONDITIONS = st.lists(st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), PATHS), max_size=3)


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=5).map(tuple), CONDITIONS)
def test_every_matching_namespace_has_the_required_prefix(
    namespace: tuple[str, ...], conditions: list[MatchCondition]
) -> None:
    if matches_namespace(namespace, conditions):
        prefix = required_prefix(conditions)
        assert namespace[: len(prefix)] == prefix
