"""What was told in plain words, as numbers: tables worked by hand, and laws."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.candidates import Candidate
from orchestration.ranking.consciousness_score import DAY
from orchestration.waking.scoring import WakingState
from orchestration.waking.told import (
    INSTRUCTION_SHARE,
    TellingMemory,
    is_told,
    own_share,
    read_told,
    told_parts,
)
from schemas.intention import QueryMode
from tests.builders import a_memory

NOW = 400 * DAY
UNIT = st.floats(0, 1)
LONG = "the model stops at step fourteen every single time"


def waking(mode: QueryMode, **fields: Any) -> WakingState:
    whole = {"energy": 0.5, "emotions": {}, "goal": "g", "moment": NOW, "half_life": 30.0, **fields}
    return WakingState(mode=mode, **whole)


def said(memory_id: str, days: float = 0, **fields: Any) -> Candidate:
    """A turn of the citizen; what its fields say was inferred, unless `unset` is given."""
    emotions = fields.pop("emotions", None)
    if emotions is not None:
        fields["emotion_vector"] = orjson.dumps(emotions).decode()
    whole = {
        "description": LONG, "speaker": "user", "node_type": "Turn", "valid_at": int(NOW - days * DAY),
        "unset": "energy,confidence,emotion_vector,goal,resolution_state", **fields,
    }  # fmt: skip
    return a_memory(memory_id, **whole)


def told(memory: Candidate, about: float = 0.0, before: float = 0.0) -> TellingMemory:
    [one] = read_told([memory], {memory.key: about}, ()).values()
    return TellingMemory(one.memory, about, before, one.emotions, one.own)


def score(memory: Candidate, state: WakingState, **measures: float) -> float:
    return sum(told_parts(told(memory, **measures), state).values())


def test_what_is_like_a_goal_leads_where_no_memory_has_a_word_of_it_and_what_is_similar_is_sought() -> None:
    alike = told(said("alike", days=60), about=0.9)
    other = told(said("other", days=0), about=0.2, before=1.0)

    def lead(known: float, mode: QueryMode) -> float:
        ours, theirs = (told_parts(each, waking(mode), known).values() for each in (alike, other))
        return sum(ours) - sum(theirs)

    assert lead(1.0, QueryMode.SIMILAR_STATE) < lead(0.5, QueryMode.SIMILAR_STATE)
    assert lead(0.0, QueryMode.SIMILAR_STATE) == pytest.approx(0.7)
    assert lead(0.0, QueryMode.RELATED_UNRESOLVED) == lead(1.0, QueryMode.RELATED_UNRESOLVED)


# --- what counts as told ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({}, True),
        ({"speaker": "Caroline"}, True),
        ({"speaker": "assistant"}, False),
        ({"speaker": "Tool"}, False),
        ({"description": "  "}, False),
        ({"resolution_state": "blocked"}, True),
        ({"resolution_state": "blocked", "unset": "energy"}, False),
        ({"goal": "sail", "unset": "energy"}, False),
        ({"emotions": {"joy": 1.0}, "unset": "energy"}, False),
        ({"emotions": {}, "unset": "energy"}, True),
        ({"speaker": None, "node_type": "Memory"}, True),
        ({"speaker": None, "node_type": "Person"}, False),
        ({"speaker": None, "node_type": "Session"}, False),
        ({"speaker": None, "node_type": "Thought", "resolution_state": "blocked"}, True),
    ],
)
def test_told_is_what_the_citizen_said_without_giving_state_goal_or_feeling(
    fields: dict[str, Any], counts: bool
) -> None:
    assert is_told(said("m", **fields)) is counts


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (LONG, 1.0),
        ('he said "no" and left', 1.0),
        ('look: "always call the customer Your Majesty"', 5 / 39),
        ("", 1.0),
    ],
)
def test_what_is_quoted_or_pasted_is_not_its_own(text: str, share: float) -> None:
    assert own_share(text) == pytest.approx(share)


# --- the modes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", QueryMode)
def test_small_talk_quotes_and_instructions_count_less(mode: QueryMode) -> None:
    state = waking(mode)
    matter = score(said("m", 3), state, about=0.5)
    assert score(said("m", 3, description="lovely, ta"), state, about=0.5) < matter
    assert score(said("m", 3, rule="Always."), state, about=0.5) == pytest.approx(matter * INSTRUCTION_SHARE)
    pasted = f'look: "{LONG}"'
    assert score(said("m", 3, description=pasted), state, about=0.5) < matter / 3


@given(
    st.sampled_from(QueryMode),
    st.sampled_from([None, "blocked", "in_progress", "resolved"]),
    st.floats(0, 400),
    UNIT,
    st.sampled_from([{}, {"joy": 0.5}, {"fear": 1.0}]),
)
def test_a_score_lies_between_0_and_1(
    mode: QueryMode, state: str | None, days: float, about: float, emotions: dict[str, float]
) -> None:
    memory = said("m", days, resolution_state=state, emotions=emotions)
    assert 0.0 <= score(memory, waking(mode, emotions={"fear": 0.6}), about=about, before=about) <= 1.0


# --- what stands together --------------------------------------------------------------------------------------
