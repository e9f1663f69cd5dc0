"""Fitting a stream into a number of tokens. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.memory import ConsciousnessNode

CHARACTERS_PER_TOKEN = 4
"""The usual estimate for English text where no model's own vocabulary is at hand."""


def tokens(node: ConsciousnessNode) -> int:
    """Estimated tokens of what a reader sees of a memory: its name, who said it, its text."""
    seen = len(node.name) + len(node.speaker or "") + len(node.description)
    return -(-seen // CHARACTERS_PER_TOKEN)


def within(nodes: Sequence[ConsciousnessNode], budget: int | None) -> set[int]:
    """The places of the memories that fit, most active first; one that is too large does not end the filling."""
    if budget is None:
        return set(range(len(nodes)))
    kept: set[int] = set()
    left = budget
    for place, node in enumerate(nodes):
        cost = tokens(node)
        if cost <= left:
            kept.add(place)
            left -= cost
    return kept
