"""Fitting a stream into a number of tokens. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from orchestration.activation.found import Key
from schemas.memory import ConsciousnessNode

CHARACTERS_PER_TOKEN = 4
"""The usual estimate for English text where no model's own vocabulary is at hand."""
RRF_K = 60


def tokens(node: ConsciousnessNode) -> int:
    """Estimated tokens of what a reader sees of a memory: its name, who said it, its text."""
    seen = len(node.name) + len(node.speaker or "") + len(node.description)
    return -(-seen // CHARACTERS_PER_TOKEN)


def reciprocal_ranks(rankings: Iterable[Sequence[Key]]) -> Mapping[Key, float]:
    """Reciprocal rank fusion of the result sets: Σ 1 / (60 + rank), ranks from 1 (003, component 3)."""
    scores: defaultdict[Key, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] += 1 / (RRF_K + rank)
    return scores


def within(
    tiers: Sequence[Sequence[tuple[Key, ConsciousnessNode]]], ranks: Mapping[Key, float], budget: int | None
) -> set[Key] | None:
    """The memories that fit, filled tier by tier and by fused rank within a tier; None when all may stay.

    One that is too large does not end the filling.
    """
    if budget is None:
        return None
    kept: set[Key] = set()
    left = budget
    for tier in tiers:
        for key, node in sorted(tier, key=lambda pair: (-ranks.get(pair[0], 0.0), pair[0])):
            cost = tokens(node)
            if cost <= left:
                kept.add(key)
                left -= cost
    return kept
