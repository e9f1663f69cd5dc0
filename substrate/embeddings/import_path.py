"""Any LlamaIndex embedding class, named by its import path."""

from __future__ import annotations

from importlib import import_module

from llama_index.core.base.embeddings.base import BaseEmbedding

from schemas.errors import Fault, InvalidRequest
from substrate.embeddings.embedder import Embedder, Source


def opened(path: str) -> Embedder:
    """The embedder of the class at `package.module:Class`, built with no arguments.

    It runs in the worker thread: the asynchronous methods of many such classes are the blocking ones renamed.
    Errors: InvalidRequest when there is no such class or it is no `BaseEmbedding`; Fault when building fails.
    """
    kind = _found(path)
    try:
        port = kind()
    except Exception as exc:
        raise Fault(
            f"The embedding class {path} cannot be built with no arguments ({type(exc).__name__}).",
            remedy="Name a class that takes its configuration from the environment, or wrap it in one.",
        ) from exc
    model = port.model_name if port.model_name != "unknown" else path
    return Embedder(port, Source(provider=path, model=model))


def _found(path: str) -> type[BaseEmbedding]:
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as exc:
        raise InvalidRequest(
            f"The embedding class {path} cannot be imported ({type(exc).__name__}).",
            remedy="Install the package, and write SUBSTRATE_EMBEDDING as package.module:Class.",
        ) from exc
    if not (isinstance(found, type) and issubclass(found, BaseEmbedding)):
        raise InvalidRequest(
            f"{path} is not a LlamaIndex embedding class.",
            remedy="Name a subclass of LlamaIndex's BaseEmbedding in SUBSTRATE_EMBEDDING.",
        )
    return found
