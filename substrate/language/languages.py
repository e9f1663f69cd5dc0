"""The languages that are known: one file each in this folder, read once and checked. Pure.

A language that is only asked in has the sections of `AskedLanguage`; one in which texts are read, too, has all.
`en.toml` says what the lists are for. Words stand with blanks between them, phrases and groups of words with
commas; a pattern is a regular expression, and may go on over several lines.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Self

import Stemmer
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

DEFAULT_LANGUAGE: Final = "en"
FOLDER: Final = Path(__file__).parent
UNITS: Final = ("hour", "day", "week", "month", "year")
"""The units of time, in the order in which each file names them."""
NIGHT: Final = 3
"""The place of the night among the parts of a day."""


def word_set(value: Any) -> frozenset[str]:
    """The words of a text, between blanks. Raises ValueError for what is no text."""
    if not isinstance(value, str):
        raise ValueError(f"it should be one text, not {value!r}"[:80])
    return frozenset(value.split())


def phrase_list(value: Any) -> tuple[str, ...]:
    """The phrases of a text, between commas, each with single blanks. Raises ValueError for what is no text."""
    if not isinstance(value, str):
        raise ValueError(f"it should be one text, not {value!r}"[:80])
    return tuple(filter(None, map(" ".join, map(str.split, value.split(",")))))


def exclusive[T: Mapping[Any, Iterable[str]]](lists: T) -> T:
    """The lists. Raises ValueError for a word in two of which one alone can hold."""
    known: dict[str, object] = {}
    for name, said in lists.items():
        for word in said:
            if known.setdefault(word, name) != name:
                raise ValueError(f"{word!r} stands in {known[word]} and in {name}")
    return lists


def grouped(value: Any) -> dict[str, int]:
    """The place of each word: groups stand between commas, words of one group have one place."""
    places: dict[str, int] = {}
    for place, group in exclusive(dict(enumerate(map(str.split, phrase_list(value))))).items():
        places |= dict.fromkeys(group, place)
    return places


type WordSet = Annotated[frozenset[str], BeforeValidator(word_set)]
type Phrases = Annotated[tuple[str, ...], BeforeValidator(phrase_list)]
type Groups = Annotated[dict[str, int], BeforeValidator(grouped)]
type Pattern = Annotated[str, AfterValidator(lambda text: text.replace("\n", ""))]
type Lists = dict[str, Phrases]
type Exclusive = Annotated[dict[str, WordSet], AfterValidator(exclusive)]
"""Lists of words of which each word has one."""


class LanguageSection(BaseModel):
    """A part of the file of a language. What is missing, and what nobody reads, is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Words(LanguageSection):
    """`begins`: words are searched by their beginnings. `stemmer`: none for a language without inflected words.
    `small_talk`: words of any conversation. `negations`: as they stand among the words of a text."""

    stop_words: WordSet
    begins: bool
    stemmer: str | None = None
    small_talk: WordSet = frozenset()
    negations: WordSet = frozenset()


class Kinds(LanguageSection):
    """What a question asks for, and what a text gives, by kind. `attributes`: words of which one answers a
    question for another."""

    attributes: list[str] = []
    asked: Lists
    given: Lists


class Times(LanguageSection):
    """Phrases of time: their forms by kind, and of each word of which they are made its place in its list."""

    month_too: WordSet
    general: WordSet
    articles: WordSet
    words: dict[str, Groups]
    numbers: dict[str, int]
    feasts: dict[str, str]
    phrases: dict[str, list[str]]
    planned: dict[str, list[str]]
    relations: dict[str, Pattern]
    seeking: dict[str, Pattern]
    event: dict[str, Pattern]


class Telling(LanguageSection):
    """How a text tells what its speaker feels, wants and does. `phrases`: by kind and value. `silence`: phrases of
    what tells nothing."""

    not_within: WordSet
    numbers: WordSet
    searched: Phrases
    held: WordSet
    failed: WordSet
    no_numbers: WordSet
    function_words: WordSet
    contractions: dict[str, str]
    words: dict[str, WordSet]
    pasted: dict[str, WordSet]
    degrees: Exclusive
    emoji: Exclusive
    phrases: dict[str, Lists]
    states: dict[str, Lists]
    outcomes: dict[str, Lists]
    steps: dict[str, Lists]
    results: Exclusive
    silence: Lists
    deeds: dict[str, Lists]
    replies: Lists


