"""Whom a draw asks about: those offered, then the least recently asked; the same seed draws the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.revaluation.queries import LastAsking, LowMemory
from orchestration.features.revaluation.rules import draw, first_place

TOLD = "I chose a quiet day and sat with it"


def memory(name: str, *, kind: str = "Memory", speaker: str | None = None, text: str = TOLD) -> LowMemory:
    return LowMemory(0, name, kind, speaker, name, text)


MANY = [memory(f"m{number}") for number in range(40)]
times = st.dictionaries(st.sampled_from([each.id for each in MANY]), st.integers(1, 5))


def asked(at: dict[str, int], waiting: frozenset[str] = frozenset()) -> dict[str, LastAsking]:
    return {name: LastAsking(name, time, name in waiting, None, None) for name, time in at.items()}


@given(st.permutations(MANY), times, st.integers(0, 50), st.integers(1, 12))
def test_the_same_seed_draws_the_same_whatever_order_they_were_read_in(
    read: list[LowMemory], at: dict[str, int], seed: int, count: int
) -> None:
    assert draw(read, asked(at), seed=str(seed), count=count) == draw(MANY, asked(at), seed=str(seed), count=count)


@given(times, st.integers(0, 50), st.integers(1, 12))
def test_nobody_left_out_was_asked_longer_ago(at: dict[str, int], seed: int, count: int) -> None:
    drawn = draw(MANY, asked(at), seed=str(seed), count=count)
    left = [each for each in MANY if each not in drawn]
    assert len(drawn) == count
    assert max(at.get(each.id, 0) for each in drawn) <= min(at.get(each.id, 0) for each in left)


@given(st.text(), st.integers(0, 10_000))
def test_reading_begins_within_the_graph(seed: str, places: int) -> None:
    assert -1 <= first_place(seed, places) < max(1, places)
