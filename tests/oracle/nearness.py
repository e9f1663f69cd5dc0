"""Whether an answer has the nearest in their order, as far as the engine can tell what is nearer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from tests.oracle.shown import Shown

NEARLY = 2e-6
"""The engine computes likeness with 24 bits: distances this close may change places."""


def nearest_first(found: Sequence[Shown], far: Mapping[Shown, float], limit: int) -> bool:
    """Whether these are the `limit` nearest in their order. `far` are all there are, nearest first.

    Those of one text are equally far: they keep the order that they have among all.
    """
    due = list(far)[:limit]
    if len(set(found)) != len(found) or len(found) != len(due) or not far.keys() >= set(found):
        return False
    as_far = all(abs(far[one] - far[other]) < NEARLY for one, other in zip(found, due, strict=True))
    every = by_text(far)
    return as_far and all(every[text][: len(own)] == own for text, own in by_text(found).items())


def by_text(memories: Sequence[Shown] | Mapping[Shown, float]) -> dict[Shown, list[Shown]]:
    """The memories of each name and description, in their order."""
    return {text: list(own) for text, own in groupby(sorted(memories, key=text_of), key=text_of)}


def text_of(memory: Shown) -> Shown:
    """Its name and its description."""
    return memory[2:4]
