"""OpenAI's language models, or those of any server with the same API at OPENAI_BASE_URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from llama_index.llms.openai_like import OpenAILike  # type: ignore[import-untyped]
from openai import DefaultAsyncHttpxClient
from openai.resources.chat import AsyncCompletions  # noqa: F401  else the first question waits while it loads

from substrate.inference import providers
from substrate.inference.language import LanguageModel, Message, to_chat

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatResponse

    from schemas.settings import LanguageModelSettings

DEFAULT_MODEL: Final = "gpt-4.1-mini"
REQUEST_SECONDS: Final = 60.0
CONTEXT_WINDOW: Final = 128_000


def open_model(settings: LanguageModelSettings, model: str) -> LanguageModel:
    """Open an OpenAI model; an empty `model` means gpt-4.1-mini. Raises InvalidRequest when there is no key."""
    key = providers.openai_key(settings.openai_api_key, model="language", alternative="SUBSTRATE_LLM=none")
    address = settings.openai_base_url or providers.OPENAI_ADDRESS
    client = DefaultAsyncHttpxClient()
    name = model or DEFAULT_MODEL
    port = OpenAILike(
        model=name,
        api_key=key,
        api_base=address,
        is_chat_model=True,
        context_window=CONTEXT_WINDOW,
        temperature=0.0,
        max_retries=providers.OPENAI_RETRIES,
        timeout=REQUEST_SECONDS,
        async_http_client=client,
    )

    async def send(messages: Sequence[Message]) -> ChatResponse:
        response: ChatResponse = await port.achat(to_chat(messages))
        return response

    return LanguageModel(name, providers.openai_provider(address), send, client.aclose)
