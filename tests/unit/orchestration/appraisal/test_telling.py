"""A turn that only asks, gives thanks or repeats what was given tells nothing; any other one tells something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.telling import read_silence

GIVEN = ("My oven is from 2009.", "How old is my oven?")


@pytest.mark.parametrize(
    "text",
    [
        "What is my bank account number?",
        "what is my dentist called",
        "Do you know where I live?",
        "I wonder what my IBAN is.",
        "Remind me who my dentist is",
        "If I moved to Oslo, what would the rent be?",
        "Hey Mira, how's it going?",
        "Wo wohne ich?",
        "wer ist mein zahnarzt",
        "私の銀行口座番号は何ですか？",
    ],
)
def test_a_turn_that_only_asks_is_a_question(text: str) -> None:
    assert read_silence(text) == "Question"


@pytest.mark.parametrize("text", ["Thanks!", "ok cool", "👍", "Vielen Dank!", "Noted.", "Alles klar"])
def test_thanks_and_acknowledgement_are_courtesy(text: str) -> None:
    assert read_silence(text) == "Courtesy"


@pytest.mark.parametrize(
    "text",
    [
        "My oven is from 2009.",
        "Since I moved to Faro, which bus do I take?",
        "Which bus do I take now that I live in Faro?",
        "Seit ich in Faro wohne, welchen Bus nehme ich?",
        "Where did I put it? I need it for Friday.",
        "Yes, nuts.",
        'The exam question was "What is the capital of Peru?"',
        "https://example.org/z",
        "```\nx = 1\n```",
        "aGVsbG8gd29ybGQ=",
        "Hab ihr den Zettel gestern gegeben",
        "I am not sure about the move to Oslo.",
    ],
)
def test_what_tells_something_is_no_silence(text: str) -> None:
    assert read_silence(text) is None


@pytest.mark.parametrize(
    "text",
    ["I am not sure.", "I don't have your bank account number.", "Das weiß ich nicht.", "No record of that."],
)
def test_the_answering_side_tells_nothing_where_it_does_not_know(text: str) -> None:
    assert read_silence(text, answers=True) == "Courtesy"


@pytest.mark.parametrize(
    "text", ["You said: My oven is from 2009.", "Your oven is from 2009.", "It is from 2009."]
)
def test_an_answer_that_repeats_what_was_given_is_an_echo(text: str) -> None:
    assert read_silence(text, answers=True, given=GIVEN) == "Echo"


@pytest.mark.parametrize(
    "text",
    [
        "Your oven is from 2012.",
        "I ordered the new filter, it arrives on Tuesday.",
        "Your oven is from 2009; the warranty ended in 2014.",
    ],
)
def test_an_answer_with_a_fact_of_its_own_is_none(text: str) -> None:
    assert read_silence(text, answers=True, given=GIVEN) is None


def test_the_asker_repeats_nothing() -> None:
    assert read_silence("My oven is from 2009.", given=GIVEN) is None


@given(st.text(max_size=400), st.booleans())
def test_any_text_can_be_read(text: str, answers: bool) -> None:
    assert read_silence(text, answers=answers, given=(text,)) in (None, "Question", "Courtesy", "Echo")
