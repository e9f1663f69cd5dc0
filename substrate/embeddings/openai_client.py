"""OpenAI's embedding models, or any server that speaks its API at OPENAI_BASE_URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from llama_index.embeddings.openai import OpenAIEmbedding  # type: ignore[import-untyped]
from openai import DefaultAsyncHttpxClient

from schemas.errors import InvalidRequest
from substrate.embeddings.embedder import Embedder, Source

if TYPE_CHECKING:
    from schemas.settings import EmbeddingSettings

DEFAULT_MODEL: Final = "text-embedding-3-small"
DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
OFFICIAL: Final = "https://api.openai.com/v1"
REQUEST_SECONDS: Final = 10.0
# One retry, by the client, that honours Retry-After; LlamaIndex's own second layer of retries then stays out.
RETRIES: Final = 1


def opened(settings: EmbeddingSettings, model: str) -> Embedder:
    """The embedder of an OpenAI model; an empty `model` means text-embedding-3-small (1536 numbers).

    The vectors of a model that is not OpenAI's have the length that the server gives them.
    Errors: InvalidRequest when there is no key.
    """
    if settings.openai_api_key is None:
        raise InvalidRequest(
            "The OpenAI embedding model needs a key.",
            remedy="Set OPENAI_API_KEY (any text will do for a local server), or SUBSTRATE_EMBEDDING=local.",
        )
    name = model or DEFAULT_MODEL
    address = settings.openai_base_url or OFFICIAL
    client = DefaultAsyncHttpxClient()
    port = OpenAIEmbedding(
        model_name=name,
        api_key=settings.openai_api_key.get_secret_value(),
        api_base=address,
        max_retries=RETRIES,
        timeout=REQUEST_SECONDS,
        async_http_client=client,
    )
    source = Source(_provider(address), name, DIMENSIONS.get(name), networked=True)
    return Embedder(port, source, client.aclose)


def _provider(address: str) -> str:
    # The host alone: an address may carry a user and a password.
    return f"OpenAI at {urlsplit(address).hostname or 'an address without a host'}"
