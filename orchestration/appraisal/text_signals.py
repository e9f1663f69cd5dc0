"""Reads the relations that a text names by the relation types of the graph (002, known problem 6). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.context import NEGATION_REACH
from schemas.wave_signal import Relation
from substrate.language.languages import DEFAULT_LANGUAGE, Language
from substrate.language.text import name_key, stem, stop_words, words

MAX_RELATIONS: Final = 16


class _NameSpan(NamedTuple):
    """A name in a text: the positions of its words, `[start, end)`."""

    start: int
    end: int
    name: str


def relation_words(text: str, names: Sequence[str]) -> list[str]:
    """The distinct words of a text that may name a relation: no stop words, no numbers, no parts of `names`."""
    name_words: set[str] = set()
    for name in names:
        name_words.update(name_key(name).split())
    return [
        word
        for word in dict.fromkeys(words(text))
        if word not in stop_words() and word not in name_words and not word.isdigit()
    ]


def has_same_stem(word: str, relation_type: str) -> bool:
    """True when a word is a form of the relation type, as `criticizing` is of CRITICIZED."""
    return stem(word) in {
        stem(part) for part in words(relation_type.replace("_", " ")) if part not in stop_words()
    }


def read_relations(
    text: str, names: Sequence[str], types: Sequence[str], matches: Callable[[str, str], bool] = has_same_stem
) -> tuple[Relation, ...]:
    """The relations that the text names, at most `MAX_RELATIONS`.

    A relation goes from the nearest name before its word to the nearest name after it; `by` after the word swaps
    the two, as in `praised by Kai`. `types`: the relation types of the graph. `matches`: a test whether a word
    names a type.
    """
    english = Language.of(DEFAULT_LANGUAGE)
    agents = english.telling.words["agent"]
    text_words = words(text)
    spans = _name_spans(text_words, names)
    type_by_word: dict[str, str | None] = {}
    for word in relation_words(text, names):
        type_by_word[word] = next((each for each in types if matches(word, each)), None)
    relations: dict[Relation, None] = {}
    for position, word in enumerate(text_words):
        relation_type = type_by_word.get(word)
        negated = not english.words.negations.isdisjoint(text_words[max(0, position - NEGATION_REACH) : position])
        if relation_type is None or negated:
            continue
        before = [span for span in spans if span.end <= position]
        after = [span for span in spans if span.start > position]
        source = max(before, key=lambda span: span.end).name if before else None
        target = min(after, key=lambda span: span.start).name if after else None
        if not agents.isdisjoint(text_words[position + 1 : position + 2]):
            source, target = target, source
        relations[Relation(relation_type=relation_type, source=source, target=target)] = None
    return tuple(relations)[:MAX_RELATIONS]


def _name_spans(text_words: Sequence[str], names: Sequence[str]) -> list[_NameSpan]:
    spans = []
    for name in names:
        name_words = name_key(name).split()
        size = len(name_words)
        spans += [
            _NameSpan(start, start + size, name)
            for start in range(len(text_words) - size + 1)
            if size and text_words[start : start + size] == name_words
        ]
    return spans


def match_by_meaning(vectors: Mapping[str, Sequence[float]], floor: float) -> Callable[[str, str], bool]:
    """Make a test whether a word names a relation type: it has the same stem, or a cosine of at least `floor`.

    `vectors`: unit vectors of the words and of the phrases of the types. Without a vector only the stem counts.
    """

    def matches(word: str, relation_type: str) -> bool:
        if has_same_stem(word, relation_type):
            return True
        left, right = vectors.get(word), vectors.get(relation_phrase(relation_type))
        return left is not None and right is not None and sum(map(float.__mul__, left, right)) >= floor

    return matches


def relation_phrase(relation_type: str) -> str:
    """A relation type as words: IS_PROUD_OF as `is proud of`."""
    return relation_type.replace("_", " ").lower()
