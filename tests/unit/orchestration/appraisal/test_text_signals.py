"""The relations read from a text (002, problem 6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.deeds import match_by_meaning, read_relations
from schemas.wave_signal import Relation

TYPES = ("CRITICIZED", "PRAISED", "IS_PROUD_OF", "TALKED_TO")


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("egor criticizes the code", ("Egor", "CRITICIZED", "the code")),
        ("The code was criticized by Egor", ("Egor", "CRITICIZED", "the code")),
        ("Egor is proud of Kai", ("Egor", "IS_PROUD_OF", "Kai")),
        ("praised!", (None, "PRAISED", None)),
    ],
)
def test_a_relation_stands_between_the_names_around_it(
    text: str, triple: tuple[str | None, str, str | None]
) -> None:
    (found,) = read_relations(text, ("Egor", "Kai", "the code"), TYPES)
    assert (found.source, found.relation_type, found.target) == triple


def test_a_negated_or_unknown_relation_is_not_read() -> None:
    assert read_relations("Egor never praised Kai", ("Egor", "Kai"), TYPES) == ()
    assert read_relations("Egor painted Kai", ("Egor", "Kai"), TYPES) == ()


def test_a_word_of_similar_meaning_names_the_relation_too() -> None:
    vectors = {"blamed": (0.8, 0.6), "criticized": (1.0, 0.0), "praised": (0.0, 1.0)}
    matches = match_by_meaning(vectors, 0.7)
    found = read_relations("Egor blamed Kai", ("Egor", "Kai"), TYPES[:2], matches)
    assert found == (Relation(relation_type="CRITICIZED", source="Egor", target="Kai"),)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(read_relations(text, (text[:5], "a"), TYPES), tuple)
