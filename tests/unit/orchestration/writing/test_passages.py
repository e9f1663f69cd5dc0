"""A long text is cut where its paragraphs and sentences end, and nothing of it is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing.passages import (
    WIDEST,
    WIDEST_CODE,
    cut,
    trim_runaway,
    width,
)

SENTENCE = "The river is wide and the boat is small."
CODE = "```python\n" + "value = compute(value)\n" * 60 + "```"


def parts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in cut(text)]


PIECES = st.sampled_from(
    [SENTENCE, "\n\n", "\n", " ", "# Heading\n", "- item\n", "```\n", "x" * 700, "漢字" * 200, CODE, "\t \n", "é."]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_visible_character_is_in_exactly_one_passage(text: str) -> None:
    end = 0
    for span in cut(text):
        assert not text[end : span.start].strip()
        assert text[span.start : span.end].strip() == text[span.start : span.end] != ""
        end = span.end
    assert not text[end:].strip()


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_passage_is_wider_than_the_model_reads_unless_it_is_code(text: str) -> None:
    assert all(width(part) <= (WIDEST_CODE if "```" in part else WIDEST) for part in parts(text))


@pytest.mark.parametrize(
    "text",
    ["x" * 10**6, "漢字" * 10**5, "```a\n" * 100_000, "\n \n" * 100_000 + "x", "(" * 100_000 + ".)" * 9],
)
def test_a_text_without_places_to_break_is_cut_all_the_same(text: str) -> None:
    assert sum(width(part) for part in parts(text)) <= width(text)
    assert all(width(part) <= WIDEST for part in parts(text))


@pytest.mark.parametrize(
    ("text", "kept", "note"),
    [
        (SENTENCE, SENTENCE, None),
        (f"{SENTENCE}\n\n", f"{SENTENCE}\n\n", None),
        (SENTENCE + " \n" * 500, SENTENCE, "1,000 blanks at the end of the text were cut"),
        (" " * 5000, "", "5,000 blanks at the end of the text were cut"),
        (
            SENTENCE + "ha " * 7000 + "ha",
            SENTENCE + "ha ha ha ",
            "the text ended in 7,000 repeats of 3 characters; 3 were kept",
        ),
        (
            SENTENCE + "x" * 21_000,
            SENTENCE + "xxx",
            "the text ended in 21,000 repeats of 1 character; 3 were kept",
        ),
        (SENTENCE * 30, SENTENCE * 30, None),
    ],
)
def test_what_a_runaway_left_at_the_end_is_cut_with_a_note(text: str, kept: str, note: str | None) -> None:
    assert trim_runaway(text)[1] == note
    assert trim_runaway(text).text.rstrip("ha ") == kept.rstrip("ha ")


@given(st.text(max_size=300), st.text(min_size=1, max_size=30), st.integers(0, 300))
def test_cutting_a_runaway_twice_is_cutting_it_once(start: str, unit: str, times: int) -> None:
    once = trim_runaway(start + unit * times)
    assert trim_runaway(once.text) == (once.text, None)
    assert (start + unit * times).startswith(once.text)
