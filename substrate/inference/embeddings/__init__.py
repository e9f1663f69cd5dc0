"""Embedding models behind one port: LlamaIndex's `BaseEmbedding`.

`open_embedder` picks the model; `Embedder` is what the rest of Substrate talks to. The libraries behind a
model (LlamaIndex, ONNX Runtime, the OpenAI client) are imported when that model is opened, not with this
package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from schemas.errors import InvalidRequest
from substrate.inference.embeddings.embedder import Embedder
from substrate.inference.embeddings.none import NoEmbedder

if TYPE_CHECKING:
    from schemas.settings import EmbeddingSettings

__all__ = ["Embedder", "open_embedder"]


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """Open the embedding model that the settings choose.

    In: `local`, `none`, `openai[:model]`, or `package.module:Class`, the import path of a LlamaIndex
    `BaseEmbedding` class that is built with no arguments.
    Out: an `Embedder`; close it with `aclose`. Nothing is sent over the network yet.
    Errors: InvalidRequest for an unknown choice, a missing key or a class that cannot be imported; Fault when
    the local model's files are missing, altered or cannot be cached, or when the class cannot be built.
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
        return _opener("import_path")(choice)
    raise InvalidRequest(
        f"There is no embedding model {choice!r}.",
        remedy="Set SUBSTRATE_EMBEDDING to local, none, openai, openai:<model>, or package.module:Class.",
    )


def _opener(module: str) -> _Opener:
    opener: _Opener = import_module(f"{__name__}.{module}").opened
    return opener


if TYPE_CHECKING:
    from collections.abc import Callable

    type _Opener = Callable[..., Embedder]
