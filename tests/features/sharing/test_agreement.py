"""How far citizens agree on a shared memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.sharing.feature import agreement

CITIZENS = st.lists(st.sampled_from(("ada", "bo", "cleo", "dan")))


@given(CITIZENS, CITIZENS)
def test_it_is_a_share_of_all_who_spoke(holders: list[str], contesters: list[str]) -> None:
    told = agreement(holders, contesters)
    assert (told is None) is not bool(holders or contesters)
    assert told is None or 0.0 <= told <= 1.0
    assert told is None or (told == 1.0) is not bool(contesters)


@given(CITIZENS, CITIZENS, st.sampled_from(("eve", "ada")))
def test_who_holds_it_too_never_lowers_it_and_who_contests_it_never_raises_it(
    holders: list[str], contesters: list[str], another: str
) -> None:
    told = agreement(holders, contesters)
    if told is not None:
        assert (agreement([*holders, another], contesters) or 0.0) >= told
        assert (agreement(holders, [*contesters, another]) or 0.0) <= told


@given(CITIZENS, CITIZENS)
def test_nobody_counts_twice(holders: list[str], contesters: list[str]) -> None:
    assert agreement(holders * 2, contesters[::-1] * 2) == agreement(holders, contesters)


def test_one_of_three() -> None:
    assert agreement({"ada"}, {"bo", "cleo"}) == 1 / 3
    assert agreement({"ada", "bo"}, {"bo"}) == 0.5
