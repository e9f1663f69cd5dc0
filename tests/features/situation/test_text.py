"""The situation as text: its order, and that it is never longer than asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.situation.text import tell
from orchestration.features.situation.values import Change, Changes, Context, Shown, Situation, Stimulus
from schemas.memory import Level
from schemas.mind.state import CitizenState
from substrate.inference.tokens import by_characters

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


WHOLE = situation(
    since=THEN,
    stimuli=[Stimulus(kind="given", text="Hello\nthere", speaker="Egor", strength=1, reason="it was given")],
    focus="the rent",
    contexts=[context("We met.")],
    rules=[{"rule": "Ask.", "memory_ids": ["m"]}],
    changes=Changes(
        new=(Change(memory_id="a", level=Level.N1, text="a new one", at=THEN),),
        corrected=(Change(memory_id="b", level=Level.N1, text="now", before="then", at=THEN),),
        more={"new": 3},
    ),
    window=[Shown(text="seen"), Shown(memory_id="gone")],
)


def test_the_text_has_a_line_for_each_part_in_the_order_of_weight() -> None:
    assert tell(WHOLE, 1_000, by_characters).text == (
        "# State\n- energy 0.5, joy 0.5\n- goal: rest\n\n"
        "# To answer to\n- Egor: Hello there\n\n"
        "# In mind\n- the rent\n\n"
        "# Rules\n- Ask.\n\n"
        "# Working memory\n- [2 January 2026] n: We met. (resonates 0.50)\n\n"
        "# Changed since 2 January 2026\n- corrected: now (before: then)\n- new: a new one\n- new: 3 more\n\n"
        "# Seen in the last cycle\n- seen"
    )


@given(st.lists(st.text(max_size=400), max_size=9), st.integers(1, 300), st.sampled_from((1, 4)))
def test_the_text_is_never_longer_than_asked(texts: list[str], most: int, width: int) -> None:
    def count(text: str) -> int:
        return -(-len(text) // width)

    told = tell(situation(contexts=[context(text) for text in texts]), most, count)
    assert told.tokens == count(told.text) <= most
    lines = sum(line.startswith("- ") for line in told.text.split("\n"))
    assert lines + told.left_out == 2 + len(texts)


def test_a_budget_of_one_token_has_no_text_and_says_how_much_is_missing() -> None:
    told = tell(WHOLE, 1, by_characters)
    assert (told.text, told.tokens) == ("", 0)
    assert told.left_out == 10


def test_a_count_that_grows_with_the_whole_is_kept_too() -> None:
    def count(text: str) -> int:
        return len(text) + 10 * text.count("#") ** 2

    told = tell(WHOLE, 120, count)
    assert 0 < told.tokens <= 120
