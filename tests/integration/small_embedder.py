"""Two small deterministic models behind the import-path port: likeness is that of the words' letters."""

from __future__ import annotations

import time
from threading import Event
from zlib import crc32

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr


class _Hashed(BaseEmbedding):
    places: int

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.01] * self.places
        for word in text.lower().replace(".", " ").split():
            vector[crc32(f"{self.places}{word}".encode()) % self.places] += 1.0
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


class Small(_Hashed):
    """Sixty-four numbers."""

    def __init__(self) -> None:
        super().__init__(model_name="small", places=64)


class Other(_Hashed):
    """Ninety-six numbers."""

    def __init__(self) -> None:
        super().__init__(model_name="other", places=96)


class Slow(_Hashed):
    """Thirty-two numbers, each vector after a hundredth of a second."""

    def __init__(self) -> None:
        super().__init__(model_name="slow", places=32, embed_batch_size=5)

    def _get_text_embedding(self, text: str) -> list[float]:
        time.sleep(0.01)
        return super()._get_text_embedding(text)


class Stuck(Slow):
    """The slow one in a process that is to be killed: it makes thirty vectors, and then none until the end."""

    _made: int = PrivateAttr(default=0)

    def _get_text_embedding(self, text: str) -> list[float]:
        self._made += 1
        if self._made > 30:
            Event().wait()
        return super()._get_text_embedding(text)
