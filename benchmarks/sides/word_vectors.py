"""A cheap embedding model without files: the sum of a fixed vector for each word, so that like texts are alike.

It is imported by its own name, without its package, so that every checkout embeds the same texts in the same way.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray

DIMENSION = 384
"""As many numbers as the vectors of the local model have."""


@lru_cache(maxsize=100_000)
def word_vector(word: str) -> NDArray[np.float64]:
    """Return the vector of a word, which follows from its letters."""
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).normal(size=DIMENSION)


class WordVectors(BaseEmbedding):
    """Sums the vectors of the words of a text."""

    def __init__(self) -> None:
        super().__init__(model_name="word-vectors")

    def _get_text_embedding(self, text: str) -> list[float]:
        total = np.zeros(DIMENSION) + word_vector("")
        for word in re.findall(r"\w+", text.lower()):
            total += word_vector(word)
        return [float(number) for number in np.round(total / np.linalg.norm(total), 5)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)
