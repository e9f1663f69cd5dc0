"""The languages that are known: one file each in this folder, read once and checked.

A language that is only asked in has the sections of `AskedLanguage`; one in which texts are read, too, has all.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, Self

import Stemmer
from pydantic import ValidationError

from substrate.language.sections import (
    Change,
    Kinds,
    Lists,
    Names,
    Pattern,
    Requests,
    Section,
    Telling,
    Tense,
    Times,
    Words,
)  # fmt: skip

DEFAULT_LANGUAGE: Final = "en"
FOLDER: Final = Path(__file__).parent


class LanguageFileError(ValueError):
    """The file of a language is not as it should be."""


class AskedLanguage(Section):
    """A language in which a question may be asked. `asking`: the patterns by which it is read, by name."""

    code: str
    words: Words
    asking: dict[str, Pattern]
    kinds: Kinds | None = None

    @classmethod
    def all(cls) -> tuple[Self, ...]:
        """The languages with the sections of this class: the default first, the others by code."""
        return tuple(each for each in _languages(FOLDER).values() if isinstance(each, cls))

    @classmethod
    def of(cls, code: str) -> Self:
        """The language with this code. Raises LookupError for one without a file, or without these sections."""
        found = _languages(FOLDER).get(code)
        if not isinstance(found, cls):
            raise LookupError(f"no file has what is read of the language {code}")
        return found

    @cached_property
    def _stemmer(self) -> Any:
        return Stemmer.Stemmer(self.words.stemmer) if self.words.stemmer else None

    def stem(self, word: str) -> str:
        """The stem of a word."""
        return word if self._stemmer is None else str(self._stemmer.stemWord(word))


class Language(AskedLanguage):
    """A language in which texts are read."""

    kinds: Kinds
    tense: Tense
    change: Change
    requests: Requests
    times: Times
    telling: Telling
    rules: Lists
    names: Names

    @classmethod
    def gather(cls, part: str) -> tuple[str, ...]:
        """What all these languages have in a list of their files, each once: `gather("names.titles")`."""
        return tuple(dict.fromkeys(chain.from_iterable(map(attrgetter(part), cls.all()))))


_ALIKE: Final = (
    "asking", "kinds.asked", "times.phrases", "times.planned", "times.relations", "times.seeking", "telling.words",
    "telling.pasted", "telling.degrees", "telling.states", "telling.outcomes", "telling.goals", "telling.rules",
    "telling.steps", "telling.results", "telling.replies", "rules",
)  # fmt: skip
"""Parts of a file in which each language has the lists that the default has."""


@cache
def _languages(folder: Path) -> Mapping[str, AskedLanguage]:
    codes = sorted(path.stem for path in folder.glob("*.toml"))
    codes.sort(key=lambda code: code != DEFAULT_LANGUAGE)
    languages = {code: read_language(folder / f"{code}.toml") for code in codes}
    for code, language in languages.items():
        for part in _ALIKE:
            missing = _lists(languages[DEFAULT_LANGUAGE], part) - _lists(language, part)
            if missing and (part == "asking" or isinstance(language, Language)):
                raise LanguageFileError(f"{code}.toml: {part} has no {', '.join(sorted(missing))}")
    return languages


def _lists(language: AskedLanguage, part: str) -> set[str]:
    value: Any = language
    for name in part.split("."):
        value = getattr(value, name, None)
    return set(value or ())


def read_language(path: Path) -> AskedLanguage:
    """The language in a file. Raises LanguageFileError where the file is not as it should be."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        kind = AskedLanguage if table.keys() <= AskedLanguage.model_fields.keys() else Language
        return kind.model_validate({**table, "code": path.stem})
    except ValidationError as error:
        told = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise LanguageFileError(f"{path.name}: {'; '.join(told)}") from error
    except tomllib.TOMLDecodeError as error:
        raise LanguageFileError(f"{path.name}: {error}") from error
