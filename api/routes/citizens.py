"""A citizen's own state, and its learning moments."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from api.dependencies import Now, Opened
from api.request_parsing.addresses import noted
from api.request_parsing.erasures import OfCommand, erase_said
from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import Write
from api.security.exports import OneExport, in_blocks
from api.security.permissions import ERASURES, citizen_may, needs
from orchestration.mind import state as citizen
from orchestration.mind.identity import identity
from orchestration.mind.learning import learning_page
from orchestration.transfer.exporter import export
from orchestration.transfer.line_format import Origin
from schemas.base import CitizenId, Request
from schemas.citizen import (
    CitizenState,
    LearningMoments,
    OfLearning,
    StateAsOf,
    StateChange,
    StateHistory,
)
from schemas.commands import EraseCitizen, ErasureReport
from schemas.identity import AsOf, Identity, WhoIs
from schemas.memory import Level
from schemas.paging import Paged
from schemas.temporal import Moment, Scope, to_instant


class Exported(Request):
    """What an export holds: with the vectors or without, and as it was known at `known_at` or as it is."""

    embeddings: bool = Field(default=False, description="With the vectors; otherwise an import makes them anew.")
    known_at: Moment | None = None


router = APIRouter(prefix="/v1/citizens", tags=["citizens"], route_class=StrictRoute)


@router.get("/{citizen_id}/state", operation_id="get_state")
@needs(citizen_may("read"))
async def state(
    citizen_id: CitizenId, asked: Annotated[StateAsOf, Query()], runtime: Opened, now: Now, response: Response
) -> CitizenState:
    """What the citizen feels and wants, or felt and wanted then. `Substrate-Notes` says what was assumed."""
    noted(response, asked)
    scope = Scope.at_times(asked.as_of_time, asked.known_at, now)
    return await citizen.read_state(citizen_id, runtime.deps, scope)


@router.get("/{citizen_id}/state/history", operation_id="get_state_history")
@needs(citizen_may("read"))
async def state_history(citizen_id: CitizenId, asked: Annotated[Paged, Query()], runtime: Opened) -> StateHistory:
    """All records of the state, a page at a time: over which time each held, and over which it was known."""
    return await citizen.state_history(citizen_id, asked, runtime.deps)


@router.put("/{citizen_id}/state", operation_id="set_state")
@needs(citizen_may("write"))
async def set_state(
    citizen_id: CitizenId, change: StateChange, runtime: Opened, now: Now, response: Response
) -> CitizenState:
    """Set what is given, from `valid_at` on or from now; what is left out stays. The past keeps what it was.

    `Substrate-Notes` says what was assumed.
    """
    noted(response, change)
    return await citizen.change_state(citizen_id, change, runtime.deps, now)


@router.get("/{citizen_id}/dissonances", operation_id="list_dissonances")
@needs(citizen_may("read"))
async def dissonances(
    citizen_id: CitizenId, asked: Annotated[OfLearning, Query()], runtime: Opened, now: Now, response: Response
) -> LearningMoments:
    """The beliefs that changed, a page at a time, and how often each correction pattern recurs among them.

    `Substrate-Notes` says what was assumed.
    """
    noted(response, asked)
    return await learning_page(citizen_id, asked, runtime.deps, now)


@router.get("/{citizen_id}/export", response_class=StreamingResponse, operation_id="export_citizen")
@needs(citizen_may("read"))
async def export_memory(
    citizen_id: CitizenId, asked: Annotated[Exported, Query()], runtime: Opened, held: OneExport
) -> StreamingResponse:
    """The whole personal memory as lines of JSON, every record on both time axes (`docs/export.md`).

    A key has one export at a time: another one is refused with 429 and `Retry-After`. `Substrate-Notes` says what
    was assumed.
    """
    known_at = None if asked.known_at is None else to_instant(asked.known_at)
    origin = Origin(Level.N1, citizen_id)
    lines = await export([origin], runtime.deps, embeddings=asked.embeddings, known_at=known_at)
    held.callback(lines.close)
    name = f'attachment; filename="{citizen_id}.jsonl"'
    answer = StreamingResponse(
        in_blocks(lines), media_type="application/x-ndjson", headers={"Content-Disposition": name}
    )
    noted(answer, asked)
    return answer


@router.delete("/{citizen_id}", operation_id="erase_citizen")
@needs(ERASURES)
async def erase_citizen(citizen_id: CitizenId, of: Annotated[OfCommand, Query()], writing: Write) -> ErasureReport:
    """Remove the whole personal memory for good. What the citizen gave to N2 and N3 stays there."""
    return await erase_said({**of.model_dump(), "citizen_id": citizen_id}, EraseCitizen, writing)


@router.get("/{citizen_id}/identity", operation_id="get_identity")
@needs(citizen_may("read"))
async def who(citizen_id: CitizenId, asked: Annotated[AsOf, Query()], runtime: Opened, now: Now) -> Identity:
    """The most connected entities of what was lived, how it felt, and the rules attached (000)."""
    whose = WhoIs(citizen_id=citizen_id, **asked.model_dump())
    for note in asked.notes:  # the dump has zones, and would need none
        whose = whose.noting(note)
    return await identity(whose, runtime.deps, now)
