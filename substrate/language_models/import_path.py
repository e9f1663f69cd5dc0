"""Any LlamaIndex language model class, named by its import path."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from llama_index.core.llms import LLM

from schemas.errors import Fault, InvalidRequest
from substrate.language_models.chat import chat
from substrate.language_models.model import LanguageModel, Message

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatResponse


def opened(path: str) -> LanguageModel:
    """The model of the class at `package.module:Class`, built with no arguments.

    It runs in a worker thread: the asynchronous methods of many such classes are the blocking ones renamed.
    Errors: InvalidRequest when there is no such class or it is no `LLM`; Fault when building fails.
    """
    kind = _found(path)
    try:
        port = kind()
        name = port.metadata.model_name
    except Exception as exc:
        raise Fault(
            f"The language model class {path} cannot be built with no arguments ({type(exc).__name__}).",
            remedy="Name a class that takes its configuration from the environment, or wrap it in one.",
        ) from exc

    async def send(messages: Sequence[Message]) -> ChatResponse:
        return await asyncio.to_thread(port.chat, chat(messages))

    return LanguageModel(path if name == "unknown" else name, path, send)


def _found(path: str) -> type[LLM]:
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as exc:
        raise InvalidRequest(
            f"The language model class {path} cannot be imported ({type(exc).__name__}).",
            remedy="Install the package, and write SUBSTRATE_LLM as package.module:Class.",
        ) from exc
    if not (isinstance(found, type) and issubclass(found, LLM)):
        raise InvalidRequest(
            f"{path} is not a LlamaIndex language model class.",
            remedy="Name a subclass of LlamaIndex's LLM in SUBSTRATE_LLM.",
        )
    return found
