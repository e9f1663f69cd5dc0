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

from api.client import fields
from api.client.citizen_calls import CitizenCalls
from api.client.conversations import ConversationCalls
from api.client.mind_calls import MindCalls
from api.client.sharing_calls import SharingCalls
from api.client.stream_calls import StreamCalls, with_form
from api.client.transport import (
    ATTEMPTS,
    Call,
    ModelOrFields,
    collect_command,
    collect_commands,
    collect_fields,
    pop_path,
    quote_segment,
    read_connection,
)
from api.client.upkeep_calls import RetentionCalls, UpkeepCalls
from orchestration.features.association.values import Associations, TagWalk
from schemas.commands import (
    Command,
    Correct,
    CorrectLink,
    EraseCitizen,
    EraseEpisode,
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
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.keys import KeyChange, KeyInfo, KeyList, KeyRequest, NewKey
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.responses import (
    Alive,
    LinkHistory,
    LinkPage,
    MemoryHistory,
    MemoryPage,
    Ready,
    ReceiptList,
)
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.stream_forms import StreamAnswer, as_stream
from schemas.upkeep import RepairOutcome, RepairRequest, SweepAnswer, SweepRequest
from schemas.upkeep.quality import QualityAnswer
from schemas.validation import ValidationResult
from schemas.wave_signal import Resonances, Resonate

INSIDE: Final = ("", 0)
"""A caller inside this process has no address."""


class AsyncSubstrate(
    ConversationCalls, CitizenCalls, MindCalls, StreamCalls, SharingCalls, RetentionCalls, UpkeepCalls
):
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

    async def retrieve(
        self, intention: RetrievalIntention | None = None, /, **given: Unpack[fields.RetrieveFields]
    ) -> ConsciousnessStream:
        """The part of a citizen's memory that matters now, over all three levels."""
        return await self._ask("/v1/retrieve", collect_fields(intention, given))

    async def wake(
        self, state: StateBasedRetrieval | None = None, /, **given: Unpack[fields.WakeFields]
    ) -> ConsciousnessStream:
        """The part of a citizen's memory that fits its state: the given one, else the kept or derived one."""
        return await self._ask("/v1/wake", collect_fields(state, given))

    async def _ask(self, path: str, fields: dict[str, Any]) -> ConsciousnessStream:
        """The usual stream, in whichever form it is sent."""
        call = Call("POST", path, with_form(fields), repeatable=not fields.get("apply_feedback"))
        return as_stream((await self._request(StreamAnswer, call)).root)

    async def resonate(
        self, signal: Resonate | None = None, /, **given: Unpack[fields.ResonateFields]
    ) -> Resonances:
        """The memories that resonate with a signal, with the score of each channel."""
        return await self._request(Resonances, Call("POST", "/v1/resonate", collect_fields(signal, given)))

    async def associate(
        self, walk: TagWalk | None = None, /, **given: Unpack[fields.AssociateFields]
    ) -> Associations:
        """Memories that match the words of a question, and others that their tags and links lead to."""
        return await self._request(Associations, Call("POST", "/v1/associate", collect_fields(walk, given)))

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

    async def retract(self, command: Retract | None = None, /, **given: Unpack[fields.EndFields]) -> WriteReceipt:
        """The memory no longer holds from `effective_at` on; without `effective_at` it never held."""
        return await self._send_change("memories/retract", collect_command(command, given))

    async def resolve(
        self, command: Resolve | None = None, /, **given: Unpack[fields.ResolveFields]
    ) -> WriteReceipt:
        """Set the resolution state of a memory: resolved, unless another state is named."""
        return await self._send_change("memories/resolve", collect_command(command, given))

    async def undo(self, command: Undo | None = None, /, **given: Unpack[fields.UndoFields]) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        return await self._send_change("memories/undo", collect_command(command, given))

    async def get(self, memory_id: str, /, **where: Unpack[fields.RecordFields]) -> ConsciousnessNode:
        """The memory as it is now, or at `as_of_time` as known at `known_at`."""
        params = {**where, "id": memory_id}
        return await self._request(ConsciousnessNode, Call("GET", pop_path("memories", params), params=params))

    async def history(self, memory_id: str, /, **page: Unpack[fields.HistoryFields]) -> MemoryHistory:
        """All records of the memory in the order they became known; with `limit` or `cursor` one page."""
        params = {**page, "id": memory_id}
        call = Call("GET", f"{pop_path('memories', params)}/history", params=params)
        return await self._request_all_pages(MemoryHistory, call, "records")

    async def list_memories(self, /, **filters: Unpack[fields.MemoryListFields]) -> MemoryPage:
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
        self, command: Unrelate | None = None, /, **given: Unpack[fields.EndFields]
    ) -> WriteReceipt:
        """The link no longer holds from `effective_at` on; without `effective_at` it never held."""
        return await self._send_change("links/retract", collect_command(command, given))

    async def resolve_link(
        self, command: ResolveLink | None = None, /, **given: Unpack[fields.ResolveFields]
    ) -> WriteReceipt:
        """Set the resolution state of a link: resolved, unless another state is named."""
        return await self._send_change("links/resolve", collect_command(command, given))

    async def undo_link(
        self, command: UndoLink | None = None, /, **given: Unpack[fields.UndoFields]
    ) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        return await self._send_change("links/undo", collect_command(command, given))

    async def get_link(self, link_id: str, /, **where: Unpack[fields.RecordFields]) -> ConsciousnessRelationship:
        """The link as it is now, or at `as_of_time` as known at `known_at`."""
        params = {**where, "id": link_id}
        return await self._request(
            ConsciousnessRelationship, Call("GET", pop_path("links", params), params=params)
        )

    async def link_history(self, link_id: str, /, **page: Unpack[fields.HistoryFields]) -> LinkHistory:
        """All records of the link in the order they became known; with `limit` or `cursor` one page."""
        params = {**page, "id": link_id}
        call = Call("GET", f"{pop_path('links', params)}/history", params=params)
        return await self._request_all_pages(LinkHistory, call, "records")

    async def list_links(self, /, **filters: Unpack[fields.LinkListFields]) -> LinkPage:
        """One page of a graph, now or at a moment; `cursor` is the `next` of the page before."""
        return await self._request(LinkPage, Call("GET", "/v1/links", params=filters))

    async def apply(self, commands: Sequence[Command | ModelOrFields], *, atomic: bool = False) -> ReceiptList:
        """Apply up to 1000 commands in order; each is stored or refused on its own.

        A command sent as fields names its kind in `command`. With `atomic` all are stored or none: at most 100,
        for one graph.
        """
        params = {"atomic": "true"} if atomic else {}
        return await self._request(ReceiptList, Call("POST", "/v1/commands", collect_commands(commands), params))

    async def receipt(
        self,
        command_id: str,
        *,
        citizen_id: str | None = None,
        level: str | None = None,
        collective: str | None = None,
    ) -> WriteReceipt:
        """The receipt of an applied command. Raises NotFound if there is none: a refused command leaves none."""
        where = {"citizen_id": citizen_id, "level": level, "collective": collective}
        return await self._request(
            WriteReceipt, Call("GET", f"/v1/receipts/{quote_segment(command_id)}", params=where)
        )

    async def erase_memory(
        self, command: EraseMemory | None = None, /, **given: Unpack[fields.EraseMemoryFields]
    ) -> ErasureReport:
        """Remove the memory for good, from the past too. This cannot be undone."""
        body = collect_command(command, given)
        return await self._request(ErasureReport, Call("POST", f"{pop_path('memories', body)}/erase", body))

    async def erase_episode(
        self, command: EraseEpisode | None = None, /, **given: Unpack[fields.EraseEpisodeFields]
    ) -> ErasureReport:
        """Remove a conversation for good: its memories, its links, and the people whom only it knew."""
        body = collect_command(command, given)
        path = f"/v1/episodes/{quote_segment(body.pop('episode_id', None))}"
        return await self._request(ErasureReport, Call("DELETE", path, params=body))

    async def erase_citizen(
        self, command: EraseCitizen | None = None, /, **given: Unpack[fields.EraseCitizenFields]
    ) -> ErasureReport:
        """Remove the whole personal memory for good."""
        body = collect_command(command, given)
        path = f"/v1/citizens/{quote_segment(body.pop('citizen_id', None))}"
        return await self._request(ErasureReport, Call("DELETE", path, params=body))

    async def live(self) -> Alive:
        """Check that the process answers. Raises Unavailable at once when it does not."""
        return await self._request(Alive, Call("GET", "/health/live", repeatable=False))

    async def health(self) -> Ready:
        """Check that every request can be served. Raises Unavailable at once when not."""
        return await self._request(Ready, Call("GET", "/health/ready", repeatable=False))

    async def validate_link(self, link: Mapping[str, Any]) -> ValidationResult:
        """Errors, warnings and completeness of a link's metadata; stores nothing."""
        return await self._request(ValidationResult, Call("POST", "/v1/validation/link", dict(link)))

    async def sweep(
        self, request: SweepRequest | None = None, /, **given: Unpack[fields.SweepFields]
    ) -> SweepAnswer:
        """Check whole graphs and report their state; with `limit` one batch, and `next` for the following one."""
        return await self._request(SweepAnswer, Call("POST", "/v1/upkeep/sweep", collect_fields(request, given)))

    async def quality(self, /, **whose: Unpack[fields.QualityFields]) -> QualityAnswer:
        """What sweeps of each whole graph found, oldest first; `fallen_from` is set where the grade fell."""
        return await self._request(QualityAnswer, Call("GET", "/v1/upkeep/quality", params=whose))

    async def repair(
        self, request: RepairRequest | None = None, /, **given: Unpack[fields.RepairFields]
    ) -> RepairOutcome:
        """Run the repair task of a finding. `gone`: the record changed since, and nothing was done."""
        return await self._request(
            RepairOutcome, Call("POST", "/v1/upkeep/repair", collect_fields(request, given))
        )

    async def create_key(self, request: KeyRequest | None = None, /, **given: Unpack[fields.KeyFields]) -> NewKey:
        """Make a key. It is shown only once."""
        return await self._request(
            NewKey, Call("POST", "/v1/keys", collect_fields(request, given), repeatable=False)
        )

    async def list_keys(self) -> KeyList:
        """All keys, oldest first, including revoked and expired ones."""
        return await self._request(KeyList, Call("GET", "/v1/keys"))

    async def change_key(
        self, key_id: str, change: KeyChange | None = None, /, **given: Unpack[fields.KeyChangeFields]
    ) -> KeyInfo:
        """Change the highest source that the key may claim."""
        return await self._request(
            KeyInfo, Call("PATCH", f"/v1/keys/{quote_segment(key_id)}", collect_fields(change, given))
        )

    async def revoke_key(self, key_id: str) -> KeyInfo:
        """Revoke the key: it is refused from now on."""
        return await self._request(KeyInfo, Call("DELETE", f"/v1/keys/{quote_segment(key_id)}"))
