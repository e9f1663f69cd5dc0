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
        "whats my pin",
        "which dentist do i go to",
        "who fixed the boiler in march",
        "Wann schließt die Bibliothek",
        "Good morning, can you tell me the gate code?",
        "Quick question, what's my PIN?",
        "I have a question. What is my PIN?",
        "I forgot my PIN, what is it?",
        "Give me the gate code",
        "私の銀行口座番号は何ですか？",
        "Would Caroline likely have Dr. Seuss books on her bookshelf?",
        "When did Caroline meet up with her friends, family, and mentors?",
        "What painting did Melanie show to Caroline on October 13, 2023?",
        "How old was the man who sold us the nursery?",
        "Would she still want to be a nurse if she hadn't had support growing up?",
        "Did James have a girlfriend during April 2022?",
        "Wie viele Leute singen in unserem Chor?",
        "Welcher Tanz war es, den meine Mutter beim Fest im Heim getanzt hat?",
        "Esse ich Fleisch?",
        "Is the gate code 4410?",
        "Can you list my trips in order? Mention only five items.",
        "How tall is Ben? Please answer with the number only.",
        "In which order did I bring up my trips, in order (mention 9 items in order)?",
        "How long did it take me to learn the cello after I started working on scales?",
        "What number did I mention before we started discussing the garden?",
        "Which versions of the tools did I say I was using?",
        "Welche Reisen habe ich gemacht, nachdem ich umgezogen bin? Nenne nur drei.",
    ],
)
def test_a_turn_that_only_asks_is_a_question(text: str) -> None:
    assert read_silence(text) == "Question"


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!",
        "ok cool",
        "👍",
        "Vielen Dank!",
        "Noted.",
        "Alles klar",
        "Hi, good morning!",
        "Thanks, see you later!",
    ],
)
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
        "Remember that my PIN is 4411?",
        "Did I tell you that Lena is pregnant?",
        "Kannst du dir merken, dass meine PIN 4411 ist?",
        "Remind me to call Karin on Friday.",
        "Let me know when the parcel from Zalando comes.",
        "What should I cook for Jonas, who is allergic to nuts?",
        "I'm a nurse, so which shifts pay more?",
        "As a vegetarian, what should I order?",
        "Da ich Veganer bin, was soll ich bestellen?",
        "Had my wisdom teeth out today",
        "Did the laundry and called mum.",
        "Hatte heute Weisheitszahn-OP",
        "The safe code is 8812?",
        "Which is why I quit smoking.",
        "What I like is tea",
        "When I was ten I broke my arm",
        "Can you note that my new PIN is 4411?",
        "Can you remind me to call Karin on Friday?",
        "Did I tell you we sold the blue car?",
        "Which bus do I take, I moved to Faro last week?",
        "What should I cook after I moved to the new flat?",
        'Can you check my message: "Dear Sir, I have worked with apples since February and can start on Monday."?',
    ],
)
def test_what_tells_something_is_no_silence(text: str) -> None:
    assert read_silence(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I am not sure.",
        "I don't have your bank account number.",
        "Das weiß ich nicht.",
        "No record of that.",
        "I wish I knew your PIN, but I don't.",
        "Deine Kontonummer kenne ich leider nicht.",
    ],
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
        "Your oven is not from 2009.",
        "I am not sure, but the oven service is open until six.",
    ],
)
def test_an_answer_with_a_fact_of_its_own_is_none(text: str) -> None:
    assert read_silence(text, answers=True, given=GIVEN) is None


def test_the_asker_repeats_nothing() -> None:
    assert read_silence("My oven is from 2009.", given=GIVEN) is None


@given(st.text(max_size=400), st.booleans())
def test_any_text_can_be_read(text: str, answers: bool) -> None:
    assert read_silence(text, answers=answers, given=(text,)) in (None, "Question", "Courtesy", "Echo")
