"""A number of tokens that an answer may have. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from schemas.memory import ConsciousnessNode

COMPACT_TOKENS: Final = 1500
"""The most tokens of a compact text, and of an answer to `recall` and `wake`, where none are named."""


class Budget(NamedTuple):
    """The most tokens that an answer may have, the function that counts them, and its name."""

    limit: int
    count: Callable[[str], int] = len
    counter: str = "characters"

    def cost(self, node: ConsciousnessNode) -> int:
        """Tokens of a memory in a plain list: its speaker or name, and its text."""
        return self.count(f"{node.speaker or node.name}: {node.description}")
