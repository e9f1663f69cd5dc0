"""Cut the texts of other programs to our limits, so that a long message never fails an agent's turn. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from schemas.base import MAX_LONG_TEXT

MAX_QUERY: Final = 20_000
"""The most characters that a question may have."""
_UNSTORABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_WORD_WITHIN: Final = 200
"""A piece ends between two words, unless its last 200 characters contain no space."""


class FittedText(NamedTuple):
    """A text that fits. `note` says what was cut; None when nothing was."""

    text: str
    note: str | None


def remove_control_characters(text: str) -> str:
    """Replace each control character and lone surrogate with a space: every door refuses them."""
    return _UNSTORABLE.sub(" ", text)


def fit_query(text: str) -> FittedText:
    """Cut the text to its first `MAX_QUERY` characters, and say so in the note."""
    whole = remove_control_characters(text).strip()
    query = next(split_text(whole, MAX_QUERY), "")
    if len(query) == len(whole):
        return FittedText(query, None)
    return FittedText(query, f"only the first {len(query):,} of {len(whole):,} characters were used")


def split_text(text: str, longest: int = MAX_LONG_TEXT) -> Iterator[str]:
    """Split into pieces of at most `longest` characters, between words if possible; none for a blank text."""
    rest = remove_control_characters(text).strip()
    while len(rest) > longest:
        space = max(rest.rfind(sign, max(0, longest - _WORD_WITHIN), longest + 1) for sign in " \n\t")
        end = space if space > 0 else longest
        yield rest[:end].rstrip()
        rest = rest[end:].lstrip()
    if rest:
        yield rest
