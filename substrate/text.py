"""Text in the normal form that the full-text index and the lexical score use. Pure.

The engine's tokenizer folds ASCII case only, treats `'` and `-` as breaks and `\\` as an escape, and has no stop
words. So stored texts and queries are brought to one normal form here.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import Stemmer

_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[\x20-\x5b\x5d-\x7e\n\r\t]*\Z")
_SPACED = "".join(char.lower() if _WORD.match(char) else " " for char in map(chr, range(128)))

DEFAULT_LANGUAGE = "en"
MAX_QUERY_WORDS = 24
MOST_READ = 4000
"""Only so many characters of a text decide its language."""
LEAST_BEGINNING = 4
"""A shorter beginning is that of too many words."""


def count_of(count: int, noun: str) -> str:
    """Return the count with the noun in its singular or plural: `1 memory`, `2 memories`, `1,000 links`."""
    if count == 1:
        return f"1 {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{count:,} {noun[:-1]}ies" if ends_in_y else f"{count:,} {noun}s"


def normal_text(text: str) -> str:
    """NFKD without accents, in lower case."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char)).lower()


@dataclass(frozen=True, slots=True)
class WordLanguage:
    """The words of a language, from its file in `languages/`. `begins`: words are searched by their beginnings."""

    stop_words: frozenset[str]
    begins: bool
    stemmer: Any


@cache
def word_languages() -> Mapping[str, WordLanguage]:
    """The languages that have a file, by code; the default first, the others by code."""
    files = (file for file in resources.files(__package__).joinpath("languages").iterdir() if file.is_file())
    tables = {file.name.partition(".")[0]: tomllib.loads(file.read_text("utf-8")) for file in files}
    codes = sorted(tables, key=lambda code: (code != DEFAULT_LANGUAGE, code))
    return {code: _word_language(tables[code]) for code in codes}


def _word_language(table: Mapping[str, Any]) -> WordLanguage:
    stop_words = frozenset(map(normal_text, table["stop_words"].split()))
    return WordLanguage(stop_words, table["begins"], Stemmer.Stemmer(table["stemmer"]))


STOP_WORDS = word_languages()[DEFAULT_LANGUAGE].stop_words


def word_language(text: str) -> str:
    """The code of the language with the most stop words in a text; the default when no other has more."""
    found = words(text[:MOST_READ])
    counts = {code: sum(map(each.stop_words.__contains__, found)) for code, each in word_languages().items()}
    return max(counts, key=lambda code: counts[code])


def search_text(*parts: str) -> str | None:
    """Return the words to index for a record's texts; None when the engine's tokenizer finds the same words."""
    joined = " ".join(part for part in parts if part)
    return None if _PLAIN.match(joined) else " ".join(_WORD.findall(normal_text(joined)))


def words(text: str) -> list[str]:
    """The words of a text in normal form, in order."""
    return _WORD.findall(normal_text(text))


def spaced_text(text: str) -> str:
    """The words of a text in normal form, with only spaces before, between and after them."""
    return f" {text.translate(_SPACED)} " if text.isascii() else f" {' '.join(words(text))} "


def query_words(text: str, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Return the distinct words of a query without the stop words of its language, in order.

    At most `MAX_QUERY_WORDS`, the longest. Joined by `|` they are a safe full-text query: only word characters are
    left (001, sanitizeFtsQuery).
    """
    silent = word_languages()[language].stop_words
    distinct = list(dict.fromkeys(word for word in words(text) if word not in silent and word.strip("_")))
    if len(distinct) > MAX_QUERY_WORDS:
        longest = set(sorted(distinct, key=lambda word: (-len(word), word))[:MAX_QUERY_WORDS])
        distinct = [word for word in distinct if word in longest]
    return distinct


def search_form(word: str, language: str) -> str:
    """How the full-text index is asked for a word: by itself or, in a language of many forms, by their beginning.

    The beginning ("wohnung*") is the stem, where that has `LEAST_BEGINNING` letters."""
    if not word_languages()[language].begins:
        return word
    beginning = stem(word, language)
    return f"{beginning}*" if len(beginning) >= LEAST_BEGINNING and word.startswith(beginning) else word


@lru_cache(maxsize=65_536)
def stem(word: str, language: str = DEFAULT_LANGUAGE) -> str:
    """The stem of a word in normal form."""
    return str(word_languages()[language].stemmer.stemWord(word))


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """Return the stems of a text without stop words. Cached: a record's text never changes."""
    return frozenset(stem(word) for word in set(words(text)) if word not in STOP_WORDS)


@lru_cache(maxsize=8192)
def name_key(name: str) -> str:
    """Return a name in the form in which names are compared: normal form, `_` and `-` as spaces."""
    return " ".join(_WORD.findall(normal_text(name).replace("_", " ")))
