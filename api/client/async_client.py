"""The async client: every method of the API, over HTTP or with the whole service in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self, Unpack

import httpx
from starlette.types import ASGIApp

from api.client._calls import Calls
from api.client.conversations import ConversationCalls, LevelFields
from api.client.transport import (
    ATTEMPTS,
    Call,
    ModelOrFields,
    collect_commands,
    read_connection,
)
from schemas.commands import Command
from schemas.responses import ReceiptList
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings
from schemas.validation import ValidationResult

INSIDE: Final = ("", 0)
"""A caller inside this process has no address."""


class AsyncSubstrate(ConversationCalls, Calls):
    """Client of a service at `base_url` with the key `api_key`; both default to the environment.

    Raises the errors of `schemas.errors` as the service raised them, Unavailable when it cannot be reached.
    Use it in `async with`, or close it with `aclose`.
    """

    def __init__(
        self, base_url: str | None = None, api_key: str | None = None, *, http: httpx.AsyncClient | None = None
    ) -> None:
        self._http = http or httpx.AsyncClient(**read_connection(base_url, api_key))

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

    @classmethod
    def inside(cls, app: ASGIApp, headers: Mapping[str, str] | None = None, attempts: int = ATTEMPTS) -> Self:
        """A client of an application in this process that is already started."""
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=INSIDE)
        http = httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers, trust_env=False
        )
        client = cls(http=http)
        client._attempts = attempts
        return client

    async def apply(self, commands: Sequence[Command | ModelOrFields], *, atomic: bool = False) -> ReceiptList:
        """Apply up to 1000 commands in order; each is stored or refused on its own.

        A command sent as fields names its kind in `command`. With `atomic` all are stored or none: at most 100,
        for one graph.
        """
        params = {"atomic": "true"} if atomic else {}
        return await self._request(ReceiptList, Call("POST", "/v1/commands", collect_commands(commands), params))

    async def validate_link(self, link: Mapping[str, Any]) -> ValidationResult:
        """Errors, warnings and completeness of a link's metadata; stores nothing."""
        return await self._request(ValidationResult, Call("POST", "/v1/validation/link", dict(link)))

    async def save_mirror(self, citizen_id: str | None, target: Path | str, **where: Unpack[LevelFields]) -> int:
        """Save the memory of the citizen, or a shared graph, as a tar of Markdown files; returns its bytes.

        Raises FileExistsError when the file exists.
        """
        call = Call("GET", "/v1/files/mirror", params={"citizen_id": citizen_id, **where})
        return await self._save(call, Path(target))
