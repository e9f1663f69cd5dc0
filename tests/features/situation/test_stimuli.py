"""What there is to answer to, and the signal that is made of it."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.features.situation.stimuli import (
    given_stimuli,
    signal_fields,
)
from orchestration.features.situation.values import GivenStimulus
from schemas.mind.state import CitizenState


def state(**fields: Any) -> CitizenState:
    return CitizenState.model_validate({"citizen_id": "kai", **fields})


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
