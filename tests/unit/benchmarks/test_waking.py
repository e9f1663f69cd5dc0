from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from benchmarks.life import Person, Waking, load_lives
from benchmarks.waking import Results, cue, format_results, own_conversation, rank_baselines, wire
from benchmarks.waking_scores import (
    Found,
    Known,
    compare,
    compare_identity,
    compare_known,
    is_same_name,
    rate_wakings,
)
from orchestration.features.identity.values import Identity, IdentityPerson, Told
from schemas.intention import QueryMode
from schemas.mind.state import CitizenState
from substrate.inference.embeddings.embedder import NoEmbedder

MOMENT = datetime(2024, 5, 4, tzinfo=UTC)
ANN = Person(name="Ann Lee", roles=("baker",), people=("Mr Okoro", "Ben"))


def waking(**changed: Any) -> Waking:
    fields: dict[str, Any] = {"mode": QueryMode.SIMILAR_STATE, "at": MOMENT, "goal": None, "emotions": None}
    return Waking(**fields | {"energy": None, "expected": ("a", "b"), "not_first": ("z",)} | changed)


def identity(*people: str, name: str | None = None, role: str | None = None) -> Identity:
    return Identity(
        citizen_id="user-1",
        as_of_time=MOMENT,
        known_at=MOMENT,
        name=None if name is None else Told(value=name, memory_ids=("m1",)),
        role=None if role is None else Told(value=role, memory_ids=("m1",)),
        people=tuple(IdentityPerson(node_id=each, name=each, appearances=1) for each in people),
        state=CitizenState(citizen_id="user-1", goal="be a baker"),
    )


def test_a_waking_is_rated_by_what_it_brings_back_and_by_what_comes_first() -> None:
    probes = [waking(), waking(mode=QueryMode.RELATED_UNRESOLVED), waking()]
    rates = rate_wakings(probes, [["a", "z", "b"], ["z", "a"], []])
    assert (rates["all"].probes, rates["all"].expected) == (3, 0.5)
    assert rates["all"].not_first == pytest.approx(1 / 3)
    assert (rates["find_similar_state"].expected, rates["find_similar_state"].not_first) == (0.5, 0.0)


def test_what_comes_after_the_tenth_place_is_not_found() -> None:
    assert rate_wakings([waking()], [[*map(str, range(10)), "a", "b"]])["all"].expected == 0


def test_counts_are_of_distinct_things_and_add_up() -> None:
    assert compare(["a", "a", "c"], ["a", "b"]) == Found(1, 2, 2)
    both = Found(1, 2, 2) + Found(1, 1, 2)
    assert (both.as_dict()["precision"], both.as_dict()["recall"]) == (2 / 3, 0.5)
    assert Found(0, 0, 4).as_dict() == {"right": 0, "shown": 0, "expected": 4, "precision": None, "recall": 0.0}


def test_an_empty_store_finds_nothing_of_what_a_life_has() -> None:
    for life in load_lives():
        found = compare_known(Known({}, (), (), (), ()), life)
        assert all(each.right == each.shown == 0 for each in found.values())
        assert found["resolution_state"].expected == len(life.states)


def test_the_labels_of_a_life_find_all_of_it() -> None:
    for life in load_lives():
        solved = [(thread.open, thread.solved) for thread in life.threads if thread.solved]
        states = {key: str(state) for key, state in life.states.items()}
        known = Known(states, life.goals, life.feelings, life.instructions, solved)
        assert all(each.right == each.shown == each.expected for each in compare_known(known, life).values())


def test_what_an_identity_tells_is_compared_with_the_person() -> None:
    found = compare_identity(identity("Ben", "assistant", name="Ann", role="a baker in town"), ANN)
    assert (found["name"], found["role"]) == (Found(1, 1, 1), Found(1, 1, 1))
    assert found["people"] == Found(1, 2, 2)
    assert found["roles as people"].shown == 1


def test_an_identity_that_tells_nothing_finds_nothing() -> None:
    found = compare_identity(identity(), ANN)
    assert all(each.right == each.shown == 0 for each in found.values())


@pytest.mark.parametrize(
    ("name", "other", "same"),
    [
        ("Gord", "Gord Halloran", True),
        ("Dr Lindqvist", "lindqvist", True),
        ("Ann", "Anna", False),
        ("", "Ann", False),
    ],
)
def test_a_name_is_the_same_when_its_words_are_all_in_the_other(name: str, other: str, same: bool) -> None:
    assert is_same_name(name, other) is same


def test_the_baselines_see_only_what_the_user_said_before_the_moment() -> None:
    (life,) = load_lives(["joiner"])
    probe = life.wakings[0]
    said = own_conversation(life, probe.at)
    roles = {message.id: message.role for message in life.messages}
    assert said.turns
    assert all(roles[turn.id] == "user" and turn.time and turn.time < probe.at for turn in said.turns)


def test_a_baseline_ranks_by_the_goal_else_the_emotions_and_has_no_answer_to_neither() -> None:
    assert cue(waking(goal="bake", emotions={"joy": 1.0})) == "bake"
    assert cue(waking(emotions={"joy": 1.0, "fear": 0.5})) == "joy fear"
    (life,) = load_lives(["joiner"])
    said = own_conversation(life, life.wakings[0].at)
    assert asyncio.run(rank_baselines(said, cue(waking()), NoEmbedder())) == {"BM25": []}
    ranked = asyncio.run(rank_baselines(said, "the staircase", NoEmbedder()))
    assert next(turn.text for turn in said.turns if turn.id == ranked["BM25"][0]).count("staircase") == 1


def test_a_message_goes_out_with_its_id_and_time() -> None:
    (life,) = load_lives(["joiner"])
    assert wire(life.messages[0])["id"] == life.messages[0].id
    assert datetime.fromisoformat(wire(life.messages[0])["timestamp"]) == life.messages[0].time


def test_figures_of_nothing_found_are_shown_as_nothing_of_how_many() -> None:
    results = Results(wakings=[waking()], rankings={"Substrate": [[]]}, counts={"goal": Found(0, 0, 4)})
    assert results.as_dict()["wakings"]["Substrate"]["all"]["expected@10"] == 0
    assert any(
        line.split() == ["goal", "0", "0", "4", "-", "0.000"] for line in format_results(results).splitlines()
    )
