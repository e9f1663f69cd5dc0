"""OpenAI's embedding models, or any server that speaks its API at OPENAI_BASE_URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from llama_index.embeddings.openai import OpenAIEmbedding  # type: ignore[import-untyped]
from openai import DefaultAsyncHttpxClient

from substrate.inference import openai_api
from substrate.inference.embeddings.embedder import Embedder, Source

if TYPE_CHECKING:
    from schemas.settings import EmbeddingSettings

DEFAULT_MODEL: Final = "text-embedding-3-small"
DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
REQUEST_SECONDS: Final = 10.0


def opened(settings: EmbeddingSettings, model: str) -> Embedder:
    """The embedder of an OpenAI model; an empty `model` means text-embedding-3-small (1536 numbers).

    The vectors of a model that is not OpenAI's have the length that the server gives them.
    Errors: InvalidRequest when there is no key.
    """
    key = openai_api.text_of(settings.openai_api_key, "embedding", "SUBSTRATE_EMBEDDING=local")
    name = model or DEFAULT_MODEL
    address = settings.openai_base_url or openai_api.OFFICIAL
    client = DefaultAsyncHttpxClient()
    port = OpenAIEmbedding(
        model_name=name,
        api_key=key,
        api_base=address,
        max_retries=openai_api.RETRIES,
        timeout=REQUEST_SECONDS,
        async_http_client=client,
    )
    source = Source(openai_api.provider(address), name, DIMENSIONS.get(name), networked=True)
    return Embedder(port, source, client.aclose)
