"""The default embedding model: all-MiniLM-L6-v2 on ONNX Runtime, without network and key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import numpy as np
import onnxruntime
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from tokenizers import Tokenizer

from schemas.errors import Fault
from substrate.inference.embeddings.embedder import Embedder, ModelInfo
from substrate.inference.minilm import weights
from substrate.inference.minilm.model_file import onnx_file

if TYPE_CHECKING:
    from schemas.settings import EmbeddingSettings
    from substrate.inference.minilm.graph import Precision

MODEL: Final = "all-MiniLM-L6-v2"
DIMENSION: Final = 384
MAX_TOKENS: Final = 256
# In prose 256 tokens are about 1,200 characters; the rest of a huge text need not be tokenised.
MAX_CHARACTERS: Final = 16_384
# A waiting query may go first after each batch; one takes about 30 ms.
BATCH: Final = 8

# Chosen by recall: on 381 questions of LoCoMo with plain cosine, fp32 finds 0.471 of the evidence in the first
# ten, this int8 0.476 (difference 0.005 +- 0.005, so none). 97 % of those ten turns are the same and the mean
# cosine is 0.9994; a short query takes 1.2 ms instead of 3.0, and one second embeds 520 short texts instead of
# 245. Plain dynamic int8, with one scale for all activations, is faster (0.8 ms), but keeps only 87 % of the ten
# and a mean cosine of 0.993.
PRECISION: Final[Precision] = "int8"


class LocalMiniLM(BaseEmbedding):
    """all-MiniLM-L6-v2: unit vectors of 384 dimensions, on one thread.

    Only the first 256 tokens of a text count, the limit of the model. Texts run one at a time, so memory does not
    grow with the batch. The SHA-256 of the tokenizer is checked at each opening, that of the weights when the
    cached ONNX file is built.
    """

    _session: onnxruntime.InferenceSession = PrivateAttr()
    _tokenizer: Tokenizer = PrivateAttr()

    def __init__(self, cache: Path, precision: Precision = PRECISION) -> None:
        """Load the model, or build its ONNX file in `cache`. Raises Fault when files are missing or altered."""
        super().__init__(model_name=MODEL, embed_batch_size=BATCH)
        self._tokenizer = _tokenizer()
        self._session = _session(onnx_file(cache, precision))

    def _get_text_embedding(self, text: str) -> list[float]:
        tokens = self._tokenizer.encode(text[:MAX_CHARACTERS]).ids
        vectors = self._session.run(None, {"ids": np.array([tokens], np.int32)})[0]
        vector: list[float] = vectors[0].tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


_open_models: Final[WeakValueDictionary[Path, LocalMiniLM]] = WeakValueDictionary()


def open_model(settings: EmbeddingSettings) -> Embedder:
    """Open the local model; its ONNX file is cached in `settings.cache`. Raises Fault as `LocalMiniLM` does.

    All embedders of a process share one model, which takes about 80 MB.
    """
    info = ModelInfo(provider="this package", model=MODEL, dimension=DIMENSION)
    model = _open_models.get(settings.cache)
    if model is None:
        model = _open_models[settings.cache] = LocalMiniLM(settings.cache)
    return Embedder(model, info)


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(weights.tokenizer()))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _session(model: bytes) -> onnxruntime.InferenceSession:
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
