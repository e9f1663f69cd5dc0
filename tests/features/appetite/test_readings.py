"""What a citizen has to wake for, what is due, and what it decides, from values alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.appetite.choice import ask_wider, decide
from orchestration.features.appetite.due import find_due, most_due
from orchestration.features.appetite.formulas import DAY, HOUR
from orchestration.features.appetite.queries import Fresh, Stirring
from orchestration.features.appetite.readings import Facts, pressure_of, read_readings
from schemas.intention import QueryMode
from schemas.memory import HALF_LIVES, Level
from schemas.mind.appetite import Appetite, Decision, IntendRequest, LastAsked
from schemas.mind.state import CitizenState, Drive, Sense, StateSource
from schemas.temporal import TemporalMode, to_datetime, to_instant

NOW = to_instant(datetime(2026, 3, 5, 10, tzinfo=UTC))
"""A Thursday."""


def memory(memory_id: str = "m", **fields: Any) -> Stirring:
    values = {
        "kind": "said", "graph": Level.N1, "id": memory_id, "name": memory_id, "speaker": None, "text": memory_id,
        "work": None, "energy": 0.5, "goal": None, "rule": None, "valid_at": NOW - HOUR, "created_at": NOW - HOUR,
    }  # fmt: skip
    return Stirring(**{**values, **fields})


def blocked(memory_id: str = "b", **fields: Any) -> Stirring:
    return memory(memory_id, **{"kind": "open", "work": "blocked", "energy": 0.9, **fields})


def asked(hours: float) -> LastAsked:
    return LastAsked(stream_id="s", at=to_datetime(NOW - int(hours * HOUR)), levels=(Level.N1,))


def state(**fields: Any) -> CitizenState:
    return CitizenState(citizen_id="ada", **fields)


def read(*own: Stirring, **fields: Any) -> Appetite:
    values = {"state": state(), "last": asked(1), "half_lives": HALF_LIVES, **fields}
    return read_readings(Facts("ada", NOW, UTC, own=own, **values))


def decision(*own: Stirring, request: IntendRequest | None = None, **fields: Any) -> Decision:
    return decide(read(*own, **fields), request or IntendRequest())


# --- readings --------------------------------------------------------------------------------------------------


def test_every_reading_is_there_once_the_strongest_first_each_with_its_reason() -> None:
    appetite = read(blocked())
    assert sorted(each.name for each in appetite.readings) == [
        "context", "context_hunger", "drives", "due", "pain", "revaluations", "unresolved_tension",
    ]  # fmt: skip
    amounts = [each.amount for each in appetite.readings]
    assert amounts == sorted(amounts, reverse=True)
    assert all(each.reason for each in appetite.readings)


def test_tension_names_what_pulls_most() -> None:
    appetite = read(blocked("oven", text="The oven trips again"), memory("bread", kind="open", work="in_progress"))
    tension = appetite.reading("unresolved_tension")
    assert [source.id for source in tension.sources] == ["oven", "bread"]
    assert tension.reason == "“oven” is blocked, and 1 more is open"
    assert appetite.tension_source == "The oven trips again"


def test_what_another_person_says_pulls_half() -> None:
    of_ada, of_bob = (read(blocked(speaker=name)).amount("unresolved_tension") for name in ("Ada", "Bob"))
    assert of_bob == pytest.approx(of_ada / 2, abs=1e-3)


def test_a_citizen_that_never_asked_lacks_all_context_unless_there_is_nothing_or_nothing_is_noted() -> None:
    assert read(blocked(), last=None).amount("context_hunger") == 1.0
    assert read(last=None, remembered=False).amount("context_hunger") == 0.0
    assert read(blocked(), last=None, noted=False).amount("context_hunger") == 0.0
    assert "notes no streams" in read(blocked(), last=None, noted=False).reading("context_hunger").reason


def test_news_of_others_make_hunger_and_are_named() -> None:
    fresh = [Fresh(12, [memory(f"n{place}", kind="fresh", graph="N2:atlas") for place in range(10)])]
    hunger = read(fresh=fresh).reading("context_hunger")
    assert hunger.amount > 0.7
    assert (len(hunger.sources), hunger.further) == (8, 2)
    assert (hunger.sources[0].level, hunger.sources[0].collective) == (Level.N2, "atlas")


def test_pain_comes_with_the_memories_that_tell_it() -> None:
    source = StateSource(field="emotion_vector", name="sad", amount=0.6, memory_ids=("m",))
    pain = read(memory("m", name="The letter"), state=state(emotion_vector={"sad": 0.6}, sources=(source,)))
    assert pain.reading("pain").amount == 0.6
    assert [each.name for each in pain.reading("pain").sources] == ["The letter"]


def test_a_sensed_pain_counts_where_it_is_stronger_than_what_is_felt() -> None:
    feeling = {"emotion_vector": {"grief": 0.4}}
    sensed = read(state=state(senses={"pain": Sense(intensity=0.8, text="the knee")}, **feeling)).reading("pain")
    assert (sensed.amount, sensed.reason) == (0.8, "it senses pain 0.8: the knee")
    assert read(state=state(senses={"pain": Sense(intensity=0.2)}, **feeling)).amount("pain") == 0.4


def test_the_drive_that_lacks_most_is_named() -> None:
    drives = {"connection": Drive(satisfaction=0.15), "order": Drive(satisfaction=0.25), "play": Drive()}
    lacking = read(state=state(drives=drives)).reading("drives")
    assert (lacking.amount, lacking.reason) == (0.5, "the drive connection has a satisfaction of 0.15")
    assert read(state=state(drives={"play": Drive()})).amount("drives") == 0.0


def test_only_what_is_new_since_the_last_stream_touches_a_goal_and_not_what_the_goal_was_read_from() -> None:
    source = StateSource(field="goal", name="a flat in Ghent", amount=0.5, memory_ids=("told",))
    wanting = state(goal="a flat in Ghent", sources=(source,))
    seen = [
        memory("told", text="I want a flat in Ghent", created_at=NOW),
        memory("old", text="the flat in Ghent is gone", created_at=NOW - 9 * HOUR),
        memory("new", text="another flat in Ghent", created_at=NOW),
        memory("other", text="tea with milk", created_at=NOW),
    ]
    touching = read(*seen, state=wanting).reading("context")
    assert [each.id for each in touching.sources] == ["new"]
    assert read(*seen).amount("context") == 0.0


def test_memories_to_judge_anew_are_counted() -> None:
    waiting = [memory(f"w{place}", kind="waiting") for place in range(10)]
    assert read(*waiting).amount("revaluations") == 0.5


# --- due -------------------------------------------------------------------------------------------------------


def test_what_is_due_comes_from_words_from_what_begins_and_from_rules_that_come_back() -> None:
    found = find_due(
        [
            memory("dentist", text="the dentist is tomorrow", valid_at=NOW - DAY),
            memory("lease", kind="planned", valid_at=NOW + DAY),
            memory("bins", kind="rule", rule="remind me of the bins every Thursday"),
            memory("done", text="I send it by Friday", work="resolved", goal="send it"),
            memory("long ago", text="the dentist is tomorrow", valid_at=NOW - 30 * DAY),
            memory("story", text="every Monday I sing"),
        ],
        NOW,
        UTC,
    )
    assert [(each.memory.id, each.amount) for each in found] == [("bins", 1.0), ("dentist", 1.0), ("lease", 0.5)]
    assert most_due(found) == 1.0
    assert most_due([]) == 0.0


def test_a_rule_that_comes_back_is_due_once_each_time() -> None:
    rule = memory("bins", kind="rule", rule="remind me of the bins every Thursday")
    assert find_due([rule], NOW, UTC, last=NOW - HOUR) == []
    assert find_due([rule], NOW, UTC, last=NOW - DAY) != []


def test_pressure_is_the_kept_one_else_that_of_what_is_due_else_one_half() -> None:
    due = find_due([memory("dentist", text="dentist tomorrow", valid_at=NOW - DAY)], NOW, UTC)
    assert pressure_of(state(reality_pressure=0.2), due) == (0.2, "kept")
    assert pressure_of(state(), due) == (1.0, "due")
    assert pressure_of(state(), []) == (0.5, "default")


# --- decisions -------------------------------------------------------------------------------------------------


def test_hunger_asks_broadly_about_the_active_contexts() -> None:
    wanting = state(goal="a flat in Ghent")
    made = decision(blocked("oven"), last=asked(30), state=wanting, mentioned=["Femke"])
    assert (made.kind, made.reading) == ("broad", "context_hunger")
    assert made.intention is not None
    assert made.intention.query_text == "Recent developments in a flat in Ghent, oven, Femke"
    assert (made.intention.temporal_mode, made.intention.min_energy) == (TemporalMode.CURRENT, 0.5)
    assert made.intention.required_emotions is None


def test_tension_asks_for_past_experiences_with_any_of_the_dominant_emotions() -> None:
    made = decision(blocked(text="The oven trips"), state=state(emotion_vector={"anger": 0.8, "fear": 0.7}))
    assert made.kind == "similar"
    assert made.intention is not None
    assert made.intention.query_text == "Past experiences similar to The oven trips"
    assert (made.intention.temporal_mode, made.intention.min_energy) == (TemporalMode.EVOLUTION, 0.5)
    assert (made.intention.required_emotions, made.intention.emotions_match) == (("anger", "fear"), "any")
    wider = ask_wider(made)
    assert wider is not None
    assert wider.intention is not None
    assert (wider.intention.required_emotions, wider.intention.emotions_match) == (None, "all")
    assert wider.intention.query_text == made.intention.query_text
    assert ask_wider(wider) is None


@pytest.mark.parametrize(
    ("fields", "reading", "mode"),
    [
        ({"state": state(emotion_vector={"grief": 0.7})}, "pain", QueryMode.SIMILAR_STATE),
        ({"state": state(drives={"play": Drive(satisfaction=0.1)})}, "drives", QueryMode.RELATED_UNRESOLVED),
    ],
)
def test_anything_else_that_is_strong_wakes_from_the_state(
    fields: dict[str, Any], reading: str, mode: QueryMode
) -> None:
    made = decision(**fields)
    assert (made.kind, made.reading) == ("state", reading)
    assert made.state is not None
    assert made.state.query_mode is mode


def test_nothing_is_decided_where_nothing_is_strong_and_the_answer_says_why() -> None:
    made = decision(memory("tea"))
    assert (made.kind, made.intention, made.state) == ("nothing", None, None)
    assert made.why.startswith("nothing is strong enough: context_hunger 0.06")
    hungry = decision(last=asked(99))
    assert hungry.kind == "nothing"
    assert hungry.why.endswith("but nothing tells what its contexts are")


def test_the_options_of_the_request_are_those_of_what_is_asked() -> None:
    request = IntendRequest(max_tokens=300, form="compact", explain=True, query_levels=(Level.N1,))
    for made in (decision(blocked(), request=request), decision(
        state=state(emotion_vector={"grief": 0.7}), request=request)):  # fmt: skip
        what = made.intention or made.state
        assert what is not None
        assert (what.max_tokens, what.form, what.explain) == (300, "compact", True)
        assert what.query_levels == (Level.N1,)


@given(
    energies=st.lists(st.floats(0.0, 1.0), max_size=8),
    hours=st.floats(0.0, 1_000.0) | st.none(),
    felt=st.floats(0.0, 1.0),
    news=st.integers(0, 100),
)
def test_any_facts_give_amounts_in_range_and_one_decision(
    energies: list[float], hours: float | None, felt: float, news: int
) -> None:
    work = [blocked(f"b{place}", energy=energy) for place, energy in enumerate(energies)]
    appetite = read(
        *work,
        last=None if hours is None else asked(hours),
        state=state(emotion_vector={"sadness": felt}),
        fresh=[Fresh(news)],
    )
    assert all(0.0 <= each.amount <= 1.0 for each in appetite.readings)
    made = decide(appetite, IntendRequest())
    assert sum(each is not None for each in (made.intention, made.state)) == (made.kind != "nothing")
    assert made.why
