"""The client that is awaited: all rooms together, over HTTP or with the whole service in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import httpx

from api.client.asking import Asking
from api.client.citizens import Citizens
from api.client.commands import Commands
from api.client.links import Links
from api.client.memories import Memories
from api.client.service import Service
from schemas.settings import AuthSettings, ClientSettings, EmbeddingSettings, Settings, StoreSettings

TIMEOUT_SECONDS: Final = 30.0


class AsyncSubstrate(Asking, Memories, Links, Commands, Citizens, Service):
    """A service at `base_url`, with the key `api_key`; what is not given is read from the environment.

    Raises the errors of `schemas.errors`: those of the service as they were there, Unavailable when it cannot be
    reached. Used in `async with`, or closed with `aclose`.
    """

    def __init__(
        self, base_url: str | None = None, api_key: str | None = None, *, http: httpx.AsyncClient | None = None
    ) -> None:
        self._http = http or httpx.AsyncClient(**_connection(base_url, api_key))

    @classmethod
    @asynccontextmanager
    async def embedded(cls, path: Path | str, *, embedding: str | None = None) -> AsyncIterator[AsyncSubstrate]:
        """The same without a service: the engine in the directory `path`, in this process and for it alone.

        `embedding` as in the setting of this name. Raises EngineFault when the engine cannot start.
        """
        # The engine is no business of those who only call a service: they do not pay for its import.
        app = import_module("api.app").create_app(_settings(Path(path), embedding))
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with cls(http=httpx.AsyncClient(transport=transport, base_url="http://localhost")) as client:
                yield client


def _connection(base_url: str | None, api_key: str | None) -> dict[str, Any]:
    settings = ClientSettings()
    kept = None if settings.api_key is None else settings.api_key.get_secret_value()
    key = kept if api_key is None else api_key
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return {"base_url": base_url or settings.base_url, "headers": headers, "timeout": TIMEOUT_SECONDS}


def _settings(path: Path, embedding: str | None) -> Settings:
    store = StoreSettings().model_copy(update={"data": path, "url": None, "falkordb_host": None})
    chosen = EmbeddingSettings() if embedding is None else EmbeddingSettings(embedding=embedding)
    return Settings(store, chosen, auth=AuthSettings(open=True))
