"""Text in the normal form that the full-text index and the lexical score use. Pure.

The engine's tokenizer folds ASCII case only, treats `'` and `-` as breaks and `\\` as an escape, and has no stop
words. So stored texts and queries are brought to one normal form here.

Han, Hiragana and Katakana are written without blanks, and the engine would take a whole clause for one word. As in
CJKAnalyzer of Lucene, the words of such a run are its overlapping pairs of characters: 掃除機 has 掃除 and 除機.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, cast

from schemas.bounded_cache import cached_within
from substrate.language.languages import DEFAULT_LANGUAGE, AskedLanguage, Language


def _spacing(character: re.Pattern[str]) -> str:
    """For `str.translate` of ASCII: lower case, with a blank in place of what is no such character."""
    return "".join(char.lower() if character.match(char) else " " for char in map(chr, range(128)))


def word_finder(characters: str) -> Callable[[str], list[str]]:
    """What returns the words of a text in lower case, in order: runs of what the pattern `characters` matches."""
    runs, spaced = re.compile(f"{characters}+"), _spacing(re.compile(characters))

    def find(text: str) -> list[str]:
        # ASCII needs no pattern, and a third of its time.
        return text.translate(spaced).split() if text.isascii() else runs.findall(text.lower())

    return find


_WORD = re.compile(r"\w+")
_WORD_OR_EMOJI = re.compile(
    "\\w+|[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
"""A word, a flag, or another emoji, whose colour of skin is left out."""
_SPACED = _spacing(_WORD)
_BETWEEN = "\x1f"
"""Between texts that are read together; no text holds it."""
_SPACED_APART = _spacing(re.compile(rf"[\w{_BETWEEN}]"))
_PLAIN = re.compile(r"[\x20-\x5b\x5d-\x7e\n\r\t]*\Z")
_UNSPACED_SCRIPTS = (
    "\u3005-\u3007\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Han with its marks of repetition, Hiragana, Katakana with the mark of a long vowel, Bopomofo."""
_UNSPACED = re.compile(f"[{_UNSPACED_SCRIPTS}]")
_PARTS = re.compile(f"[{_UNSPACED_SCRIPTS}]+|[^{_UNSPACED_SCRIPTS}]+")
_CHARACTERS = re.compile(f"[{_UNSPACED_SCRIPTS}]|[^{_UNSPACED_SCRIPTS}]+")
_VOICED = re.compile("[\u3041-\u30ff][\u3099\u309a]")


MAX_QUERY_WORDS: Final = 24
MOST_READ: Final = 4000
"""Only this many characters of a text decide its language."""
MOST_WORDS_READ: Final = 200
"""Of a text that tells something, only this many words decide in which language."""
LONGEST_KEPT: Final = 64
"""The stems of longer words are not kept in memory."""
MOST_COUNTED: Final = 65_536
"""Of this many words of a language the stem that is counted is kept; then it is looked up anew."""
LEAST_BEGINNING: Final = 4
"""A shorter beginning is that of too many words."""
_HIRAGANA: Final = re.compile("[\u3041-\u309f]")
_find_letters: Final = word_finder(r"[^\W_]")


def count_of(count: int, noun: str) -> str:
    """Return the count with the noun in its singular or plural: `1 memory`, `2 memories`, `1,000 links`."""
    if count == 1:
        return f"1 {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{count:,} {noun[:-1]}ies" if ends_in_y else f"{count:,} {noun}s"


def normal_text(text: str) -> str:
    """NFKD without accents, in lower case. The marks that make another syllable of a kana stay: か is not が."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    if "\u3099" in decomposed or "\u309a" in decomposed:
        decomposed = _VOICED.sub(lambda found: unicodedata.normalize("NFC", found[0]), decomposed)
    return "".join(char for char in decomposed if not unicodedata.combining(char)).lower().replace("œ", "oe")


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script that is written without blanks between words."""
    return bool(_UNSPACED.match(text))


def has_unspaced(text: str) -> bool:
    """Whether a text has a character of a script that is written without blanks between words."""
    return not text.isascii() and bool(_UNSPACED.search(text))


def words(text: str) -> list[str]:
    """The words of a text in normal form, in order; of a run without blanks its pairs of characters. Each emoji is
    a word."""
    return _find_words(text, ends=False)


def flat_text(text: str) -> str:
    """The words of a text with one blank before, between and after them."""
    return f" {' '.join(words(text))} "


