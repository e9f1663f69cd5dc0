"""What a question says beside its content, and what a memory has from it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestration.question.reading import is_asking, is_standing_instruction, read_question, without_names
from schemas.memory import Level

NOW = datetime(2023, 7, 12, tzinfo=UTC)
N1 = Level.N1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("When is my deadline?", {"own", "seeks_action"}),
        ("Could you show me how to log in?", {"own", "seeks_action"}),
        ("How many days did I need?", {"own"}),
        ("What did you recommend to me?", {"own", "others"}),
        ("In which order did we go?", {"own", "broad", "orders"}),
        ("List what I brought up, in order", {"own", "broad", "orders"}),
        ("What did Ann change in order to win?", set()),
        ("Summarize the timeline of my project", {"own", "broad", "whole"}),
        ("Give me a summary of my project", {"own", "broad", "whole"}),
        ("What did Caroline research?", set()),
    ],
)
def test_a_question_is_read(text: str, said: set[str]) -> None:
    question = read_question(text, NOW)
    flags = ("own", "others", "broad", "whole", "orders", "seeks_action")
    assert {name for name in flags if getattr(question, name)} == said


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("What did Caroline research?", "What did research?"),
        ("What is Caroline's identity?", "What is identity?"),
        ("What did caroline and Carolines dog do?", "What did and Carolines dog do?"),
        ("Caroline?", "Caroline?"),
        ("What did Ann do?", "What did Ann do?"),
    ],
)
def test_a_question_without_a_name_is_what_else_it_says(text: str, left: str) -> None:
    assert without_names(text, {"Caroline"}) == left
    assert without_names(text, ()) == text


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Always format dates in month-day-year style when I ask about deadlines.", True),
        ("I'm fine. Never use tabs.", True),
        ("I prefer e-books for their portability", True),
        ("I'd prefer tea", True),
        ("We always go there", False),
        ("I never said that", False),
    ],
)
def test_a_standing_wish_is_told_from_a_habit(text: str, wish: bool) -> None:
    assert is_standing_instruction(text) == wish


def test_a_turn_asks_when_it_ends_with_a_question() -> None:
    assert is_asking("That's great! What's your favourite?")
    assert not is_asking(f"Really? {'I went on and on. ' * 10}")
