"""Embedding models behind one port: LlamaIndex's `BaseEmbedding`.

`open_embedder` opens the model; `Embedder` is what the rest of Substrate uses. The libraries behind a model
(LlamaIndex, ONNX Runtime, the OpenAI client) are imported when that model is opened, not with this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from schemas.errors import InvalidRequest
from substrate.inference.embeddings.embedder import Embedder, ModelInfo, NoEmbedder
from substrate.inference.providers import ClassPath

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemas.settings import EmbeddingSettings

__all__ = ["Embedder", "open_embedder"]

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
        return _opener("local")(settings)
    if choice == "none":
        return NoEmbedder()
    if kind == "openai":
        return _opener("openai_client")(settings, rest.strip())
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


def _opener(module: str) -> Callable[..., Embedder]:
    opener: Callable[..., Embedder] = import_module(f"{__name__}.{module}").open_model
    return opener
