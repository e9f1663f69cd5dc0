"""OpenAI's embedding models, or those of any server with the same API at OPENAI_BASE_URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from llama_index.embeddings.openai import OpenAIEmbedding  # type: ignore[import-untyped]
from openai import DefaultAsyncHttpxClient

from substrate.inference import providers
from substrate.inference.embeddings import Embedder, ModelInfo

if TYPE_CHECKING:
    from schemas.settings import EmbeddingSettings

DEFAULT_MODEL: Final = "text-embedding-3-small"
DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
REQUEST_SECONDS: Final = 10.0


def open_model(settings: EmbeddingSettings, model: str) -> Embedder:
    """Open an OpenAI model; an empty `model` means text-embedding-3-small (1536 dimensions). The dimension of
    another server's model is known only after its first vector. Raises InvalidRequest when there is no key."""
    key = providers.openai_key(settings.openai_api_key, model="embedding", alternative="SUBSTRATE_EMBEDDING=local")
    name = model or DEFAULT_MODEL
    address = settings.openai_base_url or providers.OPENAI_ADDRESS
    client = DefaultAsyncHttpxClient()
    port = OpenAIEmbedding(
        model_name=name,
        api_key=key,
        api_base=address,
        max_retries=providers.OPENAI_RETRIES,
        timeout=REQUEST_SECONDS,
        async_http_client=client,
    )
    info = ModelInfo(providers.openai_provider(address), name, DIMENSIONS.get(name), networked=True)
    return Embedder(port, info, client.aclose)
