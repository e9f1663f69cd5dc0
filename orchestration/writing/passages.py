"""Cuts long texts into passages, and what a runaway model left at the end of a text. Pure.

An embedding model reads a few hundred words. A text several times as long is searched in parts: one vector, and
words of its own, for each passage. Shorter texts stay whole: measured on chats, cutting them brings no recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, NamedTuple

READ: Final = 1200
"""The width of what the default model reads: 256 tokens of prose."""
LONG: Final = 6 * READ
"""From this width on a text is cut: the least that costs no recall. On BEAM that is .469 / .591 / .669 at 5, 10
and 20 where nothing is cut. Cut from five times what the model reads it is .464 / .600 / .669, from six times
.471 / .600 / .669."""
WIDEST: Final = 500
"""A passage is at most as wide. In one of 1,000 a sentence that answers is found less often first
(`benchmarks/needles.py`: .27 against .60)."""
WIDEST_CODE: Final = 2 * READ
"""A block of code is kept whole up to this width."""

FEWEST_BLANKS: Final = 100
"""At least this many blanks at the end of a text are no part of it."""
FEWEST_REPEATED: Final = 20_000
"""This many characters of one repeated unit at the end of a text are a runaway."""
FEWEST_REPEATS: Final = 20
LONGEST_UNIT: Final = 400
KEPT_REPEATS: Final = 3

APART: Final = 0.0001
"""How far each number of a vector is moved at most: an index fails among equal vectors, and texts repeat."""
DECIMALS: Final = 5

_WIDE: Final = re.compile(r"[\u2e80-\U0003ffff]")
_WIDE_CHARACTER: Final = 4
"""A character of a script without spaces is about one token, as four letters are."""
_FENCE: Final = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_LINE: Final = re.compile(r"\n")
_SENTENCE: Final = re.compile(r"[.!?…][)\"'”’\]]{0,3}(?=\s)|[。！？]")
_WORD: Final = re.compile(r"\s(?=\S)")
_VISIBLE: Final = re.compile(r"\S")
_HEADING: Final = re.compile(r"#{1,6} ")


class Span(NamedTuple):
    """A part of a text: its characters from `start` to before `end`."""

    start: int
    end: int


class LongText(NamedTuple):
    """A long text of a memory, and the number by which its passages are found."""

    memory_id: str
    digest: int
    text: str


class TrimmedText(NamedTuple):
    """A text without what a runaway model left at its end; `note` says what was cut."""

    text: str
    note: str | None = None


class _Piece(NamedTuple):
    """A part of a text that is not cut further. `opens`: a passage should rather begin here."""

    start: int
    end: int
    opens: bool = False


def width(text: str) -> int:
    """The length of a text in characters; one of a script without spaces counts as four."""
    return len(text) if text.isascii() else len(text) + (_WIDE_CHARACTER - 1) * len(_WIDE.findall(text))


def is_long(text: str | None) -> bool:
    """Whether a text is searched in passages: it is several times as long as what the model reads."""
    return text is not None and len(text) >= LONG // _WIDE_CHARACTER and width(text) >= LONG


def text_digest(text: str | None) -> int | None:
    """A number below 2**53 by which the passages of a long text are found; None for a shorter text."""
    if text is None or not is_long(text):
        return None
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) >> 11


def long_texts(contents: Iterable[Any], memory_id: str | None = None) -> list[LongText]:
    """The long texts of contents in stored form, each once."""
    found = {
        (memory_id or content["id"], content["passages"]): content["description"]
        for content in contents
        if content.get("passages") is not None
    }
    return [LongText(owner, digest, text) for (owner, digest), text in found.items()]


def mark_long_texts(contents: Iterable[dict[str, Any]]) -> list[LongText]:
    """Write into each content by what its passages are found, and return the long texts.

    An export names no passages, or those of an older release.
    """
    marked = []
    for content in contents:
        content.pop("passages", None)
        digest = text_digest(content.get("description"))
        if digest is not None:
            content["passages"] = digest
        marked.append(content)
    return long_texts(marked)


def cut(text: str) -> list[Span]:
    """The passages of a text in their order: between them are only blanks, and none begins or ends with one.

    They end at paragraphs, else at lines, sentences, words. A block of code is kept whole unless it is huge; one
    that is never closed is read as lines.
    """
    spans: list[Span] = []
    start = end = -1
    filled = 0
    for piece in _pieces(text):
        added = width(text[end if start >= 0 else piece.start : piece.end])
        full = filled + added > WIDEST or (piece.opens and filled >= WIDEST // 2)
        if start >= 0 and full:
            spans.append(_trim(text, start, end))
            start = -1
            added = width(text[piece.start : piece.end])
        if start < 0:
            start, filled = piece.start, 0
        end, filled = piece.end, filled + added
    if start >= 0:
        spans.append(_trim(text, start, end))
    return spans


def _trim(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    return Span(start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip()))


def _pieces(text: str) -> Iterator[_Piece]:
    """The smallest parts that passages are made of; parts without a visible character are left out."""
    done = 0
    for block in _code_blocks(text):
        yield from _split(text, done, block.start, 0)
        if width(text[block.start : block.end]) <= WIDEST_CODE:
            yield _Piece(block.start, block.end, opens=True)
        else:
            yield from _split(text, block.start, block.end, 1)
        done = block.end
    yield from _split(text, done, len(text), 0)


def _code_blocks(text: str) -> Iterator[Span]:
    """The fenced blocks that are closed, with their fences."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            yield Span(opened.start(), fence.end())
            opened = None


