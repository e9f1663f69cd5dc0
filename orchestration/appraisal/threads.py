"""Finds the open threads that a text tells as solved: the same names and words, or the same meaning. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.appraisal.appraise import Appraisal
from schemas.memory import ResolutionState
from substrate.text import stems

TOLD_AS_SOLVED: Final = 0.54
"""Least strength of a match where the words say that something is solved."""
GOOD_NEWS: Final = 0.6
"""Least strength where they only tell good news."""
BESIDE_THE_BEST: Final = 0.85
"""A text closes every thread that matches at least this share as well as the best: one problem told twice."""
WORD_WEIGHT: Final = 0.04
"""How much a shared stem of inverse document frequency 1 adds to the cosine of meaning."""
MOST_SHARED: Final = 8.0
"""The most inverse document frequency of shared stems that counts: a long text shares words with everything."""
OPEN_STATES: Final = frozenset((ResolutionState.BLOCKED, ResolutionState.IN_PROGRESS))
GLAD: Final = frozenset(("joy", "relief", "pride", "gratitude"))
"""What people feel when something ended well."""


class OpenThread(NamedTuple):
    """A memory whose words tell that something is open. `likeness`: cosine of its meaning to the later text."""

    id: str
    text: str
    likeness: float


def least_strength(appraisal: Appraisal) -> float | None:
    """The strength that a match with a text of this appraisal needs; None when it can solve nothing."""
    if appraisal.resolution_state in OPEN_STATES:
        return None
    if appraisal.tells_solution:
        return TOLD_AS_SOLVED
    is_good = appraisal.result == "positive" or not GLAD.isdisjoint(appraisal.emotions)
    return GOOD_NEWS if is_good else None


def find_solved(
    text: str, threads: Sequence[OpenThread], least: float, weights: Mapping[str, float]
) -> list[OpenThread]:
    """The threads that the text solves, best first; none below the strength `least`.

    The strength is the cosine of meaning + 0.04 × the summed weights of the shared stems, at most 0.32. `weights`:
    the inverse document frequency of each stem of the text in the graph.
    """
    told = stems(text)
    strengths = {}
    for thread in threads:
        shared = sum(weights.get(stem, 0.0) for stem in sorted(told & stems(thread.text)))
        strengths[thread.id] = thread.likeness + WORD_WEIGHT * min(MOST_SHARED, shared)
    enough = max(least, BESIDE_THE_BEST * max(strengths.values(), default=0.0))
    solved = [thread for thread in threads if strengths[thread.id] >= enough]
    return sorted(solved, key=lambda thread: (-strengths[thread.id], thread.id))
