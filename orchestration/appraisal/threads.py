"""Finds the open threads that a text tells as solved: the same names and words, or the same meaning. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.appraise import Appraisal
from schemas.memory import ResolutionState
from substrate.text import stems

SOLVED: Final = 0.54
"""Least strength of a match."""
BESIDE_THE_BEST: Final = 0.85
"""A text closes every thread that matches at least this share as well as the best: one problem told twice."""
WORD_WEIGHT: Final = 0.04
"""How much a shared stem of inverse document frequency 1 adds to the cosine of meaning."""
MOST_SHARED: Final = 8.0
"""The most inverse document frequency of shared stems that counts: a long text shares words with everything."""


class OpenThread(NamedTuple):
    """A memory whose words tell that something is open. `likeness`: cosine of its meaning to the later text."""

    id: str
    text: str
    likeness: float


def tells_end(text: str, appraisal: Appraisal) -> bool:
    """Whether a text tells that something is over, and nothing else that would make this doubtful.

    Good news alone tell it of nothing in particular, and who asks or wants more is still at it.
    """
    is_over = appraisal.tells_solution and appraisal.resolution_state is ResolutionState.RESOLVED
    return is_over and appraisal.goal is None and "?" not in text


def find_solved(text: str, threads: Sequence[OpenThread], weights: Mapping[str, float]) -> list[OpenThread]:
    """The threads that the text solves, best first; none below the strength `SOLVED`.

    The strength is the cosine of meaning + 0.04 × the summed weights of the shared stems, at most 0.32. `weights`:
    the inverse document frequency of each stem of the text in the graph.
    """
    told = stems(text)
    strengths = {}
    for thread in threads:
        shared = sum(weights.get(stem, 0.0) for stem in sorted(told & stems(thread.text)))
        strengths[thread.id] = thread.likeness + WORD_WEIGHT * min(MOST_SHARED, shared)
    enough = max(SOLVED, BESIDE_THE_BEST * max(strengths.values(), default=0.0))
    solved = [thread for thread in threads if strengths[thread.id] >= enough]
    return sorted(solved, key=lambda thread: (-strengths[thread.id], thread.id))
