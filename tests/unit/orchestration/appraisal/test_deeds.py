"""Who did what to whom, in plain words."""

from __future__ import annotations

import pytest

from orchestration.appraisal.deeds import HEARD, TOLD, End, read_deeds
from substrate.language.languages import Language

PEOPLE = ("Ingrid", "Tom", "Lena")
NAMES = {name.lower(): End(name, "Person") for name in PEOPLE} | {"atlas": End("Atlas", "Project")}
ME = End("I", "Self")


def told(text: str, code: str = "en", *types: str) -> list[str]:
    return [" ".join(deed[:3]) for deed in read_deeds(text, NAMES, ME, Language.of(code), types=types)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ingrid criticised Tom.", ["Ingrid CRITICIZED Tom"]),
        ("Tom was criticised by Ingrid.", ["Ingrid CRITICIZED Tom"]),
        ("Lena said that Ingrid praised Tom.", ["Ingrid PRAISED Tom"]),
        ("Ingrid praised Tom but criticised Lena.", ["Ingrid PRAISED Tom", "Ingrid CRITICIZED Lena"]),
        ("Ingrid praised Tom and Lena criticised me.", ["Ingrid PRAISED Tom", "Lena CRITICIZED I"]),
        ("Ingrid and I praised Tom, Lena and the others.", [
            "Ingrid PRAISED Tom", "I PRAISED Tom", "Ingrid PRAISED Lena", "I PRAISED Lena",
        ]),
        ("Asked Tom for the keys.", ["I ASKED Tom"]),
        ("Ingrid told Tom off.", ["Ingrid CRITICIZED Tom"]),
        ("Lena has fixed Atlas.", ["Lena FIXED Atlas"]),
    ],
)  # fmt: skip
def test_what_is_told_as_done_is_a_deed(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Ingrid did not criticise Tom.",
        "Ingrid never praised Tom.",
        "Never asked Tom.",
        "If Ingrid criticised Tom, he would leave.",
        "Did Ingrid criticise Tom?",
        "Had Ingrid asked Tom, he would know.",
        "Ingrid wants to ask Tom.",
        "I think Ingrid praised Tom.",
        "In my dream Ingrid praised Tom.",
        "Ingrid praised Tom! Just kidding.",
        "Ask Tom.",
        "Ingrid's brother criticised Tom.",
        "Ingrid criticised Tom's report.",
        "Ingrid criticised the Atlas team.",
        "Tom broke Lena.",
        "She praised Tom.",
    ],
)
def test_what_is_denied_supposed_asked_wished_or_of_others_is_none(text: str) -> None:
    assert told(text) == []


def test_the_order_of_german_words_tells_who_did_it() -> None:
    assert told("Gestern hat mich Ingrid kritisiert.", "de") == ["Ingrid CRITICIZED I"]
    assert told("Den Tom hat Ingrid gelobt.", "de") == ["Ingrid PRAISED Tom"]
    assert told("Tom wurde von Ingrid gelobt.", "de") == ["Ingrid PRAISED Tom"]
    assert told("Ingrid lobte Tom, kritisierte aber Lena.", "de") == [
        "Ingrid PRAISED Tom",
        "Ingrid CRITICIZED Lena",
    ]
    assert told("Ingrid hat Tom nicht gelobt.", "de") == told("Hat Ingrid Tom gelobt?", "de") == []


def test_a_type_of_the_graph_is_read_by_its_words() -> None:
    assert told("Ingrid works with Tom.") == []
    assert told("Ingrid works with Tom.", "en", "WORKS_WITH") == ["Ingrid WORKS_WITH Tom"]


def test_what_somebody_else_told_is_less_sure() -> None:
    [own] = read_deeds("Ingrid praised Tom.", NAMES, ME, Language.of("en"))
    [heard] = read_deeds("I heard that Ingrid praised Tom.", NAMES, ME, Language.of("en"))
    assert (own.confidence, heard.confidence) == (TOLD, HEARD)
