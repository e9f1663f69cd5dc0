"""What the file of a language holds: its sections, and the form in which their words are given. Pure.

`en.toml` says what the lists are for. Words stand with blanks between them, phrases and groups of words with
commas, choices with `|`; a pattern is a regular expression, and may go on over several lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from substrate.text import words

UNITS: Final = ("hour", "day", "week", "month", "year")
"""The units of time, in the order in which each file names them."""
NIGHT: Final = 3
"""The place of the night among the parts of a day."""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"it should be one text, not {value!r}"[:80])
    return value


def _split(value: Any) -> frozenset[str]:
    return frozenset(_text(value).split())


def _split_at(mark: str, value: Any) -> tuple[str, ...]:
    parts = (" ".join(part.split()) for part in _text(value).split(mark))
    return tuple(part for part in parts if part)


def _one_place(placed: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Raises ValueError for a word in two places of which one alone can hold."""
    known: dict[str, str] = {}
    for place, said in placed:
        for word in said:
            if known.setdefault(word, place) != place:
                raise ValueError(f"{word!r} stands in {known[word]} and in {place}")


def _grouped(first: int, value: Any) -> dict[str, int]:
    """The place of each word: words of one group have one place."""
    groups = [(place, group.split()) for place, group in enumerate(_text(value).split(","), first)]
    _one_place((f"group {place}", group) for place, group in groups)
    return {word: place for place, group in groups for word in group}


def _of_one_list[T: Mapping[str, Iterable[str]]](lists: T) -> T:
    _one_place(lists.items())
    return lists


type WordSet = Annotated[frozenset[str], BeforeValidator(_split)]
type Phrases = Annotated[tuple[str, ...], BeforeValidator(partial(_split_at, ","))]
type Choices = Annotated[tuple[str, ...], BeforeValidator(partial(_split_at, "|"))]
type Groups = Annotated[dict[str, int], BeforeValidator(partial(_grouped, 0))]
type Months = Annotated[dict[str, int], BeforeValidator(partial(_grouped, 1))]
type Pattern = Annotated[str, AfterValidator(lambda text: text.replace("\n", ""))]
type Lists = dict[str, Phrases]
type Exclusive = Annotated[dict[str, WordSet], AfterValidator(_of_one_list)]
"""Lists of words of which each word has one."""


class Section(BaseModel):
    """A part of the file of a language. A list that is missing, or that nobody reads, is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Words(Section):
    """`begins`: words are searched by their beginnings. `stemmer`: none for a language without inflected words.

    `small_talk`: words of any conversation. `negations`: as they stand among the words of a text.
    """

    stop_words: Annotated[frozenset[str], BeforeValidator(lambda text: frozenset(words(_text(text))))]
    begins: bool
    stemmer: str | None = None
    small_talk: WordSet = frozenset()
    negations: WordSet = frozenset()


class Kinds(Section):
    """What a question asks for, and what a text gives: phrases for each kind.

    `attributes`: words of which one answers a question for another.
    """

    class Given(Section):
        """Without `before_a_person` a capitalised word inside a sentence is a name."""

        articles: WordSet
        ordinals: WordSet = frozenset()
        time: Phrases
        number: Phrases
        reason: Phrases
        before_a_person: Phrases | None = None
        before_a_name: Pattern
        before_a_place: Phrases

    attributes: list[str] = []
    asked: Lists
    given: Given


class Tense(Section):
    """When what a question asks for holds. `participle`: the pattern of a verb of the past."""

    former: Phrases
    past: Phrases
    participle: Pattern | None = None
    now: Phrases
    acts: Phrases
    bids: Phrases


class Change(Section):
    """By what a text tells of a change."""

    verbs: Phrases
    words: Phrases
    unmeant: Phrases


class Requests(Section):
    """What tells a request from a question. `named`: the pattern of a question about somebody with a name."""

    named: Pattern | None = None
    polite: Phrases
    bids: Phrases
    helping: Phrases
    recalling: Phrases
    past: Phrases
    general: Phrases
    own: Phrases
    questions: WordSet
    choice: Pattern


class Times(Section):
    """Phrases of time: the words of which they are made, and their forms by kind."""

    class Places(Section):
        """The place of each word in its list; months count from 1, weekdays from 0 for Monday."""

        month: Months
        weekday: Groups
        season: Groups
        unit: Groups
        portion: Groups
        part: Groups

    month_too: WordSet
    general: WordSet
    articles: WordSet
    words: Places
    numbers: dict[str, int]
    feasts: dict[str, str]
    phrases: dict[str, list[str]]
    planned: dict[str, list[str]]
    relations: dict[str, Pattern]
    seeking: dict[str, Pattern]
    event: dict[str, Pattern]


class Telling(Section):
    """How a text tells what its speaker feels, wants and does: words and phrases by their names."""

    class Silence(Section):
        """What tells nothing. `abbreviations` end with a point within a sentence; `breaks` part two clauses."""

        abbreviations: WordSet
        breaks: WordSet
        asking: Phrases
        courtesy: Phrases
        unknown: Phrases

    not_within: WordSet
    numbers: WordSet
    to_a_judge: Pattern | None = None
    searched: Phrases
    held: WordSet
    failed: WordSet
    no_numbers: WordSet
    function_words: WordSet
    contractions: dict[str, str]
    words: dict[str, WordSet]
    pasted: dict[str, WordSet]
    degrees: Exclusive
    feelings: dict[str, Lists]
    emoji: Exclusive
    states: dict[str, Lists]
    outcomes: dict[str, Lists]
    idle: Lists
    irony: Lists
    past: Lists
    goals: Lists
    rules: Lists
    importance: Lists
    steps: dict[str, Lists]
    results: Exclusive
    questions: Lists
    silence: Silence
    deeds: dict[str, Lists]
    replies: Lists


class Names(Section):
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
    called: Choices
    my: Choices
    person_verbs: WordSet
    person_leads: WordSet
    place_leads: WordSet
    from_work: Pattern
    place_cues: Pattern
    place_suffixes: WordSet
    places: WordSet
    organisation_suffixes: WordSet
    organisation_cues: Pattern
    project_cues: Choices
    before_a_project: WordSet
    product_cues: Choices
    before_a_product: WordSet
    title_cues: Pattern
    role_aside: Pattern | None = None
    supposed: Pattern
    may_state: Pattern
    alias_statements: list[Pattern]
    name_statements: list[Pattern]
    role_statements: list[Pattern]
    occupations: WordSet
    occupation_suffixes: Choices
    trades: dict[str, str]
    runs: str
    businesses: WordSet
    role_ends: WordSet
