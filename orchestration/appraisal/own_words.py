"""A text without the words of others, and its words with their capitals. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MOST_READ, MIDDLE = 100_000, "middle_of_description"
"""At most this many characters of a text are read for names; what is in `unset` of a memory with a longer text."""
LONG_QUOTATION: Final = 4
"""A quotation with this many spaces is what somebody else said; a shorter one may be a title."""
_TOKEN: Final = re.compile(r"[^\W\d_](?:[\w'’&-]*\w)?")
_OWNING: Final = re.compile(r"['’]s$|['’]$")
_FOREIGN: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{1,200}`|^[ \t]*>.*$|<<.{0,4000}?>>|>>.{0,4000}?<<|\bhttps?://\S+|\bwww\.\S+|(?<![\w.+-])[\w.+-]{1,200}@[\w-]+\.[\w.]+",
    re.DOTALL | re.MULTILINE,
)
QUOTED: Final = re.compile(r'"([^"\n]{1,2000})"|“([^“”\n]{1,2000})”|„([^„“”"\n]{1,2000})[“”"]|«([^«»\n]{1,2000})»')
_NEW_SENTENCE: Final = re.compile(r"[.!?:\n…•*|]|\"|“|„|\)\s*-")
_LONGEST_HEADING: Final = 100
_HEADING_WORDS: Final = 4
_HEADING_SHARE: Final = 0.7


@dataclass(slots=True)
class Token:
    """A word of a text: `word` without a possessive ending, `key` in lower case. `first`: a sentence begins."""

    word: str
    key: str
    start: int
    end: int
    capital: bool
    first: bool
    owning: bool


def ends_of(text: str) -> str:
    """What is read of a text: all, or of one without end its first part and half as much of its last."""
    return text if len(text) <= MOST_READ else f"{text[: 2 * MOST_READ // 3]}\n{text[-(MOST_READ // 3) :]}"


def own_words(text: str) -> str:
    """The text with code, links, cited lines and long quotations blanked: what others wrote. Places stay."""
    if any(sign in text for sign in ("`", ">", "http", "www.", "@")):
        text = _FOREIGN.sub(lambda found: " " * len(found[0]), text)
    return QUOTED.sub(_blank_long, text) if has_quotes(text) else text


def has_quotes(text: str) -> bool:
    return any(sign in text for sign in '"“„«')


def _blank_long(found: re.Match[str]) -> str:
    return " " * len(found[0]) if found[0].count(" ") >= LONG_QUOTATION else found[0]


def tokens_of(text: str) -> list[Token]:
    """The words of a text in order."""
    tokens: list[Token] = []
    end = 0
    for found in _TOKEN.finditer(text):
        whole = found[0]
        word = _OWNING.sub("", whole)
        gap = text[end : found.start()]
        first = not tokens or bool(_NEW_SENTENCE.search(gap))
        capital = word[:1].isupper() and not (len(word) > 1 and word.isupper())
        tokens.append(
            Token(word, word.lower().replace("’", "'"), found.start(), found.end(), capital, first, word != whole)
        )
        end = found.end()
    return tokens


def heading_spans(text: str) -> list[tuple[int, int]]:
    """The lines in which most words have a capital: there it is no sign of a name."""
    spans: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        if _is_heading(line):
            spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _is_heading(line: str) -> bool:
    if len(line) > _LONGEST_HEADING or "," in line or line.rstrip().endswith("."):
        return False
    words = [word for word in line.split() if word[0].isalpha()]
    large = sum(word[0].isupper() for word in words)
    return len(words) >= _HEADING_WORDS and large >= _HEADING_SHARE * len(words)
