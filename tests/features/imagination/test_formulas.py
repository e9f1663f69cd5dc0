"""What came of an action before: shares over past cases by nearness and age."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.imagination.formulas import (
    BREADTH,
    HALF_LIFE_DAYS,
    LIKE_ENOUGH,
    NEEDED,
    NEIGHBOURS,
    Case,
    evidence,
    imagine,
    nearness,
    outcome_of,
    recency,
    weigh,
)
from schemas.memory import ResolutionState
from tests.builders import a_node

units = st.floats(0.0, 1.0)
cases = st.lists(
    st.builds(
        Case,
        nearness=units,
        likeness=units,
        age=st.floats(0.0, 1000.0),
        result=st.none() | st.sampled_from(["positive", "negative", "complex"]),
        emotions=st.dictionaries(st.sampled_from(["joy", "fear", "calm"]), units, max_size=3),
    ),
    max_size=60,
)


def a_case(
    result: str | None = "positive", *, nearness: float = 0.8, likeness: float = 0.8, age: float = 0.0
) -> Case:
    return Case(nearness, likeness, age, result, {})


@given(cases)
def test_shares_add_up_to_one_or_nothing_is_said(found: list[Case]) -> None:
    imagined = imagine(found)
    for shares in (imagined.results, imagined.emotions, imagined.usual):
        assert not shares or sum(shares.values()) == pytest.approx(1.0, abs=0.001)
    assert imagined.enough is bool(imagined.results)
    assert imagined.enough or not imagined.emotions


@given(cases)
def test_evidence_is_at_most_the_number_of_cases(found: list[Case]) -> None:
    imagined = imagine(found)
    assert 0.0 <= imagined.evidence <= imagined.known + 1e-9
    assert len(imagined.weighed) <= NEIGHBOURS
    assert all(0.0 < one.weight <= 1.0 for one in imagined.weighed)


def test_equal_cases_give_the_rates_of_their_results() -> None:
    imagined = imagine([a_case("negative")] * 3 + [a_case("positive")])
    assert imagined.results == {"negative": 0.75, "positive": 0.25}
    assert imagined.evidence == pytest.approx(4.0)


def test_a_case_less_near_by_the_breadth_weighs_one_e_th_and_one_of_a_half_life_a_half() -> None:
    near, far, old = weigh([a_case(), a_case(nearness=0.8 - BREADTH), a_case(age=HALF_LIFE_DAYS)])
    assert [near.place, far.place, old.place] == [0, 2, 1]
    assert far.weight == pytest.approx(0.5)
    assert old.weight == pytest.approx(0.36788, abs=1e-4)
    assert recency(0.0) == 1.0


def test_too_few_cases_say_nothing_but_what_is_usual() -> None:
    imagined = imagine([a_case("positive"), a_case("negative")])
    assert imagined.evidence < NEEDED
    assert not imagined.enough
    assert imagined.results == {}
    assert imagined.usual == {"negative": 0.5, "positive": 0.5}


def test_what_is_not_like_the_action_is_no_case_of_it() -> None:
    imagined = imagine([a_case(likeness=LIKE_ENOUGH - 0.01)] * 10)
    assert (imagined.known, imagined.weighed) == (0, ())
    assert imagined.usual == {"positive": 1.0}


def test_without_a_past_nothing_is_said() -> None:
    assert imagine([]) == (0, 0.0, {}, {}, {}, ())


def test_few_cases_are_drawn_to_what_is_usual() -> None:
    others = [a_case("negative", likeness=0.0)] * 10
    few, many = (imagine([a_case("positive")] * count + others).results["positive"] for count in (3, 10))
    assert 0.5 < few < many < 1.0


def test_feelings_are_shared_by_their_strengths() -> None:
    imagined = imagine([Case(0.8, 0.8, 0.0, "positive", {"joyful": 0.6, "fear": 0.2})] * 4)
    assert imagined.emotions == {"joy": 0.75, "fear": 0.25}


def test_evidence_counts_equal_weights_each_and_one_heavy_weight_once() -> None:
    assert evidence([0.5] * 5) == pytest.approx(5.0)
    assert evidence([1.0, 0.001]) == pytest.approx(1.002, abs=1e-3)
    assert evidence([]) == 0.0


def test_nearness_is_the_mean_of_the_channels_that_were_asked_with() -> None:
    channels = {"nodes": 1.0, "emotion": 0.5}
    assert nearness(channels, 0.6, []) == pytest.approx(0.6)  # type: ignore[arg-type]
    assert nearness(channels, 0.6, ["nodes"]) == pytest.approx((2 * 0.6 + 1.0) / 3)  # type: ignore[arg-type]
    assert nearness(channels, 0.6, ["nodes", "emotion"]) == pytest.approx(  # type: ignore[arg-type]
        (2 * 0.6 + 1.0 + 0.5) / 4
    )


@pytest.mark.parametrize(
    ("result", "state", "solved", "expected"),
    [
        (" Positive ", None, False, "positive"),
        ("negative", ResolutionState.RESOLVED, True, "negative"),
        (None, ResolutionState.RESOLVED, False, "positive"),
        (None, ResolutionState.BLOCKED, True, "negative"),
        (None, ResolutionState.IN_PROGRESS, True, None),
        (None, None, True, "positive"),
        (None, None, False, None),
    ],
)
def test_the_stored_result_counts_before_the_state_of_the_work(
    result: str | None, state: ResolutionState | None, *, solved: bool, expected: str | None
) -> None:
    assert outcome_of(a_node(result=result, resolution_state=state), solved=solved) == expected
