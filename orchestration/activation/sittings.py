"""Sittings: what was said or done within one stretch of time belongs together. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestration.activation.found import Key, Memory
from schemas.memory import Level

APART = 3_600_000_000
"""An hour, in microseconds: what begins later than this after the last begins a new sitting."""


def of_sittings(memories: Mapping[Key, Memory], relevance: Mapping[Key, float]) -> dict[Key, float]:
    """For each memory the mean of the two greatest relevances of its sitting, itself among them; in [0, 1].

    One good hit may be chance; two of one sitting say that it was the subject there.
    """
    gains: dict[Key, float] = {}
    for sitting in _sittings(memories):
        best = sorted((relevance[key] for key in sitting), reverse=True)[:2]
        gains.update(dict.fromkeys(sitting, sum(best) / 2.0))
    return gains


def _sittings(memories: Mapping[Key, Memory]) -> Iterator[list[Key]]:
    ordered = sorted((key[0], int(memory.get("valid_at")), key) for key, memory in memories.items())
    sitting: list[Key] = []
    last: tuple[Level, int] | None = None
    for level, began, key in ordered:
        if last is not None and (level != last[0] or began - last[1] > APART):
            yield sitting
            sitting = []
        sitting.append(key)
        last = (level, began)
    if sitting:
        yield sitting
