"""Messages in LlamaIndex's form; imported only with a model."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatMessage

from substrate.inference.language.model import Message


def chat(messages: Sequence[Message]) -> list[ChatMessage]:
    """The messages as LlamaIndex takes them."""
    return [ChatMessage(role=role, content=text) for role, text in messages]
