"""What was told in plain words, as numbers: tables worked by hand, and laws."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.candidates import Candidate
from orchestration.ranking.plurality import DAY
from orchestration.waking.scoring import OTHER_PERSON_SHARE, WakingState
from orchestration.waking.told import (
    CHANNELS,
    CROWDED_SHARE,
    FADING,
    INSTRUCTION_SHARE,
    OF_ONE_SESSION,
    WITHOUT_A_GOAL,
    Solution,
    Told,
    channels_of,
    is_told,
    may_answer,
    own_share,
    read_told,
    thin_out,
    told_parts,
)
from schemas.intention import QueryMode
from substrate.store.told import Earlier
from tests.builders import a_memory, key

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


def told(memory: Candidate, about: float = 0.0, before: float = 0.0) -> Told:
    [one] = read_told([memory], {memory.key: about}, ()).values()
    return Told(one.memory, about, before, one.emotions, one.own)


def score(memory: Candidate, state: WakingState, **measures: float) -> float:
    return sum(told_parts(told(memory, **measures), state).values())


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


def test_unresolved_work_comes_before_an_unknown_state_and_that_before_what_went_well() -> None:
    state = waking(QueryMode.RELATED_UNRESOLVED, goal=None)
    blocked, doing = (said("m", resolution_state=one) for one in ("blocked", "in_progress"))
    wish, worry = said("m", goal="sail"), said("m", emotions={"fear": 0.7})
    order = [blocked, doing, wish, worry, said("m"), said("m", emotions={"joy": 0.7})]
    scores = [score(memory, state) for memory in order]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


def test_solved_work_is_no_unresolved_work_unless_it_is_asked_for() -> None:
    state, solved = waking(QueryMode.RELATED_UNRESOLVED), told(said("m", resolution_state="resolved"))
    assert not may_answer(solved, state, unresolved=True)
    assert may_answer(solved, state, unresolved=False)
    assert may_answer(told(said("m")), state, unresolved=True)


def test_past_activity_ends_thirty_days_back_and_what_is_solved_counts_less() -> None:
    state = waking(QueryMode.WHAT_I_WAS_DOING)
    assert may_answer(told(said("m", 29)), state, unresolved=True)
    assert not may_answer(told(said("m", 31)), state, unresolved=True)
    assert score(said("m", 1), state) > score(said("m", 9), state)
    assert score(said("m", 1), state) > score(said("m", 1, resolution_state="resolved"), state)


def test_a_feeling_counts_whole_if_it_is_the_same_and_half_if_it_is_kindred() -> None:
    state = waking(QueryMode.SIMILAR_STATE, emotions={"fear": 0.6})
    parts = [told_parts(told(said("m", emotions={name: 0.5})), state) for name in ("fear", "shame", "joy")]
    whole = sum(channel.weight for channel in CHANNELS[QueryMode.SIMILAR_STATE])
    assert [one["kindred"] * whole for one in parts] == pytest.approx([0.4, 0.2, 0.0])


def test_of_patterns_a_solution_comes_before_a_step_and_an_open_problem_comes_last() -> None:
    state = waking(QueryMode.RESOLUTION_PATTERNS)
    order = [
        said("m", 9, resolution_state="resolved"), said("m", 9, step="Decision"),
        said("m", 9, emotions={"relief": 0.7}), said("m", 9), said("m", 9, emotions={"despair": 0.7}),
        said("m", 9, resolution_state="blocked"),
    ]  # fmt: skip
    scores = [score(memory, state, about=0.5) for memory in order]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)


@pytest.mark.parametrize("mode", QueryMode)
def test_small_talk_quotes_and_instructions_count_less(mode: QueryMode) -> None:
    state = waking(mode)
    matter = score(said("m", 3), state, about=0.5)
    assert score(said("m", 3, description="lovely, ta"), state, about=0.5) < matter
    assert score(said("m", 3, rule="Always."), state, about=0.5) == pytest.approx(matter * INSTRUCTION_SHARE)
    pasted = f'look: "{LONG}"'
    assert score(said("m", 3, description=pasted), state, about=0.5) < matter / 3


def test_the_words_of_somebody_else_count_half() -> None:
    state = waking(QueryMode.RELATED_UNRESOLVED, citizen="ada")
    own, other = score(said("m", speaker="Ada"), state), score(said("m", speaker="Tom"), state)
    assert own == score(said("m"), state)
    assert other == pytest.approx(own * OTHER_PERSON_SHARE)


def test_recency_counts_in_the_recent_scope_alone() -> None:
    recent, ever = (waking(QueryMode.RELATED_UNRESOLVED, half_life=each) for each in (30.0, None))
    assert score(said("m"), recent) > score(said("m", 60), recent)
    assert score(said("m"), ever) == score(said("m", 60), ever)


def test_without_a_goal_open_work_goes_by_a_table_of_its_own() -> None:
    assert channels_of(waking(QueryMode.RELATED_UNRESOLVED, goal=None)) is WITHOUT_A_GOAL
    assert channels_of(waking(QueryMode.RELATED_UNRESOLVED)) is CHANNELS[QueryMode.RELATED_UNRESOLVED]


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


def test_what_is_told_after_a_memory_takes_part_in_it_and_less_with_each_between() -> None:
    memories = [said(f"m{place}", 20 - place) for place in range(9)]
    read = read_told(memories, {memories[0].key: 0.8}, ())
    shares = [one.before for one in read.values()]
    assert shares == pytest.approx([0.0, *(0.8 * FADING**nth for nth in range(1, 7)), 0.0, 0.0])


def test_what_is_told_more_than_thirty_days_later_belongs_to_it_no_more() -> None:
    first, later = said("first", 40), said("later", 9)
    assert read_told([first, later], {first.key: 0.8}, ())[later.key].before == 0.0


def test_what_resolved_a_memory_takes_part_in_it_whole_however_late() -> None:
    first, later = said("first", 200), said("later", 9)
    read = read_told([later, first], {first.key: 0.8}, [Solution("first", "later")])
    assert read[later.key].before == 0.8


def test_what_was_closed_is_still_told_when_it_was_told_first_and_is_no_solution() -> None:
    problem, then = said("problem", 9, resolution_state="resolved"), said("then", 20)
    earlier = {"problem": Earlier(begun=int(NOW - 21 * DAY), was_open=True)}
    read = read_told([problem, then], {problem.key: 1.0}, (), earlier)
    assert list(read) == [problem.key, then.key]
    assert read[then.key].before == pytest.approx(FADING)
    state = waking(QueryMode.RESOLUTION_PATTERNS)
    assert told_parts(read[problem.key], state)["solved"] < 0.0
    assert told_parts(told(problem), state)["solved"] > 0.0


def test_the_words_of_an_assistant_stand_between_nothing() -> None:
    asked, answered, then = said("a", 3), said("b", 2, speaker="assistant"), said("c", 1)
    read = read_told([asked, answered, then], {asked.key: 1.0}, ())
    assert set(read) == {asked.key, then.key}
    assert read[then.key].before == pytest.approx(FADING)


def test_a_long_talk_counts_less_beyond_its_best_memories() -> None:
    talk = [said(f"t{place}", 1 + place / 1000) for place in range(OF_ONE_SESSION + 1)]
    alone = said("alone", 2)
    read = read_told([*talk, alone], {}, ())
    parts = {each: {"active": 0.9 - place / 100} for place, each in enumerate(sorted(read))}
    thinned = thin_out(parts, read)
    fainter = [each for each in parts if thinned[each] != parts[each]]
    assert len(fainter) == 1
    assert thinned[fainter[0]]["active"] == pytest.approx(parts[fainter[0]]["active"] * CROWDED_SHARE)
    assert key("alone") not in fainter
