"""Providers of models: how their failures are reported, and what the clients of OpenAI's API share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from schemas.errors import InvalidRequest

if TYPE_CHECKING:
    from pydantic import SecretStr

OPENAI_ADDRESS: Final = "https://api.openai.com/v1"
# One retry, by the client, which honours Retry-After; LlamaIndex's own second layer of retries then does nothing.
OPENAI_RETRIES: Final = 1


def describe_failure(error: Exception) -> str:
    """Return `failed (status 429)`, or `failed (ErrorClass)` when the error has no HTTP status."""
    # Not the provider's own message: it may repeat the key.
    status = getattr(error, "status_code", None)
    return f"failed ({f'status {status}' if isinstance(status, int) else type(error).__name__})"


def openai_key(key: SecretStr | None, *, model: str, alternative: str) -> str:
    """Return the key for a `model` (`embedding`, `language`). Raises InvalidRequest without one.

    `alternative` is the setting that needs no key.
    """
    if key is None:
        raise InvalidRequest(
            f"the OpenAI {model} model needs a key",
            remedy=f"Set OPENAI_API_KEY (any text will do for a local server), or {alternative}.",
        )
    return key.get_secret_value()


def openai_provider(address: str) -> str:
    """Return the name of the server at an address, for messages."""
    # The host alone: an address may carry a user and a password.
    return f"OpenAI at {urlsplit(address).hostname or 'an address without a host'}"
