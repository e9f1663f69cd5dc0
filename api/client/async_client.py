"""The client that is awaited: all rooms together, over HTTP or with the whole service in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self

import httpx
from starlette.types import ASGIApp

from api.client.asking import Asking
from api.client.citizens import Citizens
from api.client.commands import Commands
from api.client.links import Links
from api.client.memories import Memories
from api.client.service import Service
from api.client.transport import ATTEMPTS
from schemas.settings import AuthSettings, ClientSettings, EmbeddingSettings, Settings, StoreSettings

TIMEOUT_SECONDS: Final = 30.0
INSIDE: Final = ("", 0)
"""The address of a caller inside this process: none."""


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
        async with cls.opened(_settings(Path(path), embedding)) as client:
            yield client

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, settings: Settings, waiting: Callable[[Any], None] | None = None
    ) -> AsyncIterator[AsyncSubstrate]:
        """The same without a service, on the store that the settings name; nobody is asked for a key.

        `waiting` is told again and again how far an embedded engine is (a `Loading`), as long as it loads.
        """
        within = replace(settings, auth=AuthSettings(open=True))
        # The engine is no business of those who only call a service: they do not pay for its import.
        app = import_module("api.app").create_app(within, on_loading=waiting)
        async with app.router.lifespan_context(app), cls.inside(app) as client:
            yield client

    @classmethod
    def inside(cls, app: ASGIApp, headers: Mapping[str, str] | None = None, attempts: int = ATTEMPTS) -> Self:
        """The same for an application of this process, whose lifespan is somebody else's, with these headers."""
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=INSIDE)
        http = httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers, trust_env=False
        )
        client = cls(http=http)
        client._attempts = attempts
        return client


def _connection(base_url: str | None, api_key: str | None) -> dict[str, Any]:
    settings = ClientSettings()
    kept = None if settings.api_key is None else settings.api_key.get_secret_value()
    key = kept if api_key is None else api_key
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return {"base_url": base_url or settings.base_url, "headers": headers, "timeout": TIMEOUT_SECONDS}


def _settings(path: Path, embedding: str | None) -> Settings:
    store = StoreSettings().model_copy(update={"data": path, "url": None, "falkordb_host": None})
    chosen = EmbeddingSettings() if embedding is None else EmbeddingSettings(embedding=embedding)
    return Settings(store, chosen)
