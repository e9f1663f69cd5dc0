"""Fit texts of other programs into our limits, so that no agent's turn fails for a long message. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from schemas.base import MAX_TEXT

MAX_QUERY: Final = 20_000
"""Characters of a question at most."""
_UNSTORABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_WORD_WITHIN: Final = 200
"""A piece ends between two words, unless its last so many characters hold no space."""


class FittedText(NamedTuple):
    """A text that fits, and a note of what was left out; None when nothing was."""

    text: str
    note: str | None


def remove_control_characters(text: str) -> str:
    """The text with a space in place of each control character and lone surrogate: all doors refuse these."""
    return _UNSTORABLE.sub(" ", text)


def fit_query(text: str) -> FittedText:
    """The text as a question: its beginning, where it is longer than `MAX_QUERY`."""
    whole = remove_control_characters(text).strip()
    query = next(split_text(whole, MAX_QUERY), "")
    if len(query) == len(whole):
        return FittedText(query, None)
    return FittedText(query, f"of {len(whole):,} characters the first {len(query):,} were asked")


def split_text(text: str, longest: int = MAX_TEXT) -> Iterator[str]:
    """Pieces of at most `longest` characters that end between words; none for a blank text."""
    rest = remove_control_characters(text).strip()
    while len(rest) > longest:
        space = max(rest.rfind(sign, max(0, longest - _WORD_WITHIN), longest + 1) for sign in " \n\t")
        end = space if space > 0 else longest
        yield rest[:end].rstrip()
        rest = rest[end:].lstrip()
    if rest:
        yield rest
