"""Language models behind one port: LlamaIndex's `LLM`. None is used unless one is configured.

`open_language_model` opens the model; `LanguageModel` is what the rest of Substrate uses. The libraries behind a
model are imported when that model is opened, not with this package.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from schemas.errors import InvalidRequest
from substrate.inference.language.model import LanguageModel, Message, TokenPrices, to_chat
from substrate.inference.providers import ClassPath

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatResponse

    from schemas.settings import LanguageModelSettings

__all__ = ["LanguageModel", "open_language_model"]


def open_language_model(settings: LanguageModelSettings) -> LanguageModel | None:
    """Open the language model that the settings choose; None for `none`. Close it with `aclose`.

    The choice is `none`, `openai[:model]`, or `package.module:Class`, the path of a LlamaIndex `LLM` class that is
    built with no arguments. Nothing is sent yet.
    Raises InvalidRequest for an unknown choice, a missing key or a class that cannot be imported; Fault when the
    class cannot be built.
    """
    choice = settings.llm.strip()
    kind, _, rest = choice.partition(":")
    if choice == "none":
        return None
    if kind == "openai":
        model: LanguageModel = import_module(f"{__name__}.openai_client").open_model(settings, rest.strip())
    elif kind and rest:
        model = _open_class(choice)
    else:
        raise InvalidRequest(
            f"there is no language model {choice!r}",
            remedy="Set SUBSTRATE_LLM to none, openai, openai:<model>, or package.module:Class.",
        )
    if settings.llm_input_price is not None and settings.llm_output_price is not None:
        model.prices = TokenPrices(settings.llm_input_price, settings.llm_output_price)
    model.question_seconds = settings.llm_question_seconds
    return model


def _open_class(path: str) -> LanguageModel:
    """Its blocking methods run in a worker thread: in many such classes the asynchronous ones block, too."""
    from llama_index.core.llms import LLM  # noqa: PLC0415

    class_path = ClassPath(path, "language model", "language model class", "SUBSTRATE_LLM")
    loaded: type[LLM] = class_path.load(LLM)
    with class_path.building():
        port = loaded()
        name = port.metadata.model_name

    async def send(messages: Sequence[Message]) -> ChatResponse:
        return await asyncio.to_thread(port.chat, to_chat(messages))

    return LanguageModel(path if name == "unknown" else name, path, send)
