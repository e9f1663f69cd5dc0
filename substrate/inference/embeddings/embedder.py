"""The one object that turns text into vectors, whatever the model behind it."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from schemas.errors import Fault, SubstrateError, Unavailable
from substrate.inference.failures import failed

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

CACHED_QUERIES: Final = 1024
DEADLINE_SECONDS: Final = 30.0
# Vectors travel to the database as text. Four decimals of a unit vector already keep its cosine to the exact
# one above 0.99999, in 384 and in 1536 dimensions; the fifth is margin.
DECIMALS: Final = 5
PROBE: Final = "How many numbers has a vector of this model?"


@dataclass(frozen=True)
class Source:
    """What is known of a model before it is asked.

    `provider` names it in error messages, `model` is its name, `dimension` the length of its vectors or None
    when only the model can tell. `networked` models are awaited; all others run in one worker thread.
    """

    provider: str
    model: str
    dimension: int | None = None
    networked: bool = False


class Embedder:
    """Checked unit vectors from a LlamaIndex embedding model, without blocking the event loop."""

    def __init__(
        self, port: BaseEmbedding, source: Source, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.model = source.model
        self._port = port
        self._source = source
        self._close = close
        self._dimension = source.dimension
        self._queries: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")

    @property
    def dimension(self) -> int:
        """Length of every vector. Fault while it is unknown: `await ready()` once, and it is known."""
        if self._dimension is None:
            raise Fault(
                f"{self._source.provider} has not yet told the length of its vectors.",
                remedy="Await Embedder.ready() before asking for the dimension.",
            )
        return self._dimension

    async def ready(self) -> Embedder:
        """This embedder, its dimension known; a model that has not told it embeds one probe text."""
        if self._dimension is None:
            await self.embed_query(PROBE)
        return self

    async def embed_query(self, text: str) -> list[float]:
        """The unit vector of one query; the last 1024 distinct queries are remembered.

        Errors: Unavailable when the provider fails or is slow, Fault when its answer is no usable vector.
        """
        query = _encodable(text)
        if query in self._queries:
            self._queries.move_to_end(query)
            return list(self._queries[query])
        with self._provider_errors():
            async with asyncio.timeout(DEADLINE_SECONDS):
                answer = await self._ask_query(query)
        vector = self._checked(answer)
        self._queries[query] = tuple(vector)
        if len(self._queries) > CACHED_QUERIES:
            self._queries.popitem(last=False)
        return vector

    async def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
        """The unit vectors of `texts`, in their order; an empty sequence asks nothing of the model.

        Texts go in the model's own batches, and a query that arrives meanwhile waits for one batch only.
        Errors: as `embed_query`; no vectors are given when any batch fails.
        """
        size = self._port.embed_batch_size
        vectors: list[list[float]] = []
        for start in range(0, len(texts), size):
            batch = [_encodable(text) for text in texts[start : start + size]]
            with self._provider_errors():
                async with asyncio.timeout(DEADLINE_SECONDS):
                    answers = await self._ask_texts(batch)
            if len(answers) != len(batch):
                raise self._garbage(f"{len(answers)} vectors for {len(batch)} texts")
            vectors += [self._checked(answer) for answer in answers]
        return vectors

    async def aclose(self) -> None:
        """Release the worker thread and the connections; harmless when repeated."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        close, self._close = self._close, None
        if close is not None:
            await close()

    async def _ask_query(self, text: str) -> list[float]:
        if self._source.networked:
            return await self._port.aget_query_embedding(text)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._port.get_query_embedding, text)

    async def _ask_texts(self, texts: list[str]) -> list[list[float]]:
        if self._source.networked:
            return await self._port.aget_text_embedding_batch(texts)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._port.get_text_embedding_batch, texts)

    @contextmanager
    def _provider_errors(self) -> Iterator[None]:
        try:
            yield
        except SubstrateError:
            raise
        except TimeoutError as exc:
            raise self._unavailable("did not answer in time") from exc
        except Exception as exc:
            raise self._unavailable(failed(exc)) from exc

    def _unavailable(self, what: str) -> Unavailable:
        return Unavailable(
            f"The embedding model {self.model} of {self._source.provider} {what}.",
            remedy="Try again; if it lasts, check the address and the key, or set SUBSTRATE_EMBEDDING=local.",
        )

    def _garbage(self, what: str) -> Fault:
        return Fault(
            f"The embedding model {self.model} of {self._source.provider} answered {what}.",
            remedy="Check that the address serves this very model.",
        )

    def _checked(self, answer: Sequence[float]) -> list[float]:
        try:
            length = math.hypot(*answer)
        except TypeError as exc:
            raise self._garbage("something that is no vector") from exc
        if not math.isfinite(length) or length == 0.0:
            raise self._garbage("a vector without a finite length above zero")
        if self._dimension is None:
            self._dimension = len(answer)
        if len(answer) != self._dimension:
            raise self._garbage(f"{len(answer)} numbers where {self._dimension} are due")
        return [round(number / length, DECIMALS) for number in answer]


def _encodable(text: str) -> str:
    # A lone surrogate has no UTF-8 form; tokenizers and HTTP clients would both fail on it.
    return text.encode("utf-8", "replace").decode("utf-8")
