"""What the clients of OpenAI's API share: its address, the key it needs, and what a server is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from schemas.errors import InvalidRequest

if TYPE_CHECKING:
    from pydantic import SecretStr

OFFICIAL: Final = "https://api.openai.com/v1"
# One retry, by the client, that honours Retry-After; LlamaIndex's own second layer of retries then stays out.
RETRIES: Final = 1


def text_of(key: SecretStr | None, model: str, instead: str) -> str:
    """The key for a `model` (`embedding`, `language`). Raises InvalidRequest without one, and says what to set."""
    if key is None:
        raise InvalidRequest(
            f"The OpenAI {model} model needs a key.",
            remedy=f"Set OPENAI_API_KEY (any text will do for a local server), or {instead}.",
        )
    return key.get_secret_value()


def provider(address: str) -> str:
    """What the server at an address is called."""
    # The host alone: an address may carry a user and a password.
    return f"OpenAI at {urlsplit(address).hostname or 'an address without a host'}"
