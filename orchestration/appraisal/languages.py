"""The languages that can be appraised: the words and phrases of each, from its file in `languages/`. Pure.

A phrase is words with single spaces. `(a|b)` is a choice, `word?` and `(a|b)?` may be absent, `#` is a number,
`%ing` a word that ends so, and `..` stands for up to five words, none of them a negation. A phrase that ends with
`+` is strong, one with `-` is mild. Each file is read once.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, Final, NamedTuple

import Stemmer

from substrate.text import word_finder

CODES: Final = ("en", "de")
"""The languages, the default first."""
FEELINGS: Final = frozenset(("felt", "evoking", "nouns", "told"))
"""The tables of phrases for emotions."""
IDLE: Final = "idle"
"""The table of set phrases that only look like others, such as "happy to help"."""
MOST_WORDS_READ: Final = 200
"""Only so many words of a text decide its language."""

_PART: Final = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)\??|\S+")
_GAP: Final = r"(?:(?!(?:not|never|no|nicht|nie|keine?) )[\w'-]+ ){0,5}?"
"""Up to five words, none of them a negation: it would turn the phrase into its opposite."""
_NUMBER: Final = (
    r"(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|ein|zwei|drei|vier|fünf|zehn) "
)
_SPECIAL: Final = {"..": _GAP, "#": _NUMBER, "%ing": r"\w+ing "}
_find_words: Final = word_finder(r"[^\W_]")


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


@dataclass(frozen=True)
class Language:
    """The words of a language. `table`: its file. `words`: named sets of words.

    `contractions`: the words that a contracted word stands for. `degrees`: what a degree word does to an
    intensity. `outcomes`: by stem, 1 for a good outcome and −1 for a bad one.
    `names_have_capitals`: a capitalised word inside a sentence is a name. `judging`: lists of phrases by which a
    rule is read and an action compared with it.
    """

    code: str
    function_words: frozenset[str]
    contractions: Mapping[str, Sequence[str]]
    words: Mapping[str, frozenset[str]]
    degrees: Mapping[str, str]
    table: Mapping[str, Any]
    outcomes: Mapping[str, int]
    names_have_capitals: bool
    stemmer: Any
    judging: Mapping[str, Sequence[str]]

    @cached_property
    def phrases(self) -> Mapping[str, Sequence[Entry]]:
        """The phrases by first word, the longest first. A question without a state needs none."""
        return _phrase_book(_phrase_lists(self.table))

    @cached_property
    def deeds(self) -> Mapping[str, Sequence[Entry]]:
        """The phrases for what somebody does to something, by first word; `value` is the type of the link."""
        of_kind = self.table["deeds"].items()
        return _phrase_book((kind, value, text) for kind, values in of_kind for value, text in values.items())

    @cached_property
    def replies(self) -> Mapping[str, Sequence[Entry]]:
        """The phrases with which one side says what came of what the other did."""
        return _phrase_book(("replies", value, phrases) for value, phrases in self.table["replies"].items())

    @cached_property
    def feelings(self) -> Mapping[str, Sequence[Entry]]:
        """Of the phrases those for emotions, with those that only look like some: most questions have none."""
        book: defaultdict[str, list[Entry]] = defaultdict(list)
        for first, entry in ((first, entry) for first, entries in self.phrases.items() for entry in entries):
            if entry.kind in FEELINGS or entry.kind == IDLE:
                book[first].append(entry)
        return dict(book)

    def outcome(self, word: str) -> int:
        """1 for a word of a good outcome, −1 for one of a bad outcome, else 0."""
        return self.outcomes.get(self.stemmer.stemWord(word), 0)


@cache
def language(code: str) -> Language:
    """The language with this code. Raises FileNotFoundError for one without a file."""
    text = resources.files("orchestration.appraisal").joinpath("languages", f"{code}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    stemmer = Stemmer.Stemmer(table["stemmer"])
    outcomes: dict[str, int] = {}
    for name, sign in (("good", 1), ("bad", -1)):
        outcomes |= {stemmer.stemWord(word): sign for word in table["results"][name].split()}
    return Language(
        code=code,
        function_words=frozenset(table["function_words"].split()),
        contractions={short: tuple(full.split()) for short, full in table["contractions"].items()},
        words={name: frozenset(words.split()) for name, words in (table["words"] | table["pasted"]).items()},
        degrees={word: name for name, words in table["degrees"].items() for word in words.split()},
        table=table,
        outcomes=outcomes,
        names_have_capitals=table["names_have_capitals"],
        stemmer=stemmer,
        judging={name: tuple(_listed(phrases)) for name, phrases in table["judging"].items()},
    )


def _listed(phrases: str) -> Iterator[str]:
    yield from filter(None, (" ".join(phrase.split()) for phrase in phrases.split(",")))


def language_of(text: str) -> Language:
    """The language whose function words are most frequent at the beginning of a text; English when undecided."""
    found = _find_words(text[: 12 * MOST_WORDS_READ])[:MOST_WORDS_READ]
    candidates = [language(code) for code in CODES]
    counts = [sum(map(each.function_words.__contains__, found)) for each in candidates]
    return candidates[counts.index(max(counts))]


def _phrase_book(lists: Iterable[tuple[str, str, str]]) -> Mapping[str, Sequence[Entry]]:
    by_first: defaultdict[str, list[Entry]] = defaultdict(list)
    for kind, value, phrases in lists:
        for phrase in _listed(phrases):
            strength = {"+": 1, "-": -1}.get(phrase[-1], 0)
            bare = phrase[:-1] if strength else phrase
            is_word = " " not in bare and "(" not in bare
            parts = _parts(bare)
            entry = Entry(kind, value, strength, None if is_word else bare, len(parts), _needed_words(parts))
            for first in _first_words(parts):
                by_first[first].append(entry)
    return {first: sorted(entries, key=lambda entry: -entry.length) for first, entries in by_first.items()}


def _phrase_lists(table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each list of phrases with its kind and value."""
    for kind, emotions in table["feelings"].items():
        for emotion, phrases in emotions.items():
            yield kind, emotion, phrases
    for emotion, signs in table["emoji"].items():
        yield "told", emotion, ", ".join(signs.split())
    for kind in ("states", "steps", "outcomes"):
        for value, part in table[kind].items():
            yield from ((_kind(kind, name), value, phrases) for name, phrases in part.items())
    for kind in ("goals", "rules", "importance", "questions", "irony", "past", "idle"):
        for value, phrases in table[kind].items():
            yield kind, value, phrases


def _kind(table: str, name: str) -> str:
    """The kind of a list of phrases: that of its table, or `states_others` for the list `others` of `states`."""
    return table if name == "phrases" else f"{table}_{name}"


def _parts(phrase: str) -> list[str]:
    """The parts of a phrase: words, choices and signs."""
    return _PART.findall(phrase) if "(" in phrase else phrase.split()


def _needed_words(parts: Sequence[str]) -> frozenset[str]:
    """The words of which every text with a phrase has one: those with which its last certain part begins.

    The last, because by its first words the phrase was found.
    """
    for part in reversed(parts):
        if part.endswith("?") or part in _SPECIAL:
            continue
        firsts = _first_words_of(part)
        if firsts.isdisjoint(_SPECIAL):
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
        if bare in _SPECIAL:
            parts.append(_SPECIAL[bare])
            continue
        alternatives = _alternatives(bare) if bare.startswith("(") else None
        pattern = f"(?:{'|'.join(map(_pattern, alternatives))})" if alternatives else f"{re.escape(bare)} "
        parts.append(f"(?:{pattern})?" if optional else pattern)
    return "".join(parts)


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
