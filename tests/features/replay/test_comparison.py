"""How two orders of memories are compared, and what is said of each memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.replay.comparison import compare, find_causes
from orchestration.mind.stream_note import ShownRecord

A, B, C, SHARED = (ShownRecord("N1", name, 1) for name in "abcs")
SHARED = ShownRecord("N2", "s", 1)
orders = st.lists(st.sampled_from((A, B, C, SHARED)), unique=True)


@given(orders)
def test_an_order_does_not_differ_from_itself(order: Sequence[ShownRecord]) -> None:
    assert compare(order, order).is_none


@given(orders, orders)
def test_two_orders_differ_in_both_directions_alike(
    one: Sequence[ShownRecord], other: Sequence[ShownRecord]
) -> None:
    there, back = compare(one, other), compare(other, one)
    assert (there.only_then, there.only_now) == (back.only_now, back.only_then)
    assert there.order_changed is back.order_changed
    assert there.is_none is (list(one) == list(other))


@pytest.mark.parametrize(("freed", "same"), [(0, False), (1, True)])
def test_another_memory_may_take_the_place_of_an_erased_one(freed: int, same: bool) -> None:
    difference = compare([A], [A, B], freed=freed)
    assert difference.is_none is same
    assert find_causes({"erased": bool(freed)}, difference) == (("erased",) if freed else ("unknown",))
