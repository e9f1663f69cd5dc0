"""Which names become memories, and which texts mention them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestration.appraisal.names import Kind
from orchestration.writing.name_book import MOST_NAMES, NameBook, Named, NamedText, entity_id


def book(*texts: str, known: tuple[Named, ...] = ()) -> tuple[NameBook, list[NamedText]]:
    named_texts = [NamedText(f"t{number}", text) for number, text in enumerate(texts)]
    return NameBook(named_texts, known), named_texts


def named(*texts: str, known: tuple[Named, ...] = ()) -> list[list[str]]:
    """The ids that each text mentions."""
    names, named_texts = book(*texts, known=known)
    return [[entry.id for entry in names.mentions(text)] for text in named_texts]


def person(name: str, *aliases: str) -> Named:
    return Named(entity_id(name, Kind.PERSON), name, Kind.PERSON, aliases)


def test_a_name_that_is_told_becomes_a_memory_at_its_first_use() -> None:
    assert named("my sister Anna rang") == [["person:anna"]]


def test_a_name_by_its_capital_alone_needs_a_second_use() -> None:
    assert named("I asked Femke") == [[]]
    assert named("I asked Femke", "then Femke rang") == [["person:femke"], ["person:femke"]]


def test_a_known_name_is_found_however_it_is_written() -> None:
    known = (person("Moira"),)
    assert named("moira shouted", "MOIRA!", "Moiras van", known=known)[:2] == [["person:moira"]] * 2


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


def test_a_name_that_two_people_have_names_nobody() -> None:
    known = (person("Tom Baker", "Tom"), person("Tom Fisher", "Tom"))
    assert named("Tom is late", known=known) == [[]]


def test_a_known_name_gets_a_longer_one_as_its_alias() -> None:
    names, _ = book("Tom Baker rang", known=(person("Tom"),))
    assert names.entries["person:tom"].new_aliases == ("Tom Baker",)


def test_roles_are_nobody() -> None:
    assert named("my friend User and my boss Assistant") == [[]]


def test_a_memory_begins_with_the_earliest_text_that_mentions_it() -> None:
    first, later = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 2, 1, tzinfo=UTC)
    texts = [NamedText("b", "my sister Anna rang", later), NamedText("a", "Anna came", first)]
    assert NameBook(texts, ()).entries["person:anna"].since == first


def test_what_a_guess_named_gets_its_kind_from_a_text_that_tells_it() -> None:
    known = (Named("entity:femke", "Femke", Kind.ENTITY, is_guess=True),)
    names, _ = book("my flatmate Femke cooked", known=known)
    assert names.entries["entity:femke"].kind == Kind.PERSON


def test_a_given_name_is_found_or_made() -> None:
    names, _ = book("", known=(person("Anna"),))
    assert names.find("anna").id == "person:anna"
    assert (names.find("Atlas").kind, names.find("Moira Berg").kind) == (Kind.ENTITY, Kind.PERSON)


def test_a_list_of_names_is_cut() -> None:
    crowd = ", ".join(f"Dr Za{chr(97 + n // 26)}{chr(97 + n % 26)}x" for n in range(MOST_NAMES + 100))
    assert len(named(f"I met {crowd}")[0]) == MOST_NAMES


@pytest.mark.parametrize("word", ["A" * 50_000, "İ" * 50_000, "A-" * 25_000])
def test_a_word_without_end_is_read_in_a_moment(word: str) -> None:
    assert named(f"My name is {word}.", "Anna rang.") == [[], ["person:anna"]]
