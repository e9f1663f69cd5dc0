"""The phrases of a language by which a text is appraised, as patterns, made of its file. Pure.

A phrase is words with single spaces. `(a|b)` is a choice, `word?` and `(a|b)?` may be absent, `#` is a number,
`%ing` a word that ends so, and `..` stands for up to five words, none of them a negation. A phrase that ends with
`+` is strong, one with `-` is mild.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from substrate.language.languages import Language

FEELINGS: Final = frozenset(("felt", "evoking", "nouns", "told"))
"""The kinds of phrases for emotions."""
IDLE: Final = "idle"
"""The kind of set phrases that only look like others, such as "happy to help"."""

type Book = Mapping[str, Sequence[Entry]]
"""Phrases by first word, the longest first."""

_PART: Final = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)\??|\S+")
_GAP, _NUMBER, _ENDS_IN_ING = "..", "#", "%ing"
_SIGNS: Final = frozenset((_GAP, _NUMBER, _ENDS_IN_ING))
"""What stands for words that it does not name."""


class Entry(NamedTuple):
    """What a phrase tells: `kind` is its table in the file, `value` an emotion, a state or a step.

    `strength` is 1 for a strong phrase, −1 for a mild one. `phrase` is None for a single word. `needed`: of these
    words every text with the phrase has one.
    """

    kind: str
    value: str
    strength: int
    phrase: str | None
    length: int
    needed: frozenset[str]

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """The regular expression of the phrase, compiled when it is first used: a text needs few of the 1,700."""
        return None if self.phrase is None else _compiled(self.phrase)


@cache
def all_phrases(code: str) -> Book:
    """The phrases of a language for what a speaker feels, wants, has done and asks for."""
    return _book(_phrase_lists(Language.of(code)))


@cache
def feelings(code: str) -> Book:
    """Of these phrases those for emotions, with those that only look like some."""
    book: dict[str, Sequence[Entry]] = {}
    for first, entries in all_phrases(code).items():
        felt = [entry for entry in entries if entry.kind in FEELINGS or entry.kind == IDLE]
        if felt:
            book[first] = felt
    return book


@cache
def deeds(code: str) -> Book:
    """The phrases for what somebody does to something; the value of each is the type of the link."""
    kinds = Language.of(code).telling.deeds
    return _book((kind, value, values[value]) for kind, values in kinds.items() for value in values)


@cache
def replies(code: str) -> Book:
    """The phrases with which one side says what came of what the other did."""
    return _book(("replies", value, phrases) for value, phrases in Language.of(code).telling.replies.items())


def _book(lists: Iterable[tuple[str, str, Iterable[str]]]) -> Book:
    by_first: defaultdict[str, list[Entry]] = defaultdict(list)
    for kind, value, phrases in lists:
        for phrase in phrases:
            strength = {"+": 1, "-": -1}.get(phrase[-1], 0)
            bare = phrase[:-1] if strength else phrase
            is_word = " " not in bare and "(" not in bare
            parts = _parts(bare)
            entry = Entry(kind, value, strength, None if is_word else bare, len(parts), _needed_words(parts))
            for first in _first_words(parts):
                by_first[first].append(entry)
    return {first: sorted(entries, key=lambda entry: -entry.length) for first, entries in by_first.items()}


def _phrase_lists(language: Language) -> Iterator[tuple[str, str, Iterable[str]]]:
    telling = language.telling
    for kind, lists in telling.phrases.items():
        yield from ((kind, value, phrases) for value, phrases in lists.items())
    yield from (("told", emotion, signs) for emotion, signs in telling.emoji.items())
    for kind, values in (("states", telling.states), ("steps", telling.steps), ("outcomes", telling.outcomes)):
        for value, lists in values.items():  # the list `others` of a state has the kind `states_others`
            yield from ((kind if name == "phrases" else f"{kind}_{name}", value, lists[name]) for name in lists)


def _parts(phrase: str) -> list[str]:
    return _PART.findall(phrase) if "(" in phrase else phrase.split()


def _needed_words(parts: Sequence[str]) -> frozenset[str]:
    """The words of which every text with a phrase has one: those with which its last certain part begins.

    The last, because by its first words the phrase was found.
    """
    for part in reversed(parts):
        if part.endswith("?") or part in _SIGNS:
            continue
        firsts = _first_words_of(part)
        if firsts.isdisjoint(_SIGNS):
            return frozenset(firsts)
    return frozenset(_first_words(parts))


@cache
def _compiled(phrase: str) -> re.Pattern[str]:
    return re.compile(_pattern(phrase))


def _pattern(phrase: str) -> str:
    """The regular expression of a phrase; each word is followed by one space. Repeats are bounded: linear time."""
    parts = []
    for part in _parts(phrase):
        optional = part.endswith("?")
        bare = part[:-1] if optional else part
        if bare in _SIGNS:
            parts.append(_sign_pattern(bare))
            continue
        alternatives = _alternatives(bare) if bare.startswith("(") else None
        pattern = f"(?:{'|'.join(map(_pattern, alternatives))})" if alternatives else f"{re.escape(bare)} "
        parts.append(f"(?:{pattern})?" if optional else pattern)
    return "".join(parts)


@cache
def _sign_pattern(sign: str) -> str:
    """What a sign stands for, in all languages: a text may have words of several."""
    if sign == _ENDS_IN_ING:
        return r"\w+ing "
    if sign == _NUMBER:
        return rf"(?:\d[\d.,]*|{'|'.join(Language.gather('telling.numbers'))}) "
    # A negation within the gap would turn the phrase into its opposite.
    return rf"(?:(?!(?:{'|'.join(Language.gather('telling.not_within'))}) )[\w'-]+ ){{0,5}}?"


def _alternatives(choice: str) -> list[str]:
    """The parts of `(a|b)`; a part may hold a choice of its own."""
    parts, depth = [""], 0
    for char in choice[1:-1]:
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _first_words(parts: Sequence[str]) -> set[str]:
    """The words with which the text of a phrase may begin."""
    firsts: set[str] = set()
    for part in parts:
        optional = part.endswith("?")
        firsts |= _first_words_of(part[:-1] if optional else part)
        if not optional:
            break
    return firsts


def _first_words_of(part: str) -> set[str]:
    if not part.startswith("("):
        return {part}
    return {first for choice in _alternatives(part) for first in _first_words(_parts(choice))}
