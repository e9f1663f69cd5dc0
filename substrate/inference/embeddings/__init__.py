"""Embedding models behind one port: LlamaIndex's `BaseEmbedding`.

`open_embedder` opens the model; `Embedder` is what the rest of Substrate uses. The libraries behind a model
(LlamaIndex, ONNX Runtime, the OpenAI client) are imported when that model is opened, not with this package.
"""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import batched
from typing import TYPE_CHECKING, Final, Protocol, cast

from schemas.bounded_cache import BoundedCache
from schemas.errors import Fault, InvalidRequest, SubstrateError, Unavailable
from substrate.inference.providers import ClassPath, describe_failure, import_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.settings import EmbeddingSettings

QUERIES_BYTES: Final = 16 << 20
"""Of the latest queries; one with its vector of 384 numbers takes about four kilobytes."""
DEADLINE_SECONDS: Final = 30.0
# Vectors go to the database as text. With four decimals the cosine between a unit vector and its rounded form is
# above 0.99999 already, in 384 and in 1536 dimensions; the fifth is margin.
DECIMALS: Final = 5
PROBE: Final = "How many numbers has a vector of this model?"
NO_MODEL: Final = "none"


class EmbeddingModel(Protocol):
    """What `Embedder` asks of a model: a part of LlamaIndex's `BaseEmbedding`, so that each such class is one. It
    is written down here because importing LlamaIndex takes longer than a question to a small store."""

    embed_batch_size: int

    def get_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question."""

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts, in their order."""


class NetworkedModel(EmbeddingModel, Protocol):
    """A model that answers over the network: its methods are awaited."""

    async def aget_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question."""

    async def aget_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts, in their order."""


@dataclass(frozen=True)
class ModelInfo:
    """The facts about a model that are known before its first use.

    `provider` is its name in error messages. `dimension` is None when only a first vector shows it. `networked`
    models are awaited; all others run in worker threads: `threads` of them at most embed lists of texts, and with
    more than one, queries have one of their own. `note`: what else a person may want to know of it.
    """

    provider: str
    model: str
    dimension: int | None = None
    networked: bool = False
    threads: int = 1
    note: str = ""


