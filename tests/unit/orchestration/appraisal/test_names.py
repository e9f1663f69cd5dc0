"""Names in ordinary text: what is one, of what kind, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.names import (
    LONGEST_NAME,
    Kind,
    KnownNames,
    name_forms,
    name_language,
    read_aliases,
    read_names,
)


def told(text: str) -> list[tuple[str, str]]:
    """The names of a text that it says the kind of."""
    return [(mention.name, mention.kind) for mention in read_names(text, name_language(text)) if not mention.weak]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("my sister Anneke called", [("Anneke", Kind.PERSON)]),
        ("I argued with our landlord, Prentiss, again", [("Prentiss", Kind.PERSON)]),
        ("a lad called Osei drove me", [("Osei", Kind.PERSON)]),
        ("my mentor's called Zorana", [("Zorana", Kind.PERSON)]),
        ("Zorana, my mentor, laughed", [("Zorana", Kind.PERSON)]),
        ("Noor is my cousin", [("Noor", Kind.PERSON)]),
        ("then Jemal's mum rang me", [("Jemal", Kind.PERSON)]),
        ("I owe dr lindqvist and Dr Lindqvist knows", [("Dr Lindqvist", Kind.PERSON)]),
        ("and Tom from work left early", [("Tom", Kind.PERSON)]),
        ("we moved to Zwolle in May", [("Zwolle", Kind.PLACE)]),
        ("a weekend in Porto", [("Porto", Kind.PLACE)]),
        ("a gift from my grandma in my home country, Sweden.", [("Sweden", Kind.PLACE)]),
        ("it is on Fallow Lane now", [("Fallow Lane", Kind.PLACE)]),
        ("the Atlas project is late", [("Atlas", Kind.PROJECT)]),
        ("I met Kim Park, a teacher", [("Kim Park", Kind.PERSON)]),
        ("we walked through Victoria Park, a teacher told me", [("Victoria Park", Kind.PLACE)]),
        ("I like the Komoot app", [("Komoot", Kind.PRODUCT)]),
        ("she is at Hartmoor Academy", [("Hartmoor Academy", Kind.ORGANISATION)]),
        ("I am reading “The Long Field” at night", [("The Long Field", Kind.ENTITY)]),
        ("ask @tomek about #garden", [("tomek", Kind.ENTITY), ("garden", Kind.ENTITY)]),
        ("Meine Schwester Anna wohnt in Porto", [("Anna", Kind.PERSON), ("Porto", Kind.PLACE)]),
        ("Der Termin mit Herrn Weber ist morgen", [("Herrn Weber", Kind.PERSON)]),
        ("das Projekt Atlas hängt noch", [("Atlas", Kind.PROJECT)]),
    ],
)
def test_a_name_is_told_by_the_words_beside_it(text: str, names: list[tuple[str, str]]) -> None:
    assert told(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "I started on Monday in January, after Christmas",
        "My German is bad, but I like English tea",
        "Mum rang. Work was long. Nobody said OK",
        "Yesterday was fine. Rain came later.",
        "THIS IS ALL TOO MUCH",
        "The Ten Best Ways To Plan A Week",
        "Die Besprechung mit dem Vorstand hat den Zeitplan verschoben",
        "```\nAnna = Person('Berlin')\n```",
        "> Anna wrote this to me",
        "write to anna.berg@example.org or see https://Anna.example",
        "will you mark it in may? I will",
        "😀🎉 𝒳 🐙",
        "",
    ],
)
def test_a_capital_alone_is_no_name(text: str) -> None:
    assert told(text) == []


def test_an_unknown_word_with_a_capital_is_only_a_weak_name() -> None:
    mentions = read_names("then I asked Femke and went with Brunhoff", "en")
    assert [(mention.name, mention.weak) for mention in mentions] == [("Femke", True), ("Brunhoff", True)]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("my sister Anna called", "sister"),
        ("our ward manager Sunniva said no", "manager"),
        ("my boss is Frank", "boss"),
        ("Anna, my sister, called", "sister"),
        ("his sister Anna called", None),
        ("Tom's mum, Noor, called", None),
        ("meine Kollegin Anna ist krank und ich auch", "kollegin"),
    ],
)
def test_a_relation_is_told_only_by_its_owner(text: str, relation: str | None) -> None:
    assert read_names(text, name_language(text))[-1].relation == relation


def test_two_names_of_one_person_are_read_together() -> None:
    assert read_aliases("I met Thomas, everyone calls him Tom") == [("Thomas", "Tom")]


def test_known_names_count_in_lower_case_where_they_are_no_words() -> None:
    known = KnownNames.of({"kai", "tilly", "rose"}, {"kai", "tilly"})
    assert list(name_forms("kais late, tillys not; a rose for Rose", known)) == ["kai", "tilly", "rose"]


def test_a_run_of_capitals_beyond_any_name_is_none() -> None:
    assert told(f"my sister {'Anna' * LONGEST_NAME} called") == []


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    read_names(text, name_language(text))


@pytest.mark.parametrize("opener", ["Thankfully", "Luckily", "Honestly"])
def test_an_adverb_before_a_relation_is_nobody(opener: str) -> None:
    assert opener not in {
        mention.name for mention in read_names(f"{opener}, my son is fine. {opener}, all is well.", "en")
    }


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I went to the lake with her", "en"),
        ("Ich war mit ihr am See", "de"),
        ("", "en"),
        ("Привет", "en"),
    ],
)
def test_a_text_has_the_name_language_its_frequent_words(text: str, language: str) -> None:
    assert name_language(text) == language


def test_a_text_without_frequent_words_has_the_name_language_the_others() -> None:
    assert name_language("Anna kommt", "de") == "de"
