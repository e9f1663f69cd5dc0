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

from api.client import _calls as fields
from api.client._calls import Calls
from api.client.conversations import ConversationCalls, LevelFields
from api.client.transport import (
    ATTEMPTS,
    Call,
    ModelOrFields,
    collect_command,
    collect_commands,
    pop_path,
    read_connection,
)
from schemas.commands import (
    Command,
    Correct,
    CorrectLink,
    EraseMemory,
    ErasureReport,
    Relate,
    Remember,
    Resolve,
    ResolveLink,
    Retract,
    Supersede,
    SupersedeLink,
    Undo,
    UndoLink,
    Unrelate,
    WriteReceipt,
)
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, ValidationResult
from schemas.responses import (
    LinkHistory,
    LinkPage,
    MemoryHistory,
    MemoryPage,
    ReceiptList,
)
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings

INSIDE: Final = ("", 0)
"""A caller inside this process has no address."""


class RecordFields(fields.MomentRequestFields, LevelFields, total=False):
    """Where a record is read, and at which moment."""


class HistoryFields(fields.HistoryRequestFields, LevelFields, total=False):
    """Where a history is read, and which page of it."""


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

    async def remember(
        self, command: Remember | None = None, /, **given: Unpack[fields.RememberFields]
    ) -> WriteReceipt:
        """Store one memory."""
        return await self._request(WriteReceipt, Call("POST", "/v1/memories", collect_command(command, given)))

    async def supersede(
        self, command: Supersede | None = None, /, **given: Unpack[fields.SupersedeFields]
    ) -> WriteReceipt:
        """The world changed: the old content ends at `effective_at`, the new begins there."""
        return await self._send_change("memories/supersede", collect_command(command, given))

    async def correct(
        self, command: Correct | None = None, /, **given: Unpack[fields.CorrectFields]
    ) -> WriteReceipt:
        """We were wrong: the corrected content holds over the same valid time."""
        return await self._send_change("memories/correct", collect_command(command, given))

    async def retract(
        self, command: Retract | None = None, /, **given: Unpack[fields.RetractingFields]
    ) -> WriteReceipt:
        """The memory no longer holds from `effective_at` on; without `effective_at` it never held."""
        return await self._send_change("memories/retract", collect_command(command, given))

    async def resolve(
        self, command: Resolve | None = None, /, **given: Unpack[fields.ResolvingFields]
    ) -> WriteReceipt:
        """Set the resolution state of a memory: resolved, unless another state is named."""
        return await self._send_change("memories/resolve", collect_command(command, given))

    async def undo(self, command: Undo | None = None, /, **given: Unpack[fields.UndoingFields]) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        return await self._send_change("memories/undo", collect_command(command, given))

    async def get(self, memory_id: str, /, **where: Unpack[RecordFields]) -> ConsciousnessNode:
        """The memory as it is now, or at `as_of_time` as known at `known_at`."""
        params = {**where, "id": memory_id}
        return await self._request(ConsciousnessNode, Call("GET", pop_path("memories", params), params=params))

    async def history(self, memory_id: str, /, **page: Unpack[HistoryFields]) -> MemoryHistory:
        """All records of the memory in the order they became known; with `limit` or `cursor` one page."""
        params = {**page, "id": memory_id}
        call = Call("GET", f"{pop_path('memories', params)}/history", params=params)
        return await self._request_all_pages(MemoryHistory, call, "records")

    async def list_memories(self, /, **filters: Unpack[fields.MemoryListRequestFields]) -> MemoryPage:
        """One page of a graph, now or at a moment; `cursor` is the `next` of the page before."""
        return await self._request(MemoryPage, Call("GET", "/v1/memories", params=filters))

    async def relate(self, command: Relate | None = None, /, **given: Unpack[fields.RelateFields]) -> WriteReceipt:
        """Store one link between two memories."""
        return await self._request(WriteReceipt, Call("POST", "/v1/links", collect_command(command, given)))

    async def supersede_link(
        self, command: SupersedeLink | None = None, /, **given: Unpack[fields.SupersedeLinkFields]
    ) -> WriteReceipt:
        """The world changed: the old metadata end at `effective_at`, the new begin there."""
        return await self._send_change("links/supersede", collect_command(command, given))

    async def correct_link(
        self, command: CorrectLink | None = None, /, **given: Unpack[fields.CorrectLinkFields]
    ) -> WriteReceipt:
        """We were wrong: the corrected metadata hold over the same valid time."""
        return await self._send_change("links/correct", collect_command(command, given))

    async def unrelate(
        self, command: Unrelate | None = None, /, **given: Unpack[fields.RetractingFields]
    ) -> WriteReceipt:
        """The link no longer holds from `effective_at` on; without `effective_at` it never held."""
        return await self._send_change("links/retract", collect_command(command, given))

    async def resolve_link(
        self, command: ResolveLink | None = None, /, **given: Unpack[fields.ResolvingFields]
    ) -> WriteReceipt:
        """Set the resolution state of a link: resolved, unless another state is named."""
        return await self._send_change("links/resolve", collect_command(command, given))

    async def undo_link(
        self, command: UndoLink | None = None, /, **given: Unpack[fields.UndoingFields]
    ) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        return await self._send_change("links/undo", collect_command(command, given))

    async def get_link(self, link_id: str, /, **where: Unpack[RecordFields]) -> ConsciousnessRelationship:
        """The link as it is now, or at `as_of_time` as known at `known_at`."""
        params = {**where, "id": link_id}
        return await self._request(
            ConsciousnessRelationship, Call("GET", pop_path("links", params), params=params)
        )

    async def link_history(self, link_id: str, /, **page: Unpack[HistoryFields]) -> LinkHistory:
        """All records of the link in the order they became known; with `limit` or `cursor` one page."""
        params = {**page, "id": link_id}
        call = Call("GET", f"{pop_path('links', params)}/history", params=params)
        return await self._request_all_pages(LinkHistory, call, "records")

    async def list_links(self, /, **filters: Unpack[fields.LinkListRequestFields]) -> LinkPage:
        """One page of a graph, now or at a moment; `cursor` is the `next` of the page before."""
        return await self._request(LinkPage, Call("GET", "/v1/links", params=filters))

    async def apply(self, commands: Sequence[Command | ModelOrFields], *, atomic: bool = False) -> ReceiptList:
        """Apply up to 1000 commands in order; each is stored or refused on its own.

        A command sent as fields names its kind in `command`. With `atomic` all are stored or none: at most 100,
        for one graph.
        """
        params = {"atomic": "true"} if atomic else {}
        return await self._request(ReceiptList, Call("POST", "/v1/commands", collect_commands(commands), params))

    async def erase_memory(
        self, command: EraseMemory | None = None, /, **given: Unpack[fields.EraseMemoryFields]
    ) -> ErasureReport:
        """Remove the memory for good, from the past too. This cannot be undone."""
        body = collect_command(command, given)
        return await self._request(ErasureReport, Call("POST", f"{pop_path('memories', body)}/erase", body))

    async def validate_link(self, link: Mapping[str, Any]) -> ValidationResult:
        """Errors, warnings and completeness of a link's metadata; stores nothing."""
        return await self._request(ValidationResult, Call("POST", "/v1/validation/link", dict(link)))

    async def save_mirror(self, citizen_id: str | None, target: Path | str, **where: Unpack[LevelFields]) -> int:
        """Save the memory of the citizen, or a shared graph, as a tar of Markdown files; returns its bytes.

        Raises FileExistsError when the file exists.
        """
        call = Call("GET", "/v1/files/mirror", params={"citizen_id": citizen_id, **where})
        return await self._save(call, Path(target))
