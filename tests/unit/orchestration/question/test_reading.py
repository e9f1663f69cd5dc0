"""Speakers, tasks and times that are read in a question, and the gain of a memory that fits them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestration.question.reading import read_question
from orchestration.question.requests import Request
from schemas.memory import Level

NOW = datetime(2023, 7, 12, tzinfo=UTC)
N1 = Level.N1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("When is my deadline?", {"own"}),
        ("Could you show me how to log in?", {"own", "request"}),
        ("How many days did I need?", {"own"}),
        ("What did you recommend to me?", {"own", "others"}),
        ("What would you suggest for my garden?", {"own", "request"}),
        ("In which order did we go?", {"own", "broad", "orders"}),
        ("List what I brought up, in order", {"own", "broad", "orders"}),
        ("What did Ann change in order to win?", set()),
        ("Summarize the timeline of my project", {"own", "broad", "whole"}),
        ("Give me a summary of my project", {"own", "broad", "whole"}),
        ("What did Caroline research?", set()),
        ("Où est-ce que j'ai laissé mes lunettes ?", {"own"}),
        ("Que m'as-tu conseillé pour la sauce ?", {"own", "others"}),
        ("Peux-tu faire un résumé de notre projet ?", {"own", "broad", "whole"}),
        ("我把眼镜放在哪里了？", {"own"}),
        ("你给我推荐了什么菜？", {"own", "others"}),
        ("私の眼鏡はどこにある？", {"own"}),
        ("どの本を勧めてくれた？", {"others"}),
        ("When did Yo-Yo Ma play the cello?", set()),
    ],
)
def test_a_question_is_read(text: str, said: set[str]) -> None:
    question = read_question(text, NOW)
    flags = ("own", "others", "broad", "whole", "orders")
    requests = {"request"} if question.request is Request.SURE else set()
    assert {name for name in flags if getattr(question, name)} | requests == said
