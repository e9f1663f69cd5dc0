"""Sessions of candidates, by their laws."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.candidates import Candidate, Key
from orchestration.ranking.texts import told_by
from orchestration.ranking.times import Sessions, session_numbers, with_answers
from tests.builders import a_memory, key

HOUR = 3_600_000_000


def of(*memories: Candidate) -> dict[Key, Candidate]:
    return {memory.key: memory for memory in memories}


def a_turn(name: str, speaker: str = "user", *, at: int = 0, text: str = "I want a new roof") -> Candidate:
    return a_memory(name, node_type="Turn", speaker=speaker, valid_at=at, description=text)


def test_a_pause_of_more_than_an_hour_begins_a_session() -> None:
    memories = of(*(a_memory(name, valid_at=at) for name, at in (("c", 3 * HOUR), ("a", 0), ("b", HOUR))))
    assert session_numbers(memories, map(told_by, memories.values())) == [1, 0, 0]


def test_the_first_turn_of_a_session_opens_it_best() -> None:
    turns = [a_turn(str(place), "user" if place % 2 == 0 else "assistant") for place in range(4)]
    openings = Sessions(of(*turns)).openings({key("0"), key("2")}, whole=False)
    assert openings == {key("0"): 1.5, key("2"): 1.0}


def test_a_turn_that_asks_on_in_few_words_counts_less() -> None:
    turns = [a_turn("0"), a_turn("1", at=2 * HOUR, text="why?"), a_turn("2", at=4 * HOUR)]
    openings = Sessions(of(*turns)).openings({turn.key for turn in turns}, whole=False)
    assert openings[key("0")] == openings[key("2")] == 1.5 > openings[key("1")] > 1.0


@given(st.permutations(range(6)), st.sets(st.sampled_from((0, 2, 4))))
def test_with_answers_nothing_is_lost_and_each_stands_behind_its_turn(order: list[int], asked: set[int]) -> None:
    answers = {key(str(place)): key(str(place + 1)) for place in asked}
    placed = with_answers([key(str(place)) for place in order], answers)
    assert sorted(placed) == sorted(key(str(place)) for place in order)
    for turn, answer in answers.items():
        assert placed.index(answer) == placed.index(turn) + 1
