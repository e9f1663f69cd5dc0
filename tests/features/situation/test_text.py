"""The situation as text: its order, and that it is never longer than asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.situation.stimuli import tell
from orchestration.features.situation.values import Context, Situation
from schemas.memory import Level
from schemas.mind.state import CitizenState

THEN = datetime(2026, 1, 2, tzinfo=UTC)


def situation(**fields: Any) -> Situation:
    whole: dict[str, Any] = {
        "citizen_id": "kai",
        "at": THEN,
        "state": CitizenState(citizen_id="kai", emotion_vector={"joy": 0.5}, goal="rest"),
        "text": "",
        "tokens": 0,
        **fields,
    }
    return Situation.model_validate(whole)


def context(text: str) -> Context:
    return Context(memory_id="m", level=Level.N1, name="n", description=text, valid_at=THEN, score=0.5)


@given(st.lists(st.text(max_size=400), max_size=9), st.integers(1, 300), st.sampled_from((1, 4)))
def test_the_text_is_never_longer_than_asked(texts: list[str], most: int, width: int) -> None:
    def count(text: str) -> int:
        return -(-len(text) // width)

    told = tell(situation(contexts=[context(text) for text in texts]), most, count)
    assert told.tokens == count(told.text) <= most
    lines = sum(line.startswith("- ") for line in told.text.split("\n"))
    assert lines + told.left_out == 2 + len(texts)
