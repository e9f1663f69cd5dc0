"""OpenAI's language models, or any server that speaks its API at OPENAI_BASE_URL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from llama_index.llms.openai_like import OpenAILike  # type: ignore[import-untyped]
from openai import DefaultAsyncHttpxClient
from openai.resources.chat import AsyncCompletions  # noqa: F401  else the first question waits while it loads

from schemas.errors import InvalidRequest
from substrate.language_models.chat import chat
from substrate.language_models.model import LanguageModel, Message

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatResponse

    from schemas.settings import LanguageModelSettings

DEFAULT_MODEL: Final = "gpt-4.1-mini"
OFFICIAL: Final = "https://api.openai.com/v1"
REQUEST_SECONDS: Final = 60.0
CONTEXT_WINDOW: Final = 128_000
# One retry, by the client, that honours Retry-After; LlamaIndex's own second layer of retries then stays out.
RETRIES: Final = 1


def opened(settings: LanguageModelSettings, model: str) -> LanguageModel:
    """An OpenAI model; an empty `model` means gpt-4.1-mini.

    Errors: InvalidRequest when there is no key.
    """
    if settings.openai_api_key is None:
        raise InvalidRequest(
            "The OpenAI language model needs a key.",
            remedy="Set OPENAI_API_KEY (any text will do for a local server), or SUBSTRATE_LLM=none.",
        )
    address = settings.openai_base_url or OFFICIAL
    client = DefaultAsyncHttpxClient()
    name = model or DEFAULT_MODEL
    port = OpenAILike(
        model=name,
        api_key=settings.openai_api_key.get_secret_value(),
        api_base=address,
        is_chat_model=True,
        context_window=CONTEXT_WINDOW,
        temperature=0.0,
        max_retries=RETRIES,
        timeout=REQUEST_SECONDS,
        async_http_client=client,
    )

    async def send(messages: Sequence[Message]) -> ChatResponse:
        response: ChatResponse = await port.achat(chat(messages))
        return response

    return LanguageModel(name, _provider(address), send, client.aclose)


def _provider(address: str) -> str:
    # The host alone: an address may carry a user and a password.
    return f"OpenAI at {urlsplit(address).hostname or 'an address without a host'}"
