"""Sittings: what was said or done within one stretch of time belongs together. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from orchestration.ranking.candidates import Candidate, Key

APART = 3_600_000_000
"""An hour, in microseconds: what begins later than this after the last begins a new sitting."""


def of_sittings(memories: Mapping[Key, Candidate], relevance: Mapping[Key, float]) -> dict[Key, float]:
    """For each memory the mean of the two greatest relevances of its sitting, itself among them; in [0, 1].

    One good hit may be chance; two of one sitting say that it was the subject there.
    """
    if not memories:
        return {}
    sitting = _sittings(memories)
    relevances = np.array([relevance[key] for key in memories])
    order = np.lexsort((-relevances, sitting))
    firsts = np.flatnonzero(np.diff(sitting[order], prepend=-1))
    sizes = np.diff(firsts, append=len(order))
    best = relevances[order[firsts]]
    next_best = np.where(sizes > 1, relevances[order[np.minimum(firsts + 1, len(order) - 1)]], 0.0)
    return dict(zip(memories, ((best + next_best) / 2.0)[sitting].tolist(), strict=True))


def _sittings(memories: Mapping[Key, Candidate]) -> np.ndarray[Any, np.dtype[np.intp]]:
    """The number of each memory's sitting, from 0 on; those of one level follow one another in time."""
    number = {level: place for place, level in enumerate(dict.fromkeys(key[0] for key in memories))}
    levels = np.array([number[key[0]] for key in memories])
    began = np.array([int(memory.get("valid_at")) for memory in memories.values()], np.int64)
    in_time = np.lexsort((began, levels))
    apart = (np.diff(levels[in_time]) != 0) | (np.diff(began[in_time]) > APART)
    sitting = np.empty(len(memories), np.intp)
    sitting[in_time] = np.concatenate(([0], np.cumsum(apart)))
    return sitting
