"""How two orders of memories are compared, and what is said of each memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.replay.comparison import Difference, compare, describe, find_causes
from orchestration.mind.stream_note import Shown
from schemas.temporal import END_OF_TIME
from substrate.store.stream_notes import RecordNow

A, B, C, SHARED = (Shown("N1", name, 1) for name in "abcs")
SHARED = Shown("N2", "s", 1)
orders = st.lists(st.sampled_from((A, B, C, SHARED)), unique=True)


def record(shown: Shown, expired_at: int = END_OF_TIME, newest_ends: int = END_OF_TIME) -> RecordNow:
    closed = "reality_changed" if expired_at < END_OF_TIME else None
    said = (2, "b", "now so", END_OF_TIME, newest_ends)
    return RecordNow(shown.id, shown.version, f"name of {shown.id}", 1, expired_at, closed, False, *said)


@given(orders)
def test_an_order_does_not_differ_from_itself(order: Sequence[Shown]) -> None:
    assert compare(order, order).is_none


@given(orders, orders)
def test_two_orders_differ_in_both_directions_alike(one: Sequence[Shown], other: Sequence[Shown]) -> None:
    there, back = compare(one, other), compare(other, one)
    assert (there.only_then, there.only_now) == (back.only_now, back.only_then)
    assert there.order_changed is back.order_changed
    assert there.is_none is (list(one) == list(other))


@pytest.mark.parametrize(("freed", "same"), [(0, False), (1, True)])
def test_another_memory_may_take_the_place_of_an_erased_one(freed: int, same: bool) -> None:
    difference = compare([A], [A, B], freed=freed)
    assert difference.is_none is same
    assert find_causes({"erased": bool(freed)}, difference) == (("erased",) if freed else ("unknown",))


def test_without_a_difference_there_is_no_cause() -> None:
    assert find_causes({"weights": True}, Difference(frozenset(), frozenset(), False)) == ()


def test_each_memory_has_its_fate() -> None:
    records = {A: record(A), B: record(B, expired_at=5), SHARED: record(SHARED)}
    said = describe([A, C, B], [B, SHARED], records, ("model",), moment=9, may_read=lambda _key: True)
    fates = {memory.id: memory.fate for memory in said}
    assert fates == {"a": "only_then", "c": "erased", "b": "closed", "s": "only_now"}
    by_id = {memory.id: memory for memory in said}
    assert by_id["c"].model_dump(exclude_defaults=True) == {
        "level": "N1",
        "id": "c",
        "version": 1,
        "fate": "erased",
    }
    assert (by_id["b"].place_then, by_id["b"].place_now, by_id["b"].reason) == (2, 1, "reality_changed")
    assert by_id["b"].replaced_by is not None
    assert by_id["b"].replaced_by.description == "now so"
    assert (by_id["a"].causes, by_id["b"].causes) == (("model",), ())
    own = describe([A, SHARED], [A], records, (), moment=9, may_read=lambda key: key == "N1")
    assert [memory.id for memory in own] == ["a"]


def test_what_does_not_hold_any_more_has_no_replacement() -> None:
    [said] = describe([B], [B], {B: record(B, 5, newest_ends=9)}, (), moment=9, may_read=lambda _key: True)
    assert said.replaced_by is None
