"""What a citizen has to wake for, what is due, and what it decides, from values alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.appetite.queries import Fresh, Stirring
from orchestration.features.appetite.readings import (
    DAY,
    HOUR,
    Facts,
    ask_wider,
    decide,
    find_due,
    most_due,
    read_readings,
)
from schemas.intention import QueryMode
from schemas.memory import HALF_LIVES, Level
from schemas.mind.appetite import Appetite, Decision, IntendRequest, LastAsked
from schemas.mind.state import CitizenState, Drive
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
