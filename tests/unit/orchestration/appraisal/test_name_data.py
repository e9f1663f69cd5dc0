"""The words of names, language by language."""

from __future__ import annotations

import pytest

from orchestration.appraisal.languages import CODES
from orchestration.appraisal.name_data import language_of, name_data


@pytest.mark.parametrize("code", CODES)
def test_each_language_says_what_its_names_stand_beside(code: str) -> None:
    data = name_data(code)
    assert all(data.words.values())
    assert all(data.choices.values())
    assert data.name_statements
    assert data.role_statements


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I went to the lake with her", "en"),
        ("Ich war mit ihr am See", "de"),
        ("", "en"),
        ("Привет", "en"),
    ],
)
def test_a_text_has_the_language_of_its_frequent_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_text_without_frequent_words_has_the_language_of_the_others() -> None:
    assert language_of("Anna kommt", "de") == "de"
