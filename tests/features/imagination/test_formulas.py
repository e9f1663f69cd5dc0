"""What came of an action before: shares over past cases by nearness and age."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.imagination.formulas import (
    NEIGHBOURS,
    Case,
    imagine,
    outcome_of,
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
