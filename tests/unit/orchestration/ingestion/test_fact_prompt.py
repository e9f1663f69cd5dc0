"""The prompt for the facts of a conversation, and the check of each fact against the text."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.episodes import Episode, Session, Turn
from orchestration.ingestion.fact_prompt import (
    WINDOW_CHARACTERS,
    WINDOW_TURNS,
    Fact,
    Facts,
    Message,
    build_prompt,
    check_fact,
    split_windows,
)
from substrate.store.vocabulary import Vocabulary

MAY = datetime(2026, 5, 8, tzinfo=UTC)
WINDOW = (
    Message("1", "m1", "Ada", "We moved to Faro. Ben joined us.", MAY),
    Message("2", "m2", "Rui", "Lovely!", None),
)


def fact(**fields: Any) -> Fact:
    whole = {
        "subject": "Ada",
        "subject_type": "Person",
        "relation": "LIVES_IN",
        "object": "Faro",
        "object_type": "Place",
        "confidence": 0.9,
        "evidence": ["1"],
    }
    return Fact.model_validate({**whole, **fields})


def episode(*lengths: int) -> Episode:
    turns = tuple(Turn(f"D1:{place}", "Ada", "x" * length) for place, length in enumerate(lengths))
    return Episode("talk", "ada", (Session("D1", "s", None, turns),))


# --- windows ---------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 3_000), min_size=1, max_size=60))
def test_windows_hold_each_message_once_and_in_order(lengths: list[int]) -> None:
    windows = list(split_windows(episode(*lengths)))
    assert [message.key for window in windows for message in window] == [f"D1:{n}" for n in range(len(lengths))]
    for window in windows:
        assert 1 <= len(window) <= WINDOW_TURNS
        assert sum(len(message.text) for message in window) <= WINDOW_CHARACTERS


# --- the prompt ------------------------------------------------------------------------------------------


def test_each_example_answers_in_the_demanded_form_and_passes_the_check() -> None:
    _, *examples, _ = build_prompt(WINDOW, Vocabulary())
    for (_, shown), (_, answer) in zip(examples[::2], examples[1::2], strict=True):
        messages = json.loads(shown)["messages"]
        window = [Message(m["key"], m["key"], m["speaker"], m["text"], MAY) for m in messages]
        for each in Facts.model_validate_json(answer).facts:
            assert check_fact(each, window).relation == each.relation


# --- the check -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "instant"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-03", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-04", datetime(2026, 3, 4, tzinfo=UTC)),
    ],
)
def test_a_year_or_a_month_begins_with_its_first_day(day: str, instant: datetime) -> None:
    assert check_fact(fact(since=day), WINDOW).valid_at == instant


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"evidence": ["1", "9"]}, "was not given"),
        ({"evidence": ["2"]}, "do not mention"),
        ({"object": "Porto"}, "do not mention"),
        ({"object": "Far"}, "do not mention"),
        ({"object": "?"}, "do not mention"),
        ({"relation": "SAID_BY"}, "belongs to conversations"),
        ({"object_type": "Turn"}, "belongs to conversations"),
        ({"object": "ada"}, "with itself"),
        ({"since": "2026-05", "until": "2026-04"}, "ends before it begins"),
        ({"until": "2026-05-08"}, "ends before it begins"),
        ({"since": "2026-02-30"}, "day"),
    ],
)
def test_a_fact_that_its_messages_do_not_support_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_fact(fact(**fields), WINDOW)


def test_a_fact_without_any_time_may_not_have_an_end() -> None:
    with pytest.raises(ValueError, match="ends before it begins"):
        check_fact(
            fact(object="Rui", until="2026", evidence=["2"]), [WINDOW[1], Message("3", "m3", "Ada", "", None)]
        )
