"""Algorithms of the field, each with its paper. Pure."""

from __future__ import annotations

from typing import Final

RELEVANCE_SHARE: Final = 0.7
"""λ of maximal marginal relevance (Carbonell and Goldstein 1998); 002 names none."""


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """The share of what both have of what either has; 0 for two that have nothing."""
    return len(left & right) / len(left | right) if left or right else 0.0