def flat_texts(texts: Sequence[str]) -> list[str]:
    """The same of many texts, which takes half of the time."""
    plain = [text for text in texts if text.isascii()]
    parts = _BETWEEN.join(plain).translate(_SPACED_APART).split(_BETWEEN) if plain else []
    if len(parts) != len(plain):  # one of them holds what should stand between them
        return list(map(flat_text, texts))
    flat = (f" {' '.join(part.split())} " for part in parts)
    return [next(flat) if text.isascii() else flat_text(text) for text in texts]


def indexed_words(text: str) -> list[str]:
    """The words by which a text is found: the last character of each run stands by itself too. So each character
    of a run begins a word, and one character alone can be searched as a beginning."""
    return _find_words(text, ends=True)


def _find_words(text: str, *, ends: bool) -> list[str]:
    if text.isascii():
        return text.translate(_SPACED).split()
    normal = normal_text(text)
    found = _WORD_OR_EMOJI.findall(normal)
    return [part for word in found for part in _cut(word, ends=ends)] if has_unspaced(normal) else found


def split_scripts(word: str) -> list[str]:
    """The parts of a word in normal form: each character of a script without blanks, and what stands between."""
    return _CHARACTERS.findall(word) if has_unspaced(word) else [word]


def _cut(word: str, *, ends: bool) -> Iterator[str]:
    for part in _PARTS.findall(word):
        if len(part) == 1 or not is_unspaced(part):
            yield part
            continue
        yield from map("".join, pairwise(part))
        if ends:
            yield part[-1]


def search_text(*parts: str) -> str | None:
    """Return the words to index for a record's texts; None when the engine's tokenizer finds the same words."""
    joined = " ".join(part for part in parts if part)
    return None if _PLAIN.match(joined) else " ".join(indexed_words(joined))


def spaced_text(text: str) -> str:
    """The words by which a text is found, with only spaces before, between and after them."""
    return f" {text.translate(_SPACED)} " if text.isascii() else f" {' '.join(indexed_words(text))} "


@cache
def stop_words(language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """The words of a language, in normal form, that say nothing of what a text is about."""
    return frozenset(words(" ".join(AskedLanguage.of(language).words.stop_words)))


def likeliest[L: AskedLanguage](
    words: Sequence[str], whole: Sequence[L], known: Callable[[L], Collection[str]]
) -> L:
    """Of the `whole` list the language that has the most of some words as `known`; of equal ones the first."""
    counts = [sum(map(known(language).__contains__, words)) for language in whole]
    return whole[counts.index(max(counts))]


def any_of(phrases: Iterable[str], more: str | None = None) -> str:
    """The pattern for any of some phrases, as whole words, or for what the pattern `more` finds. `..` in a phrase
    is one to four words."""
    alternatives: list[str] = []
    for phrase in phrases:
        escaped = r"\s+".join(map(re.escape, phrase.split()))
        alternatives.append(escaped.replace(r"\.\.", r"(?:[\w']+\s+){0,3}?[\w']+"))
    return rf"\b(?:{'|'.join(alternatives if more is None else (*alternatives, more))})\b"


@cache
def pattern_of(code: str, part: str, more: str = "") -> re.Pattern[str]:
    """Any of the phrases of a list of a file, such as `tense.past`, or what its pattern `more` finds."""
    language = Language.of(code)
    return re.compile(any_of(language.part(part), language.patterns.get(more)))


def word_language(text: str) -> str:
    """The code of the language with the most stop words in a text; the default when no other has more."""
    found = words(text[:MOST_READ])
    return likeliest(found, AskedLanguage.all(), lambda language: stop_words(language.code)).code


def language_of(text: str) -> Language:
    """The language whose function words are most frequent in the first of a text; the default when undecided."""
    found = _find_letters(text[: 12 * MOST_WORDS_READ])[:MOST_WORDS_READ]
    return likeliest(found, Language.all(), lambda language: language.telling.function_words)


def query_words(text: str, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Return the distinct words of a query without the stop words of its language, in order. At most
    `MAX_QUERY_WORDS`, the longest. Joined by `|` they are a safe full-text query: only word characters are left
    (001, sanitizeFtsQuery)."""
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
    script without blanks is the beginning of a pair."""
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


@cached_within(4 << 20)
def name_key(name: str) -> str:
    """Return a name in the form in which names are compared: normal form, `_` and `-` as spaces."""
    return " ".join(_WORD.findall(normal_text(name).replace("_", " ")))
