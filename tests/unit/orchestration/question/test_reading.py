"""Speakers, tasks and times that are read in a question, and the gain of a memory that fits them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from orchestration.question.reading import Request, read_question
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
        ("List the sequence in which I raised each worry", {"own", "broad", "orders"}),
        ("Walk me through the order of events of my move", {"own", "broad", "orders"}),
        ("Show me the timeline of what I tried", {"own", "broad", "orders"}),
        ("How did my plans develop, in order?", {"own", "broad", "orders"}),
        ("In welcher zeitlichen Abfolge habe ich umgebaut?", {"own", "broad", "orders"}),
        ("What is the timeline for my project?", {"own"}),
        ("What did we change in order for it to fit?", {"own"}),
        ("Is my list in order of price?", {"own"}),
        ("Recap my search for a flat", {"own", "broad", "whole"}),
        ("Bring me up to speed on my thesis", {"own", "broad", "whole"}),
        ("How has my garden developed since spring?", {"own", "broad", "whole"}),
        ("Walk me through how I found my flat", {"own", "broad", "whole"}),
        ("Tell me everything I said about my thesis", {"own", "broad", "whole"}),
        ("Wie hat sich mein Garten entwickelt?", {"own", "broad", "whole"}),
        ("Gib mir einen Rückblick auf meinen Umbau", {"own", "broad", "whole"}),
        ("Walk me through how to log in", {"own", "request"}),
        ("Walk me through how I should log in", {"own", "request"}),
        ("How did my exam go?", {"own"}),
        ("Comment mon jardin a-t-il évolué ?", {"own", "broad", "whole"}),
        ("我的计划是如何发展的？", {"own", "broad", "whole"}),
        ("私の計画はどのように発展した？", {"own", "broad", "whole"}),
    ],
)
def test_a_question_is_read(text: str, said: set[str]) -> None:
    question = read_question(text, NOW)
    flags = ("own", "others", "broad", "whole", "orders")
    requests = {"request"} if question.request is Request.SURE else set()
    assert {name for name in flags if getattr(question, name)} | requests == said


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("Which sports has he done?", True),
        ("What kinds of pots did Ann make?", True),
        ("Where has Jo lived during the year?", True),
        ("Everything about Sanjay's work", True),
        ("How often did Jo cry?", True),
        ("What did Ellen say about her son?", True),
        ("What is Caroline's identity?", False),
        ("What does Ann drive?", False),
        ("Which dress did she choose?", False),
        ("When did Ann move?", False),
        ("What was James reading?", False),
        ("Welche Sportarten macht sie?", True),
        ("Was für Bücher liest er?", True),
        ("Wo wohnt Anna?", False),
        ("Quels sports a-t-elle faits ?", True),
        ("Où habite Anna ?", False),
        ("她去过哪些地方？", True),
        ("她住在哪里？", False),
        ("彼女はどんなスポーツをした？", True),
        ("彼女はどこに住んでいる？", False),
    ],
)
def test_a_question_that_several_memories_answer_is_told_from_one_that_asks_for_one_thing(
    text: str, several: bool
) -> None:
    assert read_question(text, NOW).several is several


@pytest.mark.parametrize("blanks", ["\n", " ", "\u3000", " \t\r\n"], ids=["lines", "blanks", "wide", "mixed"])
def test_a_question_with_a_long_run_of_blanks_is_read_as_with_a_single_one(blanks: str) -> None:
    asked = f"Where did Anna live{blanks * 50_000}two days before my birthday?{blanks * 50_000}"
    single = "\n" if "\n" in blanks else " "
    question = read_question(f"Where did Anna live{single}two days before my birthday?", NOW)
    assert read_question(asked, NOW) == replace(question, text=asked)
