"""Whom a draw asks about: those offered, then the least recently asked; the same seed draws the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.revaluation.draw import draw, first_place, is_judgement, is_worth_asking, judgement_id
from orchestration.features.revaluation.queries import Asked, LowMemory

TOLD = "I chose a quiet day and sat with it"


def memory(name: str, *, kind: str = "Memory", speaker: str | None = None, text: str = TOLD) -> LowMemory:
    return LowMemory(0, name, kind, speaker, name, text)


MANY = [memory(f"m{number}") for number in range(40)]
times = st.dictionaries(st.sampled_from([each.id for each in MANY]), st.integers(1, 5))


def asked(at: dict[str, int], waiting: frozenset[str] = frozenset()) -> dict[str, Asked]:
    return {name: Asked(name, time, name in waiting, None, None) for name, time in at.items()}


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


def test_other_seeds_draw_others_and_what_was_offered_comes_first() -> None:
    draws = {tuple(each.id for each in draw(MANY, {}, seed=str(seed), count=5)) for seed in range(20)}
    assert len(draws) == 20
    offered = asked({"m7": 9, "m9": 8}, frozenset(("m7", "m9")))
    assert [each.id for each in draw(MANY, offered, seed="1", count=3)][:2] == ["m9", "m7"]


def test_small_talk_things_and_the_words_of_an_assistant_are_not_asked_about() -> None:
    assert is_worth_asking(memory("a"))
    assert is_worth_asking(memory("b", text=""))
    assert is_worth_asking(memory("c", kind="Turn", speaker="Ada"))
    assert not is_worth_asking(memory("d", kind="Turn", speaker="Ada", text="Yes, of course."))
    assert not is_worth_asking(memory("e", kind="Turn", speaker="assistant"))
    assert draw([], {}, seed="0", count=10) == []


@given(st.text(), st.integers(0, 10_000))
def test_reading_begins_within_the_graph(seed: str, places: int) -> None:
    assert -1 <= first_place(seed, places) < max(1, places)


def test_a_judgement_has_one_id() -> None:
    assert judgement_id("m", 1, 0.8) == judgement_id("m", 1, 0.8)
    assert is_judgement(judgement_id("m", 1, 0.8))
    assert not is_judgement("ingest:revaluation")
    assert not is_judgement(None)
    assert len({judgement_id("m", 1, 0.8), judgement_id("m", 2, 0.8), judgement_id("m", 1, 0.7)}) == 3
