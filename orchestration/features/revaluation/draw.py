"""Which memories a citizen is asked about again, and how a command of its judgement is called. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from heapq import nsmallest
from typing import Final

from orchestration.features.revaluation.queries import Asked, LowMemory
from orchestration.identifiers import JUDGEMENT
from orchestration.mind.derived_state import is_own
from orchestration.upkeep.text_quality import MIN_SPOKEN_WORDS, NAMED_TYPES
from orchestration.writing.records import SPOKEN_TYPES
from substrate.language.text import words

LOW: Final = 0.5
"""Memories below this importance are drawn: 004 found what mattered in the band from .3 to .49."""
THINGS: Final = tuple(sorted(NAMED_TYPES))
"""Types that name something and tell nothing: nobody is asked about them."""


def is_worth_asking(memory: LowMemory) -> bool:
    """Whether the memory tells something of the citizen's: no words of an assistant, and no `Yes, of course.`"""
    if not is_own(memory.speaker):
        return False
    if memory.speaker or memory.node_type in SPOKEN_TYPES:
        return len(words(memory.text)) >= MIN_SPOKEN_WORDS
    return bool((memory.text or memory.name).strip())


def draw(memories: Iterable[LowMemory], asked: Mapping[str, Asked], *, seed: str, count: int) -> list[LowMemory]:
    """Those that wait for a judgement first, then the least recently asked about; equal ones as the seed says."""

    def place(memory: LowMemory) -> tuple[bool, int, bytes]:
        known = asked.get(memory.id)
        return known is None or not known.waiting, known.asked_at if known else 0, _lot(seed, memory.id)

    return nsmallest(count, filter(is_worth_asking, memories), key=place)


def _lot(seed: str, memory_id: str) -> bytes:
    return blake2b(f"{seed}\n{memory_id}".encode(), digest_size=8).digest()


def first_place(seed: str, places: int) -> int:
    """Where reading begins in a graph with so many places, from -1 on: elsewhere for another seed."""
    return int.from_bytes(_lot(seed, "")) % max(1, places) - 1


def judgement_id(memory_id: str, version: int, importance: float) -> str:
    """The id of the command of a judgement: the same judgement of the same version is applied once."""
    said = blake2b(f"{memory_id}\n{version}\n{importance!r}".encode(), digest_size=8).hexdigest()
    return f"{JUDGEMENT}{said}"
