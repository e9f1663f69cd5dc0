"""Fitting a stream into a number of tokens. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from orchestration.ranking.candidates import Key
from schemas.memory import ConsciousnessNode


class Budget(NamedTuple):
    """How many tokens an answer may have, None for any number, and how they are counted."""

    limit: int | None = None
    count: Callable[[str], int] = len

    def cost(self, node: ConsciousnessNode) -> int:
        """Tokens of what a reader sees of a memory: who said it or its name, and its text."""
        return self.count(f"{node.speaker or node.name}: {node.description}")


def within(
    tiers: Sequence[Sequence[tuple[Key, ConsciousnessNode]]], ranks: Mapping[Key, float], budget: Budget
) -> set[Key] | None:
    """The memories that fit, filled tier by tier and by fused rank within a tier; None when all may stay.

    One that is too large does not end the filling.
    """
    if budget.limit is None:
        return None
    kept: set[Key] = set()
    left = budget.limit
    for tier in tiers:
        for key, node in sorted(tier, key=lambda pair: (-ranks.get(pair[0], 0.0), pair[0])):
            cost = budget.cost(node)
            if cost <= left:
                kept.add(key)
                left -= cost
    return kept
