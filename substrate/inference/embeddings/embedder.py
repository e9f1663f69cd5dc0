"""`Embedder`: turns texts into vectors with any embedding model."""

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
from substrate.inference.providers import describe_failure

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

CACHED_QUERIES: Final = 1024
DEADLINE_SECONDS: Final = 30.0
# Vectors go to the database as text. With four decimals the cosine between a unit vector and its rounded form is
# above 0.99999 already, in 384 and in 1536 dimensions; the fifth is margin.
DECIMALS: Final = 5
PROBE: Final = "How many numbers has a vector of this model?"
NO_MODEL: Final = "none"


@dataclass(frozen=True)
class ModelInfo:
    """The facts about a model that are known before its first use.

    `provider` is its name in error messages. `dimension` is None when only a first vector shows it. `networked`
    models are awaited; all others run in one worker thread.
    """

    provider: str
    model: str
    dimension: int | None = None
    networked: bool = False


class Embedder:
    """Checked unit vectors from a LlamaIndex embedding model, without blocking the event loop."""

    def __init__(
        self, port: BaseEmbedding, info: ModelInfo, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.model = info.model
        self._port = port
        self._info = info
        self._close = close
        self._dimension = info.dimension
        self._queries: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")

    @property
    def dimension(self) -> int:
        """Length of every vector. Raises Fault before `ready` was awaited."""
        if self._dimension is None:
            raise Fault(
                f"the dimension of the vectors of {self._info.provider} is not known yet",
                remedy="Await Embedder.ready() before asking for the dimension.",
            )
        return self._dimension

    async def ready(self) -> Embedder:
        """Return this embedder once its dimension is known; embeds one probe text if it is not.

        Raises as `embed_query` does.
        """
        if self._dimension is None:
            await self.embed_query(PROBE)
        return self

    async def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of one query; the last 1024 distinct queries are cached.

        Raises Unavailable when the provider fails or takes more than 30 s, Fault when its answer is no usable
        vector.
        """
        query = _encodable(text)
        if query in self._queries:
            self._queries.move_to_end(query)
            return list(self._queries[query])
        with self._provider_errors():
            async with asyncio.timeout(DEADLINE_SECONDS):
                answer = await self._request_query(query)
        vector = self._unit_vector(answer)
        self._queries[query] = tuple(vector)
        if len(self._queries) > CACHED_QUERIES:
            self._queries.popitem(last=False)
        return vector

    async def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the unit vectors of `texts`, in their order.

        Texts are sent in batches of the model's own size; a query that arrives meanwhile waits for one batch only.
        Raises as `embed_query` does when one batch fails; no vectors are returned then.
        """
        size = self._port.embed_batch_size
        vectors: list[list[float]] = []
        for start in range(0, len(texts), size):
            batch = [_encodable(text) for text in texts[start : start + size]]
            with self._provider_errors():
                async with asyncio.timeout(DEADLINE_SECONDS):
                    answers = await self._request_texts(batch)
            if len(answers) != len(batch):
                raise self._unusable(f"{len(answers)} vectors for {len(batch)} texts")
            vectors += [self._unit_vector(answer) for answer in answers]
        return vectors

    async def aclose(self) -> None:
        """Release the worker thread and the connections. Can be called twice."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        close, self._close = self._close, None
        if close is not None:
            await close()

    async def _request_query(self, text: str) -> list[float]:
        if self._info.networked:
            return await self._port.aget_query_embedding(text)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._port.get_query_embedding, text)

    async def _request_texts(self, texts: list[str]) -> list[list[float]]:
        if self._info.networked:
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
            raise self._unavailable(describe_failure(exc)) from exc

    def _unavailable(self, problem: str) -> Unavailable:
        return Unavailable(
            f"the embedding model {self.model} of {self._info.provider} {problem}",
            remedy="Try again; if it lasts, check the address and the key, or set SUBSTRATE_EMBEDDING=local.",
        )

    def _unusable(self, answer: str) -> Fault:
        return Fault(
            f"the embedding model {self.model} of {self._info.provider} returned {answer}",
            remedy="Check that the address serves this very model.",
        )

    def _unit_vector(self, answer: Sequence[float]) -> list[float]:
        try:
            length = math.hypot(*answer)
        except TypeError as exc:
            raise self._unusable("something that is no vector") from exc
        if not math.isfinite(length) or length == 0.0:
            raise self._unusable("a vector without a finite length above zero")
        if self._dimension is None:
            self._dimension = len(answer)
        if len(answer) != self._dimension:
            raise self._unusable(f"{len(answer)} numbers where {self._dimension} are expected")
        return [round(number / length, DECIMALS) for number in answer]


class NoEmbedder(Embedder):
    """Used when no model is configured: every vector is empty, and empty vectors are never stored or searched.

    Memories are then found by words, names, links and emotions. No library of a model is loaded.
    """

    def __init__(self) -> None:
        self.model = NO_MODEL

    @property
    def dimension(self) -> int:
        """Zero: a graph written without a model has no index of embeddings."""
        return 0

    async def ready(self) -> Embedder:
        return self

    async def embed_query(self, text: str) -> list[float]:
        return []

    async def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
        return [[] for _ in texts]

    async def aclose(self) -> None:
        return


def _encodable(text: str) -> str:
    # A lone surrogate has no UTF-8 form; tokenizers and HTTP clients would both fail on it.
    return text.encode("utf-8", "replace").decode("utf-8")
