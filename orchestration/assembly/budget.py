"""Fitting a stream into a number of tokens. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from orchestration.ranking.candidates import Key
from schemas.memory import ConsciousnessNode


class Budget(NamedTuple):
    """The most tokens that an answer may have, and the function that counts them."""

    limit: int
    count: Callable[[str], int] = len

    def cost(self, node: ConsciousnessNode) -> int:
        """Tokens of a memory as a reader sees it: its speaker or name, and its text."""
        return self.count(f"{node.speaker or node.name}: {node.description}")


def fit_budget(
    tiers: Sequence[Sequence[tuple[Key, ConsciousnessNode]]], ranks: Mapping[Key, float], budget: Budget
) -> set[Key]:
    """The memories that fit, filled tier by tier, within a tier by fused rank.

    A memory that is too large is skipped: smaller ones after it may still fit.
    """
    fitting: set[Key] = set()
    left = budget.limit
    for tier in tiers:
        for key, node in sorted(tier, key=lambda pair: (-ranks.get(pair[0], 0.0), pair[0])):
            cost = budget.cost(node)
            if cost <= left:
                fitting.add(key)
                left -= cost
    return fitting
