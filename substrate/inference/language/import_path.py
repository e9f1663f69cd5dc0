"""Any LlamaIndex language model class, named by its import path."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llama_index.core.llms import LLM

from substrate.inference.class_path import ClassPath
from substrate.inference.language.chat import chat
from substrate.inference.language.model import LanguageModel, Message

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatResponse


def opened(path: str) -> LanguageModel:
    """The model of the class at `package.module:Class`, built with no arguments.

    It runs in a worker thread: the asynchronous methods of many such classes are the blocking ones renamed.
    Errors: InvalidRequest when there is no such class or it is no `LLM`; Fault when building fails.
    """
    named = ClassPath(path, "language model", "language model class", "SUBSTRATE_LLM")
    kind: type[LLM] = named.found(LLM)
    with named.building():
        port = kind()
        name = port.metadata.model_name

    async def send(messages: Sequence[Message]) -> ChatResponse:
        return await asyncio.to_thread(port.chat, chat(messages))

    return LanguageModel(path if name == "unknown" else name, path, send)
