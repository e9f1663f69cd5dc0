"""The files of the languages: what they must hold, and that a new one is a file and nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestration.appraisal.appraise import Voice, appraise
from orchestration.question.reading import asked_to_forget
from orchestration.question.time_expressions import read_times
from substrate.language import languages
from substrate.language.languages import AskedLanguage, Language, LanguageFileError, read_language
from substrate.language.text import query_words, stem, word_language

ENGLISH = (languages.FOLDER / "en.toml").read_text("utf-8")
FRENCH = (languages.FOLDER / "fr.toml").read_text("utf-8")
NOW = datetime(2026, 3, 11, tzinfo=UTC)
NAMES = "forget", "self", "others", "broad", "several", "order", "asked", "wish", "plan", "whole", "course"
ZORP = 'words = { stop_words = "blik nurr", begins = false }\n[asking]\n' + "".join(
    f'{name} = "zorpa {name} (.+)"\n' for name in NAMES
)
"""A language that is only asked in."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the files of the languages, which is read in their place."""
    AskedLanguage.all.cache_clear()
    shutil.copytree(languages.FOLDER, tmp_path / "languages", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    monkeypatch.setattr(languages, "FOLDER", tmp_path / "languages")
    yield tmp_path / "languages"
    AskedLanguage.all.cache_clear()


def test_the_default_language_comes_first_and_those_that_are_read_are_known() -> None:
    assert [language.code for language in AskedLanguage.all()] == ["en", "de", "fr", "ja", "zh"]
    assert [language.code for language in Language.all()] == ["en", "de"]
    assert Language.of("de").names.titles >= {"herr", "frau"}
    for code in ("fr", "xx"):
        with pytest.raises(LookupError, match=code):
            Language.of(code)


def test_a_language_in_which_one_asks_is_one_file(folder: Path) -> None:
    (folder / "zo.toml").write_text(ZORP)
    assert word_language("blik gamma nurr delta") == "zo"
    assert query_words("blik gamma nurr delta", "zo") == ["gamma", "delta"]
    assert stem("gamma", "zo") == "gamma"
    assert asked_to_forget("zorpa forget gamma blik nurr") == "gamma blik nurr"
    assert asked_to_forget("zorpa forget gamma") is None  # in no known language


def test_a_language_in_which_texts_are_read_is_one_file(folder: Path) -> None:
    made = ENGLISH.replace("'yesterday(?:", "'yestiro(?:").replace("gutted", "zorpful")
    made = made.replace('function_words = """the a', 'function_words = """zorp a')
    (folder / "yo.toml").write_text(made)
    assert [language.code for language in Language.all()] == ["en", "de", "yo"]
    assert len(read_times("What happened yestiro?", NOW).periods) == 1
    assert appraise("zorp zorp zorp: I am zorpful", Voice.OWN).emotions.keys() == {"sadness"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(ZORP.replace("words =", "word ="), "words: Field required", id="a missing section"),
        pytest.param(FRENCH + "[telling]\n", "names: Field required", id="a language that is half read"),
        pytest.param(FRENCH + "[words.more]\n", "more: Extra inputs", id="a list that nobody reads"),
        pytest.param(ZORP.replace("false", '"no"'), "begins: Input should be a valid boolean", id="a wrong type"),
        pytest.param(ZORP.replace('"blik nurr"', "3"), "should be one text, not 3", id="a number for words"),
        pytest.param(
            ENGLISH.replace('weekday = "monday,', 'weekday = "monday friday,'),
            "'friday' stands in 0 and in 4",
            id="a weekday that is two",
        ),
        pytest.param(
            ENGLISH.replace("[telling.degrees]\n", '[telling.degrees]\nmiddle = "extremely"\n'),
            "'extremely' stands in middle and in top",
            id="a word of two degrees",
        ),
        pytest.param("[words", "Expected", id="no TOML"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_as_it_should_be_is_an_error_that_says_where(
    text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "zo.toml"
    path.write_text(text)
    with pytest.raises(LanguageFileError, match=rf"^zo\.toml: .*{told}"):
        read_language(path)


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        ("zo", ZORP.replace("order =", "sequence ="), "zo.toml: asking has no order"),
        ("zo", ENGLISH.replace("\njokes =", "\njests ="), "zo.toml: telling.words has no jokes"),
        ("fr", FRENCH.replace("\nreason =", "\nwhy ="), "fr.toml: kinds.asked has no reason"),
    ],
)
def test_a_language_has_the_lists_of_the_default_one(code: str, text: str, told: str, folder: Path) -> None:
    (folder / f"{code}.toml").write_text(text)
    with pytest.raises(LanguageFileError, match=told):
        AskedLanguage.all()
