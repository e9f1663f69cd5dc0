"""Which names become memories, and which texts mention them."""

from __future__ import annotations

import pytest

from orchestration.writing.name_book import NameBook, NamedEntry, NamedText


def book(*texts: str, known: tuple[NamedEntry, ...] = ()) -> tuple[NameBook, list[NamedText]]:
    named_texts = [NamedText(f"t{number}", text) for number, text in enumerate(texts)]
    return NameBook(named_texts, known), named_texts


def named(*texts: str, known: tuple[NamedEntry, ...] = ()) -> list[list[str]]:
    """The ids that each text mentions."""
    names, named_texts = book(*texts, known=known)
    return [[entry.id for entry in names.mentions(text)] for text in named_texts]


@pytest.mark.parametrize(
    ("texts", "together"),
    [
        (("Tom Baker rang", "Tom is late"), True),
        (("Tom Baker rang", "Tom Fisher rang too", "so Tom is late"), False),
        (("I met Thomas, everyone calls him Tom", "then Tom left"), True),
        (("Melanie came by", "I asked Mel and then Mel left"), True),
        (("Anna came by", "I met Anne"), False),
        (("my boss Daniel said no", "my friend Daniela said yes"), False),
    ],
)
def test_two_names_are_one_person_only_when_nobody_else_can_be_meant(
    texts: tuple[str, ...], together: bool
) -> None:
    mentions = named(*texts)
    assert (set(mentions[0]) == set(mentions[-1])) is together


@pytest.mark.parametrize("word", ["A" * 50_000, "İ" * 50_000, "A-" * 25_000])
def test_a_word_without_end_is_read_in_a_moment(word: str) -> None:
    assert named(f"My name is {word}.", "Anna rang.") == [[], ["person:anna"]]
