"""What is read of a memory is read once, and kept with its record."""

from __future__ import annotations

from orchestration.ranking.texts import ReadText, told_by
from schemas.temporal import END_OF_TIME
from substrate.text import stems, words
from tests.builders import a_memory


def test_what_was_read_of_a_record_is_found_again() -> None:
    memory = a_memory("m", description="I moved to Lisbon")
    again = a_memory("m", description="I moved to Lisbon")
    again.derived = memory.derived
    assert told_by(memory) is told_by(again)


def test_words_and_stems_of_name_and_text_are_those_of_both() -> None:
    told = told_by(a_memory("m", name="Old house", description="The houses stand, 掃除機 too"))
    assert told.lexical.text == "Old house The houses stand, 掃除機 too"
    assert list(told.lexical.words) == words(told.lexical.text)
    assert told.lexical.stems() == stems(told.lexical.text)
    assert told.lexical.counts()["hous"] == 2


def test_a_turn_is_read_without_its_name() -> None:
    told = told_by(a_memory("t", name="Turn 7", description="hello there", speaker="Ada"))
    assert told.lexical is told.text
    assert told.speaker == told.by == "ada"


def test_what_ended_or_has_no_words_does_not_speak() -> None:
    assert told_by(a_memory("m", description="words")).speaks(END_OF_TIME)
    assert not told_by(a_memory("m")).speaks(END_OF_TIME)
    assert not told_by(a_memory("m", description="words", invalid_at=5)).speaks(END_OF_TIME)
    assert not told_by(a_memory("m", description="words", expired_at=5)).speaks(END_OF_TIME)
    assert told_by(a_memory("m", description="words", expired_at=5)).speaks(5)


def test_a_text_without_words_has_one_empty_clause() -> None:
    assert [clause.text for clause in ReadText(" ").clauses] == [""]
    assert [clause.text for clause in ReadText("I came. I saw, and went").clauses] == [
        "I came.",
        "I saw",
        "and went",
    ]
