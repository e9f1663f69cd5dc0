"""What feedback teaches: bounded, in any order, and taken back as if it had never been told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking.activation import Activation, Asker, activate
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from orchestration.ranking.channels import CHANNELS
from orchestration.ranking.learned import (
    FAMILIES,
    GREATEST_FACTOR,
    LEAST_FACTOR,
    NOTHING_LEARNED,
    SHOWN,
    WRONG,
    Learned,
    Lesson,
    adjusted,
    draw_lesson,
    learn,
    learned_until,
    question_words,
    use_priors,
)
from schemas.memory import GraphKey, Level
from tests.builders import a_memory

N1 = Level.N1
WORDS = ("plum", "cake", "oven", "ferry", "ticket")
IDS = ("a", "b", "c", "d")
weights = st.dictionaries(st.sampled_from(WORDS), st.floats(0.1, 8.0), max_size=4)
pulls = st.dictionaries(st.sampled_from([family.name for family in FAMILIES]), st.floats(-1.0, 1.0))
lessons = st.builds(
    Lesson,
    words=weights,
    used=st.dictionaries(st.sampled_from(IDS), st.floats(0.1, 1.0), max_size=3),
    wrong=st.lists(st.sampled_from(IDS), max_size=2).map(tuple),
    pull=pulls,
    told_at=st.integers(1, 100),
)
LEXICONS: dict[GraphKey, Lexicon] = {N1: Lexicon(memories=40, frequencies={"cake": 3, "plum": 2})}
ASKER = Asker(Question("Which cake has plums?"))


def answered(learned: Learned = NOTHING_LEARNED, places: int = 6) -> Activation:
    """Memories of which each is less like the question than the one before; the last one shares its words."""
    found = [a_memory(f"m{place}", likeness=0.9 - 0.1 * place) for place in range(places - 1)]
    found.append(a_memory("cake", description="The cake has plums.", likeness=0.1))
    candidates = Candidates({memory.key: memory for memory in found})
    return activate(candidates, LEXICONS, ASKER, learned=learned)


def ids(activation: Activation) -> list[str]:
    return [score.key[1] for score in activation.order]


def lesson(used: Sequence[str] = (), wrong: Sequence[str] = ()) -> Lesson:
    answer = answered()
    return draw_lesson(answer.order, answer.parts, question_words(LEXICONS), used=used, wrong=wrong)


def test_every_family_names_weights_and_parts_that_there_are() -> None:
    known = {field.name for field in fields(ChannelWeights)}
    parts = {channel.part for channel in CHANNELS}
    for family in FAMILIES:
        assert set(family.weights) <= known
        assert set(family.parts) <= parts


def test_each_weight_has_a_factor_or_is_left_out_on_purpose() -> None:
    learned = {name for family in FAMILIES for name in family.weights}
    left_out = {"named_apart", "instruction", "breadth", "opening", "kind", "currency", "use"}
    assert learned | left_out == {field.name for field in fields(ChannelWeights)}


@given(st.lists(lessons, max_size=30))
def test_factors_stay_within_their_bounds(told: list[Lesson]) -> None:
    factors = learn(told).factors
    assert all(LEAST_FACTOR <= factor <= GREATEST_FACTOR for factor in factors.values())


@given(st.lists(lessons, max_size=8), st.randoms(use_true_random=False), weights)
def test_the_order_in_which_lessons_were_told_changes_nothing(
    told: list[Lesson], chance: Random, words: dict[str, float]
) -> None:
    shuffled = list(told)
    chance.shuffle(shuffled)
    assert learn(shuffled).factors == learn(told).factors
    assert use_priors(shuffled, words) == use_priors(told, words)


@given(st.lists(lessons, max_size=8), lessons)
def test_without_a_lesson_it_is_as_if_it_had_never_been_told(told: list[Lesson], late: Lesson) -> None:
    late = replace(late, told_at=1000)
    assert learned_until(learn([*told, late]), 1000).factors == learn(told).factors
    assert learned_until(learn(told), 1000) == learn(told)


@given(st.lists(lessons, max_size=8), weights)
def test_what_a_memory_gains_or_loses_is_bounded(told: list[Lesson], words: dict[str, float]) -> None:
    assert all(-WRONG <= prior <= 1.0 + 1e-9 for prior in use_priors(told, words).values())


def test_nothing_told_changes_no_weight_and_no_answer() -> None:
    assert learn([]) == NOTHING_LEARNED
    assert adjusted(CHANNEL_WEIGHTS, learn([]).factors) is CHANNEL_WEIGHTS
    assert answered(learn([])) == answered()


@given(st.lists(lessons, min_size=1, max_size=8))
def test_likeness_and_words_stay_shares_of_base_relevance(told: list[Lesson]) -> None:
    changed = adjusted(CHANNEL_WEIGHTS, learn(told).factors)
    assert 0.0 < changed.likeness < 1.0
    assert changed.likeness + changed.words == pytest.approx(1.0)


def test_a_used_memory_rises_and_a_wrong_one_falls_when_the_question_comes_again() -> None:
    before = ids(answered())
    told = learn([lesson(used=["m4"], wrong=["m0"])])
    after = ids(answered(told))
    assert after.index("m4") < before.index("m4")
    assert after.index("m0") > before.index("m0")
    assert answered(told).parts[answered(told).order[0].key].get("use")


def test_feedback_on_another_subject_leaves_the_memories_where_they_are() -> None:
    other = replace(lesson(used=["m4"]), words={"ferry": 3.0}, pull={})
    assert ids(answered(learn([other]))) == ids(answered())


def test_a_family_that_the_used_memories_have_more_of_gains() -> None:
    factors = learn([lesson(used=["cake"])] * 50).factors
    assert factors["words"] > 1.0 > factors["likeness"]


def test_more_lessons_of_one_kind_move_a_factor_less_and_less() -> None:
    told = [learn([lesson(used=["cake"])] * count).factors["words"] for count in (1, 2, 3, 20, 21)]
    assert told == sorted(told)
    assert told[1] - told[0] > told[4] - told[3] > 0.0


def test_feedback_by_chance_keeps_factors_near_one() -> None:
    found = [lesson(used=[name]) for name in ids(answered())]
    assert all(0.8 < factor < 1.25 for factor in learn(found * 10).factors.values())


def test_a_memory_that_was_shown_far_down_is_trusted_less() -> None:
    first, last = ids(answered())[0], ids(answered())[-1]
    trust = lesson(used=[first, last, "elsewhere"]).used
    assert 1.0 == trust[first] > trust[last] > trust["elsewhere"]
    assert trust["elsewhere"] == pytest.approx(10 / (10 + SHOWN - 1), abs=1e-6)


def test_a_wrong_memory_loses_at_most_the_relevance_that_it_has() -> None:
    told = learn([lesson(wrong=[name for name in ids(answered()) if name != "m1"])])
    parts = answered(told).parts
    assert all(sum(scores.values()) >= -1e-9 for scores in parts.values())
