"""Text in normal form, and query words that cannot harm the full-text engine."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.text import (
    MAX_QUERY_WORDS,
    STOP_WORDS,
    count_of,
    name_key,
    normal_text,
    query_words,
    search_form,
    search_text,
    spaced_text,
    stem,
    stems,
    word_language,
    words,
)

hostile = st.text(st.sampled_from("""ab @|%*()[]{}"'\\-_:;~$^=<>&!?.,/é\u0130ß\n\t"""), max_size=40)
texts = st.text(max_size=60) | hostile


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "link", "0 links"),
        (1, "memory", "1 memory"),
        (45, "memory", "45 memories"),
        (1000, "past version", "1,000 past versions"),
        (2, "day", "2 days"),
    ],
)
def test_a_count_has_the_right_form_of_its_noun(count: int, noun: str, text: str) -> None:
    assert count_of(count, noun) == text


@given(texts)
def test_query_words_hold_only_word_characters(text: str) -> None:
    for word in query_words(text):
        assert re.fullmatch(r"\w+", word)
        assert word not in STOP_WORDS
        assert word.strip("_")


@given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), max_size=60).map(" ".join))
def test_query_words_are_few_distinct_and_in_the_order_of_the_query(text: str) -> None:
    found = query_words(text)
    assert len(found) == len(set(found)) <= MAX_QUERY_WORDS
    first = {word: place for place, word in reversed(list(enumerate(words(text))))}
    assert found == sorted(found, key=first.__getitem__)


@given(texts)
def test_the_query_words_of_query_words_are_themselves(text: str) -> None:
    found = query_words(text)
    assert query_words(" ".join(found)) == found


def test_the_longest_of_too_many_words_are_kept() -> None:
    long = [f"longword{letter}" for letter in "abcdefghijklmnopqrstuvwx"]
    assert len(long) == MAX_QUERY_WORDS
    assert query_words(" ".join(["zebra", *long, "yak"])) == long


@given(texts)
def test_the_normal_form_of_a_text_has_the_words_of_the_text(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Café CRÈME", "cafe creme"),
        ("naïve", "naive"),
        ("\ufb01ne", "fine"),
        ("Ångström", "angstrom"),
        ("Straße", "straße"),
    ],
)
def test_normal_text_has_no_accents_ligatures_or_capitals(text: str, normal: str) -> None:
    assert normal_text(text) == normal


def test_stop_words_carry_no_meaning() -> None:
    assert query_words("When did she go to the LGBTQ support group?") == ["go", "lgbtq", "support", "group"]
    assert query_words("What is it, and who are you?") == []


@pytest.mark.parametrize("hostile", ["@name:(x) | y", "%%drop%%", "a*", "-b", '"phrase', "(((", "\\", "_ __"])
def test_the_signs_of_the_query_language_do_not_pass(hostile: str) -> None:
    assert all(re.fullmatch(r"\w+", word) for word in query_words(hostile))


@given(texts)
def test_a_search_text_is_stored_only_where_the_engine_would_read_other_words(text: str) -> None:
    plain = text.isascii() and "\\" not in text and all(c.isprintable() or c in "\n\r\t" for c in text)
    kept = search_text(text)
    assert kept is None if plain else kept == " ".join(words(text))


def test_search_text_joins_all_parts() -> None:
    assert search_text("Café", "", "Zoë said") == "cafe zoe said"
    assert search_text("Cafe", "don't") is None


def test_stems_bring_the_forms_of_a_word_together() -> None:
    assert len({stem(word) for word in ("connect", "connected", "connecting", "connection")}) == 1
    assert stems("Running, she runs; the runner ran.") == {stem("run"), stem("runner"), stem("ran")}


@given(texts)
def test_stems_are_those_of_every_word_that_is_no_stop_word(text: str) -> None:
    assert stems(text) == {stem(word) for word in words(text) if word not in STOP_WORDS}


@pytest.mark.parametrize("name", ["person_luca", "Person-Luca", "Person  Luca", "PERSON LÚCA", "(person) luca!"])
def test_a_name_is_compared_without_signs_case_and_accents(name: str) -> None:
    assert name_key(name) == "person luca"


@given(st.text())
def test_between_the_words_of_a_spaced_text_there_are_spaces_and_nothing_else(text: str) -> None:
    spaced = spaced_text(text)
    assert spaced[0] == spaced[-1] == " "
    assert [word for word in spaced.split(" ") if word] == words(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where do I live?", "en"),
        ("Wo wohne ich?", "de"),
        ("Was kostet die Praxis?", "de"),
        ("What was in the will?", "en"),
        ("Lisbon", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text_is_that_of_its_stop_words(text: str, language: str) -> None:
    assert word_language(text) == language


def test_the_words_and_stems_of_a_text_are_those_of_its_language() -> None:
    text = "Wie hoch ist die Miete für meine Wohnungen?"
    assert query_words(text, "de") == ["hoch", "miete", "wohnungen"]
    assert "die" in query_words(text)
    assert stem("wohnungen", "de") == stem("wohnung", "de") != stem("wohnungen")


def test_only_in_a_language_of_many_forms_a_word_is_searched_by_its_beginning() -> None:
    assert search_form("wohnungen", "de") == "wohnung*"
    assert search_form("opa", "de") == "opa"
    assert search_form("flats", "en") == "flats"


@given(st.text())
def test_any_text_has_a_language_and_safe_words(text: str) -> None:
    language = word_language(text)
    forms = [search_form(word, language).removesuffix("*") for word in query_words(text, language)]
    assert all(form in words(form) for form in forms)