class NameWords(LanguageSection):
    """How people, places and things are named. `have_capitals`: a capital inside a sentence is a sign of a name.

    `runs`: what stands before a business in the role of its owner. `trades`: what one does for a living, as one
    says it of oneself and as it is said of somebody: `build`, `builds`.
    """

    have_capitals: bool
    function_words: WordSet
    never: WordSet
    first_names: WordSet
    ambiguous_names: WordSet
    relations: WordSet
    people_nouns: WordSet
    titles: WordSet
    forms_of_address: WordSet
    copulas: WordSet
    adjoining: WordSet
    called: Phrases
    my: Phrases
    person_verbs: WordSet
    person_leads: WordSet
    place_leads: WordSet
    from_work: Pattern
    place_cues: Pattern
    place_suffixes: WordSet
    places: WordSet
    organisation_suffixes: WordSet
    organisation_cues: Pattern
    project_cues: Phrases
    before_a_project: WordSet
    product_cues: Phrases
    before_a_product: WordSet
    title_cues: Pattern
    role_aside: Pattern | None = None
    supposed: Pattern
    may_state: Pattern
    alias_statements: list[Pattern]
    name_statements: list[Pattern]
    role_statements: list[Pattern]
    occupations: WordSet
    occupation_suffixes: Phrases
    trades: dict[str, str]
    runs: str
    businesses: WordSet
    role_ends: WordSet


class LanguageFileError(ValueError):
    """The file of a language is not as it should be."""


class AskedLanguage(LanguageSection):
    """A language in which a question may be asked. `asking`: the patterns by which it is read, by name;
    `patterns`: others, which a language may do without."""

    code: str
    words: Words
    asking: dict[str, Pattern]
    patterns: dict[str, Pattern] = Field(default_factory=dict)
    kinds: Kinds | None = None

    @classmethod
    @cache
    def all(cls) -> tuple[Self, ...]:
        """The languages with the sections of this class: the default first, the others by code."""
        return tuple(each for each in known_languages(FOLDER).values() if isinstance(each, cls))

    @classmethod
    def of(cls, language: str) -> Self:
        """The language with this code. Raises LookupError for one without a file, or without these sections."""
        found = known_languages(FOLDER).get(language)
        if not isinstance(found, cls):
            raise LookupError(f"no file has what is read of the language {language}")
        return found

    def part(self, name: str) -> Any:
        """What the file has under a name such as `telling.words.negations`; None where it has nothing."""
        value: Any = self
        for each in name.split("."):
            value = value.get(each) if isinstance(value, dict) else getattr(value, each, None)
        return value

    @cached_property
    def _stemmer(self) -> Any:
        return Stemmer.Stemmer(self.words.stemmer) if self.words.stemmer else None

    def stem(self, word: str) -> str:
        """The stem of a word."""
        return word if self._stemmer is None else str(self._stemmer.stemWord(word))


class Language(AskedLanguage):
    """A language in which texts are read."""

    kinds: Kinds
    tense: Lists
    change: Lists
    requests: Lists
    times: Times
    telling: Telling
    rules: Lists
    names: NameWords

    @classmethod
    def gather(cls, part: str) -> tuple[str, ...]:
        """What all these languages have in a list of their files, each once: `gather("names.titles")`."""
        return tuple(dict.fromkeys(chain.from_iterable(each.part(part) for each in cls.all())))


_ALIKE: Final = (
    "asking", "kinds.asked", "kinds.given", "tense", "change", "requests", "times.words", "times.phrases",
    "times.planned", "times.relations", "times.seeking", "telling.words", "telling.pasted", "telling.degrees",
    "telling.phrases", "telling.phrases.goals", "telling.phrases.rules", "telling.states", "telling.outcomes",
    "telling.steps", "telling.results", "telling.silence", "telling.replies", "rules",
)  # fmt: skip
"""Parts in which each language that has them has the lists of the default one."""


@cache
def known_languages(folder: Path) -> Mapping[str, AskedLanguage]:
    """The languages that have a file in a folder, by code. Raises LanguageFileError for one that is not right."""
    languages: dict[str, AskedLanguage] = {}
    for path in sorted(folder.glob("*.toml"), key=lambda path: (path.stem != DEFAULT_LANGUAGE, path.stem)):
        languages[path.stem] = read_language(path)
    for code, language in languages.items():
        for part in _ALIKE:
            lists = language.part(part)
            missing = languages[DEFAULT_LANGUAGE].part(part).keys() - lists.keys() if lists is not None else set()
            if missing:
                raise LanguageFileError(f"{code}.toml: {part} has no {', '.join(sorted(missing))}")
    return languages


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
