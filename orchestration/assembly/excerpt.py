"""The part of a text that has most of the words of a question. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection
from itertools import chain
from typing import Final

from schemas.memory import ConsciousnessNode, Passage
from substrate.language.text import query_words, stem, stems

_WORD: Final = re.compile(r"\w+")
_STEPS: Final = 24
"""So many places of a text are looked at."""
LEAST_PART: Final = 40
"""So many characters of a memory are told at least."""


def stems_of(question: str) -> frozenset[str]:
    """The stems of the words of a question that say something."""
    return frozenset(map(stem, query_words(question)))


def shares_words(node: ConsciousnessNode, words: Collection[str]) -> bool:
    """Whether its name and its text have two words of these stems, or the only one; not where there is none."""
    return len(stems(f"{node.name} {node.description}").intersection(words)) >= min(2, len(words)) > 0


def excerpt(node: ConsciousnessNode, most: int, words: Collection[str]) -> ConsciousnessNode:
    """The memory with at most so many characters of its text, and where they stand in the whole.

    `words`: the stems of the question. Of two parts with as many of them the earlier is taken.
    """
    text = node.description
    if len(text) <= most:
        return node
    start, end = best_part(text, max(1, most), words)
    before, length = (node.passage.start, node.passage.length) if node.passage else (0, len(text))
    place = Passage(start=before + start, end=before + end, length=length)
    return node.model_copy(update={"description": text[start:end], "passage": place})


def cut_to_room(
    node: ConsciousnessNode, room: int, words: Collection[str], cost: Callable[[ConsciousnessNode], int]
) -> ConsciousnessNode:
    """The memory with so much of its text as costs no more than the room, and at least its least part.

    Where not even that fits, its name is cut as well.
    """
    cut, most = node, len(node.description)
    while (spent := cost(cut)) > room and most > LEAST_PART:
        most = max(LEAST_PART, min(most - 1, int(most * max(0.3, 0.95 * room / spent))))
        cut = excerpt(node, most, words)
    if spent > room and len(cut.name) > LEAST_PART:
        name = f"{cut.name[:LEAST_PART]}…"
        cut = cut.model_copy(update={"name": name, "shortened": (*cut.shortened, "name")})
    return cut


def without_field(node: ConsciousnessNode, name: str) -> ConsciousnessNode:
    """The memory without an optional field; it says so."""
    blank = node.defaults()[name]
    return node.model_copy(update={name: blank, "shortened": (*node.shortened, name)})


def best_part(text: str, most: int, words: Collection[str]) -> tuple[int, int]:
    """Where the part with the most words of the question begins and ends; it begins and ends between words."""
    found = [word.span() for word in _WORD.finditer(text) if stem(word[0].lower()) in words] if words else []
    step = max(1, most // 4, len(text) // _STEPS)
    starts = [
        0,
        *chain.from_iterable((max(0, begin - most // 4), begin) for begin, _ in found),
        *range(step, max(step, len(text) - most), step),
    ]

    def worth(start: int) -> tuple[int, int]:
        end = start + most if start + most >= len(text) else start + most - most // 4  # what they ask for follows
        inside = Counter(text[a:b].lower() for a, b in found if start <= a and b <= end)
        return len(inside), -start

    place = max(starts, key=worth)
    gap = text.find(" ", place - 1) if place else -1
    start = gap + 1 if 0 <= gap <= place + 30 else place
    return start, _word_end(text, start, min(len(text), start + most))


def _word_end(text: str, start: int, end: int) -> int:
    if end == len(text) or text[end].isspace():
        return end
    gap = text.rfind(" ", start + 1, end)
    return gap if gap > start and end - gap <= 30 else end
