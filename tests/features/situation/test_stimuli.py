"""What there is to answer to, and the signal that is made of it."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.features.situation.queries import NewestMemory
from orchestration.features.situation.stimuli import (
    MESSAGES_SHOWN,
    felt_stimuli,
    given_stimuli,
    heard,
    message_stimuli,
    signal_fields,
)
from orchestration.features.situation.values import GivenStimulus, Shown
from schemas.mind.state import CitizenState
from schemas.wave_signal import Resonate


def state(**fields: Any) -> CitizenState:
    return CitizenState.model_validate({"citizen_id": "kai", **fields})


def said(place: int, speaker: str | None = "Egor", known: int = 0) -> NewestMemory:
    return NewestMemory(f"m{place}", speaker, f"text {place}", valid_at=place, known_at=known or place)


def test_pain_low_drives_and_senses_are_stimuli_the_strongest_first() -> None:
    kept = {
        "senses": {"Pain": 0.9, "smell": {"text": "smoke", "intensity": 0.4}, "cold": 0.0},
        "drives": {"rest": {"satisfaction": 0.15}, "play": {"satisfaction": 0.3}},
    }
    found = [(one.kind, one.text, round(one.strength, 2)) for one in felt_stimuli(state(**kept))]
    assert found == [("pain", "Pain", 0.9), ("drive", "rest", 0.5), ("sense", "smell: smoke", 0.4)]


def test_messages_are_those_of_others_since_the_last_cycle_in_the_order_of_time() -> None:
    newest = [said(5), said(4, "Kai"), said(3, "assistant"), said(2, None), said(1)]
    assert [one.memory_id for one in heard(newest, "kai", 2, given=False)] == ["m5"]
    assert [one.memory_id for one in heard(newest, "kai", 1, given=True)] == ["m1", "m5"]
    assert [one.memory_id for one in heard(newest, "kai", None, given=False)] == ["m1", "m5"]
    assert heard(newest, "kai", None, given=True) == [], "what was given is what there is to answer to"
    many = heard([said(place) for place in range(9, 0, -1)], "kai", 0, given=False)
    shown = list(message_stimuli(many, 0))
    assert [one.text for one in shown] == [f"text {place}" for place in range(10 - MESSAGES_SHOWN, 10)]


@pytest.mark.parametrize(
    ("kept", "given", "feeling"),
    [
        ({"senses": {"pain": 0.6}, "emotion_vector": {"joy": 0.9}}, "Hello", ("hurt", 0.6, "negative")),
        ({"emotion_vector": {"joy": 0.9, "calm": 0.2}}, "We met", ("joy", 0.9, None)),
        ({"emotion_vector": {"joy": 0.9}}, "I am so afraid", (None, None, None)),
        ({}, "We met", (None, None, None)),
    ],
)
def test_the_emotion_is_pain_else_that_of_the_texts_which_is_read_later_else_the_felt_one(
    kept: dict[str, Any], given: str, feeling: tuple[Any, ...]
) -> None:
    stimuli = list(given_stimuli([GivenStimulus(text=given)]))
    fields = signal_fields([], stimuli, None, state(**kept))
    assert tuple(fields.get(name) for name in ("emotion", "intensity", "result")) == feeling


def test_the_signal_has_the_window_then_the_stimuli_and_is_compared_by_what_there_is_to_answer() -> None:
    window = [Shown(memory_id="w", text="seen"), Shown(memory_id="gone"), Shown(text="read")]
    low = {"drives": {"rest": {"satisfaction": 0.1}}}
    stimuli = [*given_stimuli([GivenStimulus(text="x" * 5_000)] * 32), *felt_stimuli(state(**low))]
    fields = signal_fields(window, stimuli, "the rent", state(**low))
    signal = Resonate(citizen_id="kai", **fields)
    assert [item.id for item in signal.window[:3]] == ["w", "gone", None]
    assert len(signal.window) == 3 + 32, "a drive has no words"
    assert signal.drive_bias == {"rest": 0.1}
    assert signal.query_text is not None
    assert "seen" not in signal.query_text
    quiet = signal_fields(window, [], "the rent", state())
    assert quiet["query_text"] == "the rent"


def test_without_anything_there_is_no_signal() -> None:
    fields = signal_fields([], [], None, state())
    assert not any(value for name, value in fields.items() if name != "weights")
