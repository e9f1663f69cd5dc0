"""Any LlamaIndex embedding class, named by its import path."""

from __future__ import annotations

from llama_index.core.base.embeddings.base import BaseEmbedding

from substrate.inference.class_path import ClassPath
from substrate.inference.embeddings.embedder import Embedder, Source


def opened(path: str) -> Embedder:
    """The embedder of the class at `package.module:Class`, built with no arguments.

    It runs in the worker thread: the asynchronous methods of many such classes are the blocking ones renamed.
    Errors: InvalidRequest when there is no such class or it is no `BaseEmbedding`; Fault when building fails.
    """
    named = ClassPath(path, "embedding", "embedding class", "SUBSTRATE_EMBEDDING")
    kind: type[BaseEmbedding] = named.found(BaseEmbedding)
    with named.building():
        port = kind()
    model = port.model_name if port.model_name != "unknown" else path
    return Embedder(port, Source(provider=path, model=model))
