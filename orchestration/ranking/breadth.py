"""Breadth: the answer to a broad question lies spread over a conversation, not in its best moment. Pure.

Maximal marginal relevance with nearness in time as the likeness of two memories (Carbonell and Goldstein, "The
use of MMR, diversity-based reranking", 1998).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from orchestration.ranking.candidates import Candidate, Key
from orchestration.ranking.consciousness_score import Score

NEAR = 0.05
"""Share of what was found, in the order of time, within which two memories are of one time."""
CHOSEN = 40
"""So many are chosen one by one; the rest keep their order."""


def spread_out(scores: Sequence[Score], memories: Mapping[Key, Candidate], weight: float) -> list[Score]:
    """The scores in a new order: each next one is that with the greatest total less `weight` times its nearness.

    Nearness is exp(-distance / NEAR) to the nearest one chosen before, the distance being that of their places in
    the order of `valid_at`, as a share of all; in (0, 1]. Of equals the first stays first.
    """
    in_time = sorted(scores, key=lambda score: (int(memories[score.key].get("valid_at")), score.key))
    places = {score.key: place / len(in_time) for place, score in enumerate(in_time)}
    rest, near = list(scores), dict.fromkeys(places, 0.0)
    chosen: list[Score] = []
    while rest and len(chosen) < CHOSEN:
        best = max(rest, key=lambda score: score.total - weight * near[score.key])
        rest.remove(best)
        chosen.append(best)
        here = places[best.key]
        for score in rest:
            near[score.key] = max(near[score.key], math.exp(-abs(places[score.key] - here) / NEAR))
    return chosen + rest
