"""The state as `substrate identity` prints it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rich.console import Console

from api.faces.identity import show
from orchestration.features.identity.values import Identity
from schemas.mind.state import CitizenState, Drive

AT = datetime(2026, 1, 1, tzinfo=UTC)
FELT = {"emotion_vector": {"joy": 0.5}, "goal": "reach\nthe shore", "drives": {"rest": Drive(satisfaction=0.25)}}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            CitizenState.model_validate({"citizen_id": "ada", "energy": 0.75, "updated_at": AT, **FELT}),
            "state: energy 0.75, joy 0.50, goal: reach the shore, drives: rest 0.25",
        ),
        (CitizenState(citizen_id="ada", updated_at=AT), "state: energy 0.50"),
        (CitizenState(citizen_id="ada"), ""),
    ],
)
def test_the_state_is_shown_where_one_was_set(state: CitizenState, said: str) -> None:
    console = Console(width=200)
    with console.capture() as shown:
        show(Identity(citizen_id="ada", as_of_time=AT, known_at=AT, state=state), console)
    assert shown.get().strip() == said