_BREAKS: Final = (_PARAGRAPH, _LINE, _SENTENCE, _WORD)


def _split(text: str, start: int, end: int, level: int) -> Iterator[_Piece]:
    """The parts of a stretch at this level of breaks; what is too wide is split at the next level."""
    if level == len(_BREAKS):
        step = WIDEST if text[start:end].isascii() else WIDEST // _WIDE_CHARACTER
        for left in range(start, end, step):
            right = min(left + step, end)
            if _VISIBLE.search(text, left, right):
                yield _Piece(left, right)
        return
    ends = [match.end() for match in _BREAKS[level].finditer(text, start, end)]
    for left, right in pairwise([start, *ends, end]):
        if not _VISIBLE.search(text, left, right):
            continue
        if width(text[left:right]) > WIDEST:
            yield from _split(text, left, right, level + 1)
        else:
            yield _Piece(left, right, opens=level < len(_BREAKS) - 1 and bool(_HEADING.match(text, left, right)))


def trim_runaway(text: str) -> TrimmedText:
    """The text without many blanks, or many repeats of one unit, at its end."""
    bare = text.rstrip()
    blanks = len(text) - len(bare)
    notes = [f"{blanks:,} blanks at the end of the text were cut"] if blanks >= FEWEST_BLANKS else []
    kept = bare if notes else text
    repeated = _find_repetition(bare)
    if repeated is not None:
        unit, begins = repeated
        count = (len(bare) - begins) // unit
        kept = bare[: begins + KEPT_REPEATS * unit]
        shown = f"{unit} character{'' if unit == 1 else 's'}"
        notes.append(f"the text ended in {count:,} repeats of {shown}; {KEPT_REPEATS} were kept")
    return TrimmedText(kept, "; ".join(notes) or None)


def _find_repetition(text: str) -> tuple[int, int] | None:
    """The length of the unit that a text ends in again and again, and where it begins to."""
    if len(text) < FEWEST_REPEATED:
        return None
    tail = text[-LONGEST_UNIT:]
    before = text.rfind(tail, 0, len(text) - 1)
    unit = len(text) - LONGEST_UNIT - before
    if before < 0 or unit > LONGEST_UNIT:
        return None
    begins = len(text) - unit
    for size in (4096 * unit, unit):
        block = text[-unit:] * (size // unit)
        while begins >= size and text.startswith(block, begins - size):
            begins -= size
    repeated = len(text) - begins
    if repeated < FEWEST_REPEATED or repeated // unit < FEWEST_REPEATS:
        return None
    return unit, begins


def passage_handle(memory_id: str, digest: int, start: int) -> str:
    """What is unique to a passage of a text of a memory."""
    return blake2b(f"{memory_id}\n{digest}\n{start}".encode("utf-8", "replace"), digest_size=12).hexdigest()


def set_apart(vector: Sequence[float], seed: str) -> list[float]:
    """The vector with a small offset of its own, which changes no cosine by more than 0.002."""
    offsets = blake2b(seed.encode(), digest_size=64).digest()
    return [
        round(number + APART * (offsets[place % 64] / 127.5 - 1.0), DECIMALS)
        for place, number in enumerate(vector)
    ]