class Embedder:
    """Checked unit vectors from an embedding model, without blocking the event loop."""

    def __init__(
        self, port: EmbeddingModel, info: ModelInfo, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.model = info.model
        self.note = info.note
        self._port = port
        self._info = info
        self._close = close
        self._dimension = info.dimension
        self._queries = BoundedCache[array[float]](QUERIES_BYTES)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")
        self._texts_workers = (
            ThreadPoolExecutor(max_workers=info.threads, thread_name_prefix="embedding-texts")
            if info.threads > 1
            else self._worker
        )

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
        """Return this embedder once its dimension is known; embeds one probe text if it is not. Raises as
        `embed_query` does."""
        if self._dimension is None:
            await self.embed_query(PROBE)
        return self

    async def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of one query; the latest distinct queries are cached. Raises Unavailable when the
        provider fails or takes more than 30 s, Fault when its answer is no usable vector."""
        query = _encodable(text)
        kept = self._queries.get(query)
        if kept is not None:
            return list(kept)
        with self._provider_errors():
            async with asyncio.timeout(DEADLINE_SECONDS):
                if self._info.networked:
                    answer = await cast("NetworkedModel", self._port).aget_query_embedding(query)
                else:
                    run = asyncio.get_running_loop().run_in_executor
                    answer = await run(self._worker, self._port.get_query_embedding, query)
        vector = self._unit_vector(answer)
        self._queries.keep(query, array("d", vector))
        return vector

    async def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the unit vectors of `texts`, in their order. Texts are sent in batches of the model's own size,
        those of like length together, the longest first. A query that arrives meanwhile waits for one batch at
        most. Raises as `embed_query` does when a batch fails; no vectors are returned then."""
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        batches = batched(order, self._port.embed_batch_size)
        vectors: dict[int, list[float]] = {}

        async def lane() -> None:
            for places in batches:
                answers = await self._embed_batch([_encodable(texts[place]) for place in places])
                vectors.update(zip(places, answers, strict=True))

        lanes = [asyncio.ensure_future(lane()) for _ in range(min(self._info.threads, len(texts)))]
        try:
            await asyncio.gather(*lanes)
        finally:
            for one in lanes:
                one.cancel()
        return [vectors[place] for place in range(len(texts))]

    async def _embed_batch(self, batch: list[str]) -> list[list[float]]:
        with self._provider_errors():
            async with asyncio.timeout(DEADLINE_SECONDS):
                if self._info.networked:
                    answers = await cast("NetworkedModel", self._port).aget_text_embedding_batch(batch)
                else:
                    run = asyncio.get_running_loop().run_in_executor
                    answers = await run(self._texts_workers, self._port.get_text_embedding_batch, batch)
        if len(answers) != len(batch):
            raise self._unusable(f"{len(answers)} vectors for {len(batch)} texts")
        return list(map(self._unit_vector, answers))

    async def aclose(self) -> None:
        """Release the worker threads and the connections. Can be called twice."""
        for workers in (self._worker, self._texts_workers):
            workers.shutdown(wait=False, cancel_futures=True)
        close, self._close = self._close, None
        if close is not None:
            await close()

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
        import numpy as np  # noqa: PLC0415  (only who embeds needs it)

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
        vector: list[float] = (np.array(answer, np.float64) / length).round(DECIMALS).tolist()
        return vector


class NoEmbedder(Embedder):
    """Used when no model is configured: every vector is empty, and empty vectors are never stored or searched.
    Memories are then found by words, names, links and emotions. No library of a model is loaded."""

    def __init__(self) -> None:
        self.model = NO_MODEL
        self.note = ""

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


class EmbedderAhead(NoEmbedder):
    """An embedder that begins at once with the texts that it will be asked for."""

    def __init__(self, embedder: Embedder, texts: Sequence[str]) -> None:
        super().__init__()
        self._embedder, self._texts = embedder, texts
        self._task = asyncio.ensure_future(embedder.embed_texts(texts))
        self._task.add_done_callback(lambda task: task.cancelled() or task.exception())  # perhaps nobody asks

    async def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
        begun = dict(zip(self._texts, await self._task, strict=True))
        others = [text for text in texts if text not in begun]
        begun |= zip(others, await self._embedder.embed_texts(others), strict=True)
        return [begun[text] for text in texts]


def _encodable(text: str) -> str:
    # A lone surrogate has no UTF-8 form; tokenizers and HTTP clients would both fail on it.
    return text.encode("utf-8", "replace").decode("utf-8")


METHODS: Final = ("get_query_embedding", "get_text_embedding_batch")
"""By these a class of embeddings is known."""


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """Open the embedding model that the settings choose; close it with `aclose`. Nothing is sent yet.

    The choice is `local`, `none`, `openai[:model]`, or `package.module:Class`, the path of a LlamaIndex
    `BaseEmbedding` class, or of one with the same methods, that is built with no arguments.
    Raises InvalidRequest for an unknown choice, a missing key or a class that cannot be imported; Fault when files
    of the local model are missing, altered or cannot be cached, or when the class cannot be built.
    """
    choice = settings.choice().strip()
    kind, _, rest = choice.partition(":")
    if choice == "local":
        local: Callable[..., Embedder] = import_module(f"{__name__}.local").open_model
        return local(settings)
    if choice == "none":
        return NoEmbedder()
    if kind == "openai":
        opener: Callable[..., Embedder] = import_with("openai", f"{__name__}.openai_client").open_model
        return opener(settings, rest.strip())
    if kind and rest:
        # Its blocking methods run in the worker thread: in many such classes the asynchronous ones block, too.
        class_path = ClassPath(choice, "embedding", "embedding class", "SUBSTRATE_EMBEDDING")
        loaded = class_path.load_fitting(METHODS, "BaseEmbedding")
        with class_path.building():
            port = loaded()
            name = str(port.model_name)
        return Embedder(port, ModelInfo(provider=choice, model=choice if name == "unknown" else name))
    raise InvalidRequest(
        f"there is no embedding model {choice!r}",
        remedy="Set SUBSTRATE_EMBEDDING to local, none, openai, openai:<model>, or package.module:Class.",
    )
