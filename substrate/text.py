"""Text in the normal form that the full-text index and the lexical score use. Pure.

The engine's tokenizer folds ASCII case only, treats `'` and `-` as breaks and `\\` as an escape, and has no stop
words. So stored texts and queries are brought to one normal form here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"\w+")
_PLAIN = re.compile(r"[\x20-\x5b\x5d-\x7e\n\r\t]*\Z")
_SPACED = "".join(char.lower() if _WORD.match(char) else " " for char in map(chr, range(128)))
_stemmer = Stemmer.Stemmer("english")

MAX_QUERY_WORDS = 24


def count_of(count: int, noun: str) -> str:
    """Return the count with the noun in its singular or plural: `1 memory`, `2 memories`, `1,000 links`."""
    if count == 1:
        return f"1 {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{count:,} {noun[:-1]}ies" if ends_in_y else f"{count:,} {noun}s"


STOP_WORDS = frozenset(
    """
    a about after all also am an and any are aren as at be because been before being but by can could d did
    didn do does doesn doing don down during each ever few for from further get give got had has have having he
    her here hers him his how i if in into is isn it its itself just ll m may me might more most my no nor not
    now of off on once only or other our out over own please re s same say she should so some such t tell than
    that the their them then there these they this those through to too up us ve very was wasn we were what when
    where which while who whom whose why will with would you your yours""".split()
)


def normal_text(text: str) -> str:
    """NFKD without accents, in lower case."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(char for char in decomposed if not unicodedata.combining(char)).lower()


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


def query_words(text: str) -> list[str]:
    """Return the distinct words of a query without stop words, in order, at most `MAX_QUERY_WORDS` (the longest).

    Joined by `|` they are a safe full-text query: only word characters are left (001, sanitizeFtsQuery).
    """
    distinct = list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS and word.strip("_")))
    if len(distinct) > MAX_QUERY_WORDS:
        longest = set(sorted(distinct, key=lambda word: (-len(word), word))[:MAX_QUERY_WORDS])
        distinct = [word for word in distinct if word in longest]
    return distinct


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The English stem of a word in normal form."""
    return str(_stemmer.stemWord(word))


@lru_cache(maxsize=8192)
def stems(text: str) -> frozenset[str]:
    """Return the stems of a text without stop words. Cached: a record's text never changes."""
    return frozenset(stem(word) for word in set(words(text)) if word not in STOP_WORDS)


@lru_cache(maxsize=8192)
def name_key(name: str) -> str:
    """Return a name in the form in which names are compared: normal form, `_` and `-` as spaces."""
    return " ".join(_WORD.findall(normal_text(name).replace("_", " ")))
