"""Small deterministic models behind the import-path port: likeness is that of the words' letters.

They are no classes of LlamaIndex, as those of the unit tests are: a process that opens one starts sooner.
"""

from __future__ import annotations

import time
from threading import Event
from zlib import crc32


class _Hashed:
    places: int
    model_name: str
    embed_batch_size = 10

    def get_text_embedding(self, text: str) -> list[float]:
        vector = [0.01] * self.places
        for word in text.lower().replace(".", " ").split():
            vector[crc32(f"{self.places}{word}".encode()) % self.places] += 1.0
        return vector

    def get_query_embedding(self, query: str) -> list[float]:
        return self.get_text_embedding(query)

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        return [self.get_text_embedding(text) for text in texts]


class Small(_Hashed):
    """Sixty-four numbers."""

    places = 64
    model_name = "small"


class Other(_Hashed):
    """Ninety-six numbers."""

    places = 96
    model_name = "other"


class Slow(_Hashed):
    """Thirty-two numbers, each vector after a hundredth of a second."""

    places = 32
    model_name = "slow"
    embed_batch_size = 5

    def get_text_embedding(self, text: str) -> list[float]:
        time.sleep(0.01)
        return super().get_text_embedding(text)


class Stuck(Slow):
    """The slow one in a process that is to be killed: it makes thirty vectors, and then none until the end."""

    def __init__(self) -> None:
        self._made = 0

    def get_text_embedding(self, text: str) -> list[float]:
        self._made += 1
        if self._made > 30:
            Event().wait()
        return super().get_text_embedding(text)
