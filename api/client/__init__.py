"""The Python client inside the service: that of `substrate_client`, which reads answers as values of `schemas`.

`Substrate.embedded(path)` needs no service.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings
from substrate_client import async_client, sync_client

__all__ = ["AsyncSubstrate", "Substrate"]


class AsyncSubstrate(async_client.AsyncSubstrate):
    __doc__ = async_client.AsyncSubstrate.__doc__
    _models = "api.client.models"

    @classmethod
    @asynccontextmanager
    async def embedded(cls, path: Path | str, *, embedding: str | None = None) -> AsyncIterator[AsyncSubstrate]:
        """A client without a service: the engine runs in this process, on the directory `path`.

        `embedding` as in the setting of this name. Raises EngineFault when the engine cannot start.
        """
        store = StoreSettings().model_copy(update={"data": Path(path), "url": None, "falkordb_host": None})
        chosen = EmbeddingSettings() if embedding is None else EmbeddingSettings(embedding=embedding)
        async with cls.opened(Settings(store, chosen)) as client:
            yield client

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, settings: Settings, waiting: Callable[[Any], None] | None = None
    ) -> AsyncIterator[AsyncSubstrate]:
        """A client without a service, on the store of these settings; no key is needed.

        `waiting` is called with a `Loading` again and again while an embedded engine loads.
        """
        open_settings = replace(settings, auth=AuthSettings(open=True))
        # Imported late: a client of a remote service must not load the engine.
        app = import_module("api.app").create_app(open_settings, on_loading=waiting)
        async with app.router.lifespan_context(app), cls.inside(app) as client:
            yield client


class Substrate(sync_client.Substrate):
    __doc__ = sync_client.Substrate.__doc__
    _awaited: ClassVar[type[async_client.AsyncSubstrate]] = AsyncSubstrate

    @classmethod
    def embedded(cls, path: Path | str, *, embedding: str | None = None) -> Self:
        """A client without a service: the engine runs in this process, on the directory `path`.

        `embedding` as in the setting of this name. Raises EngineFault when the engine cannot start.
        """
        client = cls.__new__(cls)
        client._open(AsyncSubstrate.embedded(path, embedding=embedding))
        return client
