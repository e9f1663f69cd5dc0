"""The default embedding model: all-MiniLM-L6-v2 on ONNX Runtime, without network and key."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from schemas.errors import Fault
from substrate.inference.embeddings import Embedder, ModelInfo
from substrate.inference.minilm.model_file import CANDIDATES, Precision, choose, onnx_file, tokenizer

if TYPE_CHECKING:
    from schemas.settings import EmbeddingSettings

MODEL: Final = "all-MiniLM-L6-v2"
DIMENSION: Final = 384
MAX_TOKENS: Final = 256
# In prose 256 tokens are about 1,200 characters; the rest of a huge text need not be tokenised.
MAX_CHARACTERS: Final = 16_384
# Each thread takes this many texts at once; a few long ones take about 100 ms.
BATCH: Final = 4
# Threads that embed at ingestion; each text runs on one of them. More leave too little to the engine.
MOST_THREADS: Final = 4
TRIAL_ROUNDS: Final = 8
TRIAL_TEXT: Final = (
    "Caroline: Last week I told everybody about the camping trip with Melanie, and it went well. " * 2
)


class LocalMiniLM:
    """all-MiniLM-L6-v2: unit vectors of 384 dimensions. Safe to call from several threads at once.

    Has what `EmbeddingModel` asks of a model, and is no class of LlamaIndex: importing that takes longer than a
    question to a small store.

    Only the first 256 tokens of a text count, the limit of the model. A text runs on the thread that calls and
    without others beside it, so that memory does not grow with the batch. The SHA-256 of the tokenizer is checked
    at each opening, that of the weights when the cached ONNX file is built.
    """

    model_name = MODEL
    embed_batch_size = BATCH

    def __init__(self, cache: Path, precision: Precision | None = None) -> None:
        """Load the model in this precision, or in the one for this machine; its file is built when there is none.
        Raises Fault when files are missing or altered, or `cache` cannot be written."""
        self._tokenizer = Tokenizer.from_file(str(tokenizer()))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        if precision is None:
            choice = choose(cache, onnxruntime.__version__, lambda: self._trial(cache))
            precision, self._choice = choice.precision, str(choice)
        else:
            self._choice = precision
        self._session = _session(onnx_file(cache, precision))

    @property
    def choice(self) -> str:
        """The precision, and how it was chosen."""
        return self._choice

    def _trial(self, cache: Path) -> dict[Precision, float]:
        """Milliseconds of processor time that each candidate takes for one text: the least of some rounds."""
        sessions = {name: _session(onnx_file(cache, name)) for name in CANDIDATES}
        tokens = {"ids": np.array([self._tokenizer.encode(TRIAL_TEXT).ids], np.int32)}
        best: dict[Precision, float] = dict.fromkeys(CANDIDATES, math.inf)
        for _ in range(TRIAL_ROUNDS):
            for name, session in sessions.items():
                begun = time.thread_time()
                session.run(None, tokens)
                best[name] = min(best[name], (time.thread_time() - begun) * 1000)
        return best

    def get_text_embedding(self, text: str) -> list[float]:
        """Return the unit vector of a text."""
        tokens = self._tokenizer.encode(text[:MAX_CHARACTERS]).ids
        vectors = self._session.run(None, {"ids": np.array([tokens], np.int32)})[0]
        vector: list[float] = vectors[0].tolist()
        return vector

    def get_query_embedding(self, query: str) -> list[float]:
        """Return the unit vector of a question: it is that of a text."""
        return self.get_text_embedding(query)

    def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
        """Return the unit vectors of the texts, in their order."""
        return list(map(self.get_text_embedding, texts))


_open_models: Final[WeakValueDictionary[Path, LocalMiniLM]] = WeakValueDictionary()


def open_model(settings: EmbeddingSettings) -> Embedder:
    """Open the local model; its ONNX file is cached in `settings.cache`. Raises Fault as `LocalMiniLM` does. All
    embedders of a process share one model, which takes about 80 MB."""
    model = _open_models.get(settings.cache)
    if model is None:
        model = _open_models[settings.cache] = LocalMiniLM(settings.cache)
    return embedder_of(model)


def embedder_of(model: LocalMiniLM) -> Embedder:
    """An embedder of this model, with as many threads as this machine has for it."""
    # How many threads embed at ingestion: as many as this process has processors, within reason.
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    info = ModelInfo("this package", MODEL, DIMENSION, threads=min(processors, MOST_THREADS), note=model.choice)
    return Embedder(model, info)


def _session(model: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # the arena would never release the peak of the longest text
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as exc:  # its errors have no other base class
        raise Fault(
            "ONNX Runtime cannot load the local embedding model",
            remedy="Update onnxruntime, or choose another model with SUBSTRATE_EMBEDDING.",
        ) from exc
