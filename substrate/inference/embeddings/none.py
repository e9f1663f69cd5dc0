"""No embedding model: the whole product runs on words, names, links and emotions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from substrate.inference.embeddings.embedder import Embedder

NAME: Final = "none"


class NoEmbedder(Embedder):
    """Stands where a model would: of every text the vector is empty, and an empty vector is never stored or asked.

    No library of a model is loaded.
    """

    def __init__(self) -> None:
        self.model = NAME

    @property
    def dimension(self) -> int:
        """Zero: a graph that was written without a model has no index of embeddings."""
        return 0

    async def ready(self) -> Embedder:
        """This one: there is nothing to wait for."""
        return self

    async def embed_query(self, text: str) -> list[float]:
        """An empty vector."""
        return []

    async def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
        """An empty vector for each text."""
        return [[] for _ in texts]

    async def aclose(self) -> None:
        """Nothing is open."""
