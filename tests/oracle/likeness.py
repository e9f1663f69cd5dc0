"""A tiny embedder whose vectors can be computed again by anyone: a sum of one fixed vector for each word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

from llama_index.core.base.embeddings.base import BaseEmbedding

DIMENSION = 12
DECIMALS = 5
"""Vectors travel to the engine with as many decimals."""


@lru_cache(maxsize=4096)
def raw(text: str) -> tuple[float, ...]:
    """The sum of the vectors of the words of a text; it points somewhere even for a text without words."""
    total = [1e-3] * DIMENSION
    for word in text.lower().replace(".", " ").split():
        digest = blake2b(word.encode(), digest_size=2 * DIMENSION).digest()
        numbers = [int.from_bytes(digest[place : place + 2]) / 32768 - 1 for place in range(0, len(digest), 2)]
        total = [before + number for before, number in zip(total, numbers, strict=True)]
    return tuple(total)


@lru_cache(maxsize=4096)
def unit(text: str) -> tuple[float, ...]:
    """The vector of a text as it is stored: of length one, rounded."""
    length = math.hypot(*raw(text))
    return tuple(round(number / length, DECIMALS) for number in raw(text))


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """One minus the cosine."""
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return 1 - dot / (math.hypot(*one) * math.hypot(*other))


class Tiny(BaseEmbedding):
    """The same through the port through which every model comes."""

    model_name: str = "tiny"

    def _get_query_embedding(self, query: str) -> list[float]:
        return list(raw(query))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return list(raw(query))

    def _get_text_embedding(self, text: str) -> list[float]:
        return list(raw(text))
