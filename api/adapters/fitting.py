"""Texts of other programs, made to fit: an agent's turn does not fail for a message that is too long. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from schemas.base import MAX_TEXT

MAX_QUERY: Final = 20_000
"""Characters that a question may have."""
_UNSTORABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_WORD_WITHIN: Final = 200
"""A piece ends between two words, unless the last so many characters hold no space."""


class FittedText(NamedTuple):
    """A text as it can be asked, and what of it was left out; None when nothing was."""

    text: str
    note: str | None


def remove_control_characters(text: str) -> str:
    """The text without the control characters and lone surrogates that are refused everywhere."""
    return _UNSTORABLE.sub(" ", text)


def fit_query(text: str) -> FittedText:
    """What is asked of a text: its beginning, where it is longer than a question may be."""
    whole = remove_control_characters(text).strip()
    asked = next(split_text(whole, MAX_QUERY), "")
    if len(asked) == len(whole):
        return FittedText(asked, None)
    return FittedText(asked, f"of {len(whole):,} characters the first {len(asked):,} were asked")


def split_text(text: str, longest: int = MAX_TEXT) -> Iterator[str]:
    """The text in pieces of at most `longest` characters that end between words; nothing of a blank one."""
    left = remove_control_characters(text).strip()
    while len(left) > longest:
        space = max(left.rfind(sign, max(0, longest - _WORD_WITHIN), longest + 1) for sign in " \n\t")
        end = space if space > 0 else longest
        yield left[:end].rstrip()
        left = left[end:].lstrip()
    if left:
        yield left
