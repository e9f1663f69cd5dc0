"""What a signal takes from its request, from window and focus, and from the state of the citizen (002)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.resonance.ask import READ_WORDS, read_feeling, read_window, unsatisfied_drives, with_kept
from schemas.errors import InvalidRequest
from schemas.mind.state import CitizenState
from schemas.wave_signal import Resonate


def request(**fields: Any) -> Resonate:
    return Resonate.model_validate({"citizen_id": "kai", "nodes": ["Kai"], **fields})


def state(**fields: Any) -> CitizenState:
    return CitizenState.model_validate({"citizen_id": "kai", **fields})


@given(st.lists(st.integers(1, 200), min_size=1, max_size=4), st.integers(0, 200))
def test_the_last_words_of_the_window_and_then_of_the_focus_are_read(sizes: list[int], focus: int) -> None:
    texts = [" ".join(f"w{place}x{number}" for number in range(size)) for place, size in enumerate(sizes)]
    focus_words = [f"f{number}" for number in range(focus)]
    whole = [*" ".join(texts).split(), *focus_words]
    window = read_window(request(window=texts, focus=" ".join(focus_words) or None))
    assert window.text.split() == whole[-READ_WORDS:]
    assert window.cut == (len(whole) > READ_WORDS)


@pytest.mark.parametrize(
    ("fields", "felt", "feeling"),
    [
        ({"emotion": "Happy"}, {"fear": 0.9}, ("joy", 1.0)),
        ({"emotion": "joy", "intensity": 0.5}, {}, ("joy", 0.5)),
        ({"focus": "I was so afraid"}, {"joy": 0.9}, ("fear", 1.0)),
        ({"focus": "I was not afraid"}, {"joy": 0.25}, ("joy", 0.25)),
        ({"focus": "I went home"}, {"joy": 0.25, "calm": 0.5}, ("calm", 0.5)),
        ({"focus": "I went home", "intensity": 0.125}, {"joy": 0.25}, ("joy", 0.125)),
        ({}, {"joy": 0.25}, (None, 1.0)),
        ({"focus": "I went home"}, {}, (None, 1.0)),
    ],
)
def test_the_emotion_is_that_of_the_request_else_of_the_text_else_of_the_state(
    fields: dict[str, Any], felt: dict[str, float], feeling: tuple[str | None, float]
) -> None:
    asked = request(**fields)
    assert read_feeling(asked, asked.focus or "", state(emotion_vector=felt)) == feeling


@pytest.mark.parametrize(
    ("kept", "fields"),
    [
        (
            {"window": [{"id": "m1"}, {"text": "Tea?"}], "senses": {"message": "Come", "hunger": 0.4}},
            {"window": ["Sun rose", "Tea?", "Come"]},
        ),
        ({"window": [{"id": "gone"}], "focus": "rent"}, {"window": [None], "focus": "rent"}),
        (
            {"senses": {"Pain": 0.7}, "drives": {"rest": {"satisfaction": 0.2}}},
            {"emotion": "hurt", "intensity": 0.7, "result": "negative"},
        ),
        ({"senses": {"pain": 0.5}, "focus": "rent"}, {"focus": "rent"}),
        ({"emotion_vector": {"joy": 0.4}}, {}),
        ({"drives": {"rest": {"satisfaction": 0.1}}}, {}),
    ],
)
def test_a_request_that_asks_nothing_takes_what_the_state_keeps(kept: Any, fields: dict[str, Any]) -> None:
    asked = with_kept(Resonate(citizen_id="kai"), state(**kept), {"m1": "Sun rose"})
    assert [item.text for item in asked.window] == fields.pop("window", [])
    said = ("focus", "emotion", "intensity", "result")
    assert {name: getattr(asked, name) for name in said} == {**dict.fromkeys(said), **fields}
    low = {name: drive for name, drive in kept.get("drives", {}).items() if drive["satisfaction"] < 0.3}
    assert list(unsatisfied_drives(asked, state(**kept))) == list(low)


@pytest.mark.parametrize("kept", [{}, {"emotion_vector": {"joy": 0.0}}, {"senses": {"pain": 0.5}}])
def test_a_state_that_keeps_nothing_has_no_signal(kept: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="the signal is empty"):
        with_kept(Resonate(citizen_id="kai"), state(**kept), {})
