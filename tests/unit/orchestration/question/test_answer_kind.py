"""What kind of thing a question asks for, and which texts give one."""

from __future__ import annotations

import pytest

from orchestration.question.reading import AnswerKind, AskedKind, asked_kind, gives_kind
from substrate.language.text import stems

ASKED = [
    ("Who fixed the roof?", AnswerKind.PERSON),
    ("What is the name of her cat?", AnswerKind.PERSON),
    ("When does the course begin?", AnswerKind.TIME),
    ("Where did I leave the ladder?", AnswerKind.PLACE),
    ("How many chairs do we have?", AnswerKind.NUMBER),
    ("Why did she leave?", AnswerKind.REASON),
    ("Wer hat das Dach repariert?", AnswerKind.PERSON),
    ("Wie viele Stühle haben wir?", AnswerKind.NUMBER),
    ("Qui a réparé le toit ?", AnswerKind.PERSON),
    ("Où ai-je laissé l'échelle ?", AnswerKind.PLACE),
    ("Combien de chaises avons-nous ?", AnswerKind.NUMBER),
    ("Who is the qui of the house?", AnswerKind.PERSON),
    ("Is the Combien on the wall?", None),
    ("What did I plant?", None),
    ("Who is Betty?", AnswerKind.NAME),
    ("what's Betty Blue", AnswerKind.NAME),
    ("Wer ist Betty?", AnswerKind.NAME),
    ("Qui est Betty ?", AnswerKind.NAME),
    ("Who is my landlord?", AnswerKind.PERSON),
    ("What is the rent of Betty?", None),
    ("", None),
]
GIVEN = [
    (AnswerKind.PERSON, "the roof was done by Mattis in a day", True),
    (AnswerKind.PERSON, "the roof was done in a day", False),
    (AnswerKind.NUMBER, "there are six of them", True),
    (AnswerKind.NUMBER, "there are plenty of them", False),
    (AnswerKind.TIME, "we begin on Monday", True),
    (AnswerKind.PLACE, "it leans on the wall at Hollin Street", True),
    (AnswerKind.REASON, "she left because of the noise", True),
]


@pytest.mark.parametrize(("question", "kind"), ASKED)
def test_the_words_of_a_question_tell_the_kind_of_its_answer(question: str, kind: AnswerKind | None) -> None:
    asked = asked_kind(question)

    assert (asked.kind if asked else None) is kind


@pytest.mark.parametrize(("kind", "text", "given"), GIVEN)
def test_a_text_gives_a_kind_or_not(kind: AnswerKind, text: str, given: bool) -> None:
    assert gives_kind(AskedKind(kind, "en"), text, frozenset()) is given


def test_a_french_text_gives_a_place_after_its_words() -> None:
    asked = AskedKind(AnswerKind.PLACE, "fr")

    assert gives_kind(asked, "mon cousin a ouvert une librairie à Marseille", frozenset())
    assert not gives_kind(asked, "mon cousin a ouvert une librairie", frozenset())


def test_in_german_a_capital_alone_is_no_name() -> None:
    asked = AskedKind(AnswerKind.PERSON, "de")

    assert gives_kind(asked, "das Dach hat Herr Mattis gemacht", frozenset())
    assert not gives_kind(asked, "das Dach hat der Nachbar gemacht", frozenset())


def test_a_name_that_the_question_itself_says_answers_nothing() -> None:
    asked, said = AskedKind(AnswerKind.PERSON, "en"), stems("Who is Mattis married to?")

    assert not gives_kind(asked, "today Mattis came by", said)
    assert gives_kind(asked, "today Mattis came by with Ines", said)


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("My old car, called Betty, broke down.", True),
        ("I have a small boat named Betty", True),
        ("my sister's dog goes by Betty now", True),
        ("unser Wagen namens Betty", True),
        ("I called Betty about the party", False),
        ("We live in a road called Betty Street", False),
        ("Betty Street has a bakery", False),
        ("a boat called Anna", False),
    ],
)
def test_a_text_that_names_something_tells_for_what_a_name_stands(text: str, gives: bool) -> None:
    question = "Wer ist Betty?" if "namens" in text else "Who is Betty?"
    asked = asked_kind(question)
    assert asked is not None
    assert gives_kind(asked, text, stems(question)) is gives
