"""A rule or an action as clauses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.rules.clauses import is_told, languages_of, read_clauses


def read(text: str, code: str = "en") -> list[tuple[str, bool, list[str]]]:
    return [
        (clause.role, clause.negated, [word.text for word in clause.words]) for clause in read_clauses(text, code)
    ]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            "Release without running the tests",
            [("main", False, ["release"]), ("without", True, ["running", "tests"])],
        ),
        (
            "Skip the review and merge the branch",
            [("main", True, ["review"]), ("main", False, ["merge", "branch"])],
        ),
        ("Do not skip the review", [("main", False, ["review"])]),
        ("Keep the backups, delete nothing", [("main", False, ["keep", "backups"]), ("main", True, ["delete"])]),
        ("Never send it unless Ana agrees", [("main", True, ["send"]), ("unless", False, ["ana", "agrees"])]),
        ("Never call anybody before 9 am", [("main", True, ["call"])]),
    ],
)
def test_a_text_is_cut_where_its_words_lead_a_clause_in(
    text: str, clauses: list[tuple[str, bool, list[str]]]
) -> None:
    assert read(text) == clauses


def test_in_german_a_verb_may_stand_behind_what_is_left_out() -> None:
    assert read("Die Rechnung ohne Rücksprache bezahlen", "de") == [
        ("main", False, ["rechnung", "bezahlen"]),
        ("without", True, ["rücksprache"]),
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Run the tests, then release", "run"),
        ("Release after the tests", "tests"),
        ("Run the tests before you release", "run"),
        ("Release, but run the tests first", "run"),
        ("Release first and run the tests afterwards", "release"),
    ],
)
def test_clauses_are_ordered_in_time(text: str, first: str) -> None:
    earliest = min(read_clauses(text, "en"), key=lambda clause: clause.place)
    assert earliest.words[0].text == first


def test_a_pronoun_stands_for_the_words_before() -> None:
    _, later = read_clauses("Sign the lease and read it", "en")
    assert [word.text for word in later.carried] == ["sign", "lease"]


def test_words_for_one_deed_are_one_word() -> None:
    [one], [other] = (read_clauses(text, "en") for text in ("Throw away the letter", "Discard the letter"))
    assert one.stems == other.stems


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Never deploy on Fridays", ["en"]),
        ("Niemals freitags deployen", ["de"]),
        ("Déployer la nouvelle version", []),
        ("金曜日にデプロイする", []),
        ("🙂🙂", []),
        ("", []),
        ("Release 2.4", ["en", "de"]),
    ],
)
def test_a_text_is_in_the_languages_whose_function_words_it_has(text: str, codes: list[str]) -> None:
    assert [spoken.code for spoken in languages_of(text)] == codes


def test_a_few_words_need_no_function_word_where_the_letters_fit() -> None:
    assert is_told("Buy tomatoes", "en")
    assert is_told("repaint garden fence dark green", "en")
    assert is_told("eat grilled salmon fillet", "en")
    assert not is_told("send Mira small steps", "de")
    assert not is_told("Zatwierdzić fakturę", "en")
    assert not is_told("Cortar cesped domingo tarde", "en")


@given(st.text(max_size=200))
def test_every_text_can_be_read(text: str) -> None:
    for code in ("en", "de"):
        assert all(clause.tokens for clause in read_clauses(text, code))
