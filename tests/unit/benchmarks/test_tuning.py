"""The choice of weights: the values of a family, and what is chosen with one conversation left out."""

from __future__ import annotations

import pytest

from benchmarks.tuning import FACTORS, SHIPPED, Outcome, choose, format_family, leave_out, read_family
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS


def outcome(group: str, conversation: str, shipped: float, other: float) -> Outcome:
    return Outcome(group, conversation, {SHIPPED: shipped, "own=1": other})


def test_a_family_is_every_combination_of_its_fields_but_the_shipped_one() -> None:
    family = read_family(["own=0,1", "other=0.3"])
    assert [(each.own, each.other) for each in family.values()] == [
        (CHANNEL_WEIGHTS.own, 0.3),
        (0.0, CHANNEL_WEIGHTS.other),
        (0.0, 0.3),
        (1.0, CHANNEL_WEIGHTS.other),
        (1.0, 0.3),
    ]
    assert list(family)[2] == "own=0 other=0.3"


def test_a_field_without_values_is_tried_at_shares_of_what_is_shipped_and_a_switch_both_ways() -> None:
    tried = [each.session for each in read_family(["session"]).values()]
    assert tried == [CHANNEL_WEIGHTS.session * factor for factor in FACTORS]
    assert [each.named_apart for each in read_family(["named_apart"]).values()] == [False]


@pytest.mark.parametrize(("word", "says"), [("nope", "no weight nope"), ("own=x", "could not convert")])
def test_a_family_of_nothing_known_is_refused(word: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_family([word])


def test_each_set_weighs_the_same_in_a_choice_and_the_shipped_value_wins_a_tie() -> None:
    many = [outcome("large", "a", 0.6, 0.5)] * 9
    assert choose([*many, outcome("small", "b", 0.0, 0.2)], ["own=1"]) == "own=1"
    assert choose([*many, outcome("small", "b", 0.0, 0.1)], ["own=1"]) == SHIPPED


def test_a_conversation_has_no_say_in_what_is_chosen_for_it() -> None:
    outcomes = [outcome("set", "a", 0.0, 1.0), outcome("set", "b", 0.5, 0.4), outcome("set", "c", 0.5, 0.4)]
    first, second, third = leave_out(outcomes, ["own=1"])
    assert (first.conversation, first.chosen, first.figure, first.shipped) == ("a", SHIPPED, 0.0, 0.0)
    assert (second.chosen, second.figure, second.shipped) == ("own=1", 0.4, 0.5)
    assert third.chosen == "own=1"
    report = format_family("own", outcomes, ["own=1"], "rec@10")
    assert "gain over conversations -0.067, spread 0.047, better on 0, worse on 2 of 3" in report
    with pytest.raises(ValueError, match="only one conversation"):
        list(leave_out(outcomes[:1], ["own=1"]))
