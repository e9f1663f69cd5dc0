"""The words of a text in its language: which that is, which of them tell something, and their stems. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, cast

from schemas.bounded_cache import cached_within
from substrate.language.languages import DEFAULT_LANGUAGE, AskedLanguage, Language
from substrate.text import is_unspaced, word_finder, words

MAX_QUERY_WORDS: Final = 24
MOST_READ: Final = 4000
"""Only so many characters of a text decide its language."""
MOST_WORDS_READ: Final = 200
"""Of a text that tells something, only so many words decide in which language."""
LONGEST_KEPT: Final = 64
"""The stems of longer words are not kept in memory."""
MOST_COUNTED: Final = 65_536
"""Of so many words of a language the stem that is counted is kept; then it is looked up anew."""
LEAST_BEGINNING: Final = 4
"""A shorter beginning is that of too many words."""
_HIRAGANA: Final = re.compile("[\u3041-\u309f]")
_find_words: Final = word_finder(r"[^\W_]")


def stop_words(language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """The words of a language, in normal form, that say nothing of what a text is about."""
    return AskedLanguage.of(language).words.stop_words


def likeliest(found: Sequence[str], known: Mapping[str, Collection[str]]) -> str:
    """The code of the language that knows the most of some words; the first of those that know as many."""
    counts = {code: sum(map(each.__contains__, found)) for code, each in known.items()}
    return max(counts, key=lambda code: counts[code])


def any_of(phrases: Iterable[str], more: str | None = None) -> str:
    """The pattern for any of some phrases, as whole words, or for what the pattern `more` finds.

    `..` in a phrase is one to four words.
    """
    alternatives: list[str] = []
    for phrase in phrases:
        parts = (r"(?:[\w']+\s+){0,3}?[\w']+" if word == ".." else re.escape(word) for word in phrase.split())
        alternatives.append(r"\s+".join(parts))
    return rf"\b(?:{'|'.join(alternatives if more is None else (*alternatives, more))})\b"


def word_language(text: str) -> str:
    """The code of the language with the most stop words in a text; the default when no other has more."""
    return likeliest(words(text[:MOST_READ]), {each.code: each.words.stop_words for each in AskedLanguage.all()})


def language_of(text: str) -> Language:
    """The language whose function words are most frequent in the first of a text; the default when undecided."""
    found = _find_words(text[: 12 * MOST_WORDS_READ])[:MOST_WORDS_READ]
    known = {each.code: each.telling.function_words for each in Language.all()}
    return Language.of(likeliest(found, known))


def query_words(text: str, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Return the distinct words of a query without the stop words of its language, in order.

    At most `MAX_QUERY_WORDS`, the longest. Joined by `|` they are a safe full-text query: only word characters are
    left (001, sanitizeFtsQuery).
    """
    silent = stop_words(language)
    distinct = list(dict.fromkeys(word for word in words(text) if word not in silent and word.strip("_")))
    if len(distinct) > MAX_QUERY_WORDS:
        longest = set(sorted(distinct, key=lambda word: (-_letters(word), word))[:MAX_QUERY_WORDS])
        distinct = [word for word in distinct if word in longest]
    return distinct


def _letters(word: str) -> int:
    """How much a word says, in letters: a character of Han or Katakana says as much as three, Hiragana little."""
    return 3 * (len(word) - len(_HIRAGANA.findall(word))) if is_unspaced(word) else len(word)


def search_form(word: str, language: str) -> str:
    """How the full-text index is asked for a word: by itself or, in a language of many forms, by their beginning.

    The beginning ("wohnung*") is the stem, where that has `LEAST_BEGINNING` letters. A single character of a
    script without blanks is the beginning of a pair.
    """
    if len(word) == 1 and is_unspaced(word):
        return f"{word}*"
    if not AskedLanguage.of(language).words.begins:
        return word
    beginning = stem(word, language)
    return f"{beginning}*" if len(beginning) >= LEAST_BEGINNING and word.startswith(beginning) else word


def stem(word: str, language: str = DEFAULT_LANGUAGE) -> str:
    """The stem of a word in normal form."""
    return _kept_stem(word, language) if len(word) <= LONGEST_KEPT else AskedLanguage.of(language).stem(word)


@lru_cache(maxsize=65_536)
def _kept_stem(word: str, language: str) -> str:
    return AskedLanguage.of(language).stem(word)


class _CountedStems(dict[str, str | None]):
    """By word in normal form its stem, and None for a stop word of the language."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._silent = stop_words(language)

    def __missing__(self, word: str) -> str | None:
        found = None if word in self._silent else stem(word, self._language)
        if len(word) <= LONGEST_KEPT:
            if len(self) >= MOST_COUNTED:
                self.clear()
            self[word] = found
        return found


@cache
def _counted_stems(language: str) -> _CountedStems:
    return _CountedStems(language)


def count_stems(found: Iterable[str], language: str = DEFAULT_LANGUAGE) -> Counter[str]:
    """How often each stem is among words in normal form, in their order, without the stop words of a language."""
    counted = Counter(map(_counted_stems(language).__getitem__, found))
    counted.pop(None, None)
    return cast("Counter[str]", counted)


def stems(text: str, language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """Return the stems of a text without the stop words of a language. Cached: a record's text never changes."""
    return _stems(text, language)


@cached_within(24 << 20)
def _stems(text: str, language: str) -> frozenset[str]:
    silent = stop_words(language)
    return frozenset(stem(word, language) for word in set(words(text)) if word not in silent)
