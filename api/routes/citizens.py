"""Citizens: their list, their state, what they learned, their identity, feedback, export and erasure."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from api.dependencies import Now, OpenRuntime
from api.request_parsing.addresses import add_notes
from api.request_parsing.erasures import CitizenErasureRequest, erase_and_report
from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import SingleWrite
from api.runtime.runtime import Runtime
from api.security.exports import ReservedExport, stream_blocks
from api.security.mind_permissions import FEEDBACK, STATE
from api.security.permissions import CITIZENS, ERASURE, CurrentCaller, citizen_may, requires
from orchestration.features.feedback import kept as told_feedback
from orchestration.features.feedback.flow import tell
from orchestration.features.identity.flow import read_identity, read_identity_diff
from orchestration.features.identity.learning import learning_page
from orchestration.features.identity.values import (
    AsOf,
    Between,
    Identity,
    IdentityDiff,
    LearningMoments,
    LearningPage,
    WhoIs,
)
from orchestration.features.mirror.layout import MirrorOf
from orchestration.features.mirror.writer import stream_tar, take_snapshot
from orchestration.mind import state as citizen
from orchestration.transfer.exporter import export
from orchestration.transfer.line_format import Origin
from schemas.base import CitizenId, Identifier, Request
from schemas.commands import EraseCitizen, ErasureReport
from schemas.memory import Level, collective_of
from schemas.mind.feedback import Feedback, FeedbackPage, FeedbackRecord, FeedbackTakenBack
from schemas.mind.state import CitizenPage, CitizenState, EnergySeries, StateAsOf, StateChange, StateHistory
from schemas.paging import Paged, decode_cursor, encode_cursor
from schemas.temporal import Instant, KnownMoment, Scope, to_instant


class ExportRequest(Request):
    """Options of an export: with or without vectors, and as known at `known_at` (default: all that is known)."""

    embeddings: bool = Field(default=False, description="Include the vectors; otherwise an import computes them.")
    known_at: KnownMoment | None = None


router = APIRouter(prefix="/v1/citizens", tags=["citizens"], route_class=StrictRoute)


@router.get("", operation_id="list_citizens")
@requires(CITIZENS)
async def listed(query: Annotated[Paged, Query()], caller: CurrentCaller, runtime: OpenRuntime) -> CitizenPage:
    """The citizens of whom something is stored and whom the key may read, a page at a time."""
    after = "" if query.cursor is None else decode_cursor(query.cursor, str)[0]
    citizens = [name for name in await runtime.deps.graphs.citizens() if name > after and caller.may_read(name)]
    shown = citizens[: query.limit]
    return CitizenPage(
        citizens=tuple(shown), next=encode_cursor(shown[-1]) if len(citizens) > len(shown) else None
    )


@router.get("/{citizen_id}/state", operation_id="get_state")
@requires(citizen_may("read"))
async def state(
    citizen_id: CitizenId, query: Annotated[StateAsOf, Query()], runtime: OpenRuntime, now: Now, response: Response
) -> CitizenState:
    """The energy, emotions and goal of a citizen, now or at a moment.

    What nobody set is derived from the memories of the days before: then `derived` is true and `sources` names
    them. `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, query)
    scope = Scope.resolve_datetimes(query.as_of_time, query.known_at, now)
    return await citizen.felt_state(citizen_id, runtime.deps, scope, now)


@router.get("/{citizen_id}/state/history", operation_id="get_state_history")
@requires(citizen_may("read"))
async def state_history(
    citizen_id: CitizenId, query: Annotated[Paged, Query()], runtime: OpenRuntime
) -> StateHistory:
    """All records of the state, a page at a time, each with its valid time and its transaction time."""
    return await citizen.state_history(citizen_id, query, runtime.deps)


@router.get("/{citizen_id}/energy", operation_id="get_energy")
@requires(citizen_may("read"))
async def energy(
    citizen_id: CitizenId, query: Annotated[Paged, Query()], runtime: OpenRuntime, now: Now
) -> EnergySeries:
    """The energy now, the ordinary one to which it returns, and a page of what set it: the citizen or a stream."""
    return await citizen.energy_series(citizen_id, query, runtime.deps, now)


@router.put("/{citizen_id}/state", operation_id="set_state")
@requires(STATE)
async def set_state(
    citizen_id: CitizenId,
    change: StateChange,
    caller: CurrentCaller,
    runtime: OpenRuntime,
    now: Now,
    response: Response,
) -> CitizenState:
    """Set the given fields, from `valid_at` (default: now) on; the others stay. The past does not change.

    `writers` says whose word each field is. A key whose highest source is less than `citizen` needs a scope of its
    own.

    `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, change)
    key_id = caller.writer_of(Level.N1, citizen_id).key_id
    return await citizen.change_state(citizen_id, caller.limit_source(change), runtime.deps, now, key_id=key_id)


@router.get("/{citizen_id}/dissonances", operation_id="list_dissonances")
@requires(citizen_may("read"))
async def dissonances(
    citizen_id: CitizenId,
    query: Annotated[LearningPage, Query()],
    runtime: OpenRuntime,
    now: Now,
    response: Response,
) -> LearningMoments:
    """The beliefs that changed, a page at a time, and how often each correction pattern recurs among them.

    `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, query)
    return await learning_page(citizen_id, query, runtime.deps, now)


@router.get("/{citizen_id}/export", response_class=StreamingResponse, operation_id="export_citizen")
@requires(citizen_may("read"))
async def export_memory(
    citizen_id: CitizenId, query: Annotated[ExportRequest, Query()], runtime: OpenRuntime, reserved: ReservedExport
) -> StreamingResponse:
    """The whole personal memory as lines of JSON, every record on both time axes (`docs/export.md`).

    A key may run one export at a time: a second one is refused with 429 and `Retry-After`.
    `Substrate-Notes` lists what was assumed.
    """
    return await answer_export(Origin(Level.N1, citizen_id), query, runtime, reserved)


async def answer_export(
    origin: Origin, query: ExportRequest, runtime: Runtime, reserved: ReservedExport
) -> StreamingResponse:
    """The lines of one graph, as a file to save."""
    known_at = None if query.known_at is None else to_instant(query.known_at)
    lines = await export([origin], runtime.deps, embeddings=query.embeddings, known_at=known_at)
    reserved.callback(lines.close)
    name = f'attachment; filename="{origin.citizen_id or collective_of(origin.key)}.jsonl"'
    response = StreamingResponse(
        stream_blocks(lines), media_type="application/x-ndjson", headers={"Content-Disposition": name}
    )
    add_notes(response, query)
    return response


@router.get("/{citizen_id}/mirror", response_class=StreamingResponse, operation_id="mirror_citizen")
@requires(citizen_may("read"))
async def mirror_memory(
    citizen_id: CitizenId, runtime: OpenRuntime, now: Now, reserved: ReservedExport
) -> StreamingResponse:
    """The personal memory as it is now, as a tar of Markdown files (`docs/mirror.md`).

    A key may run one export or mirror at a time: a second one is refused with 429 and `Retry-After`.
    """
    return await answer_mirror(MirrorOf(Level.N1, citizen_id), runtime, now)


async def answer_mirror(of: MirrorOf, runtime: Runtime, now: Instant) -> StreamingResponse:
    """The mirror of a graph as a tar. Raises NotFound where nothing is stored."""
    blocks = stream_tar(await take_snapshot(of, runtime.deps, now))
    name = f'attachment; filename="{of.folder}.tar"'
    return StreamingResponse(blocks, media_type="application/x-tar", headers={"Content-Disposition": name})


@router.delete("/{citizen_id}", operation_id="erase_citizen")
@requires(ERASURE)
async def erase_citizen(
    citizen_id: CitizenId, query: Annotated[CitizenErasureRequest, Query()], writing: SingleWrite
) -> ErasureReport:
    """Remove the whole personal memory for good. What the citizen gave to N2 and N3 stays there.

    The copies that it shared are named in the report; `with_copies` takes them along.
    """
    return await erase_and_report({**query.model_dump(), "citizen_id": citizen_id}, EraseCitizen, writing)


@router.get("/{citizen_id}/identity", operation_id="get_identity")
@requires(citizen_may("read"))
async def who(citizen_id: CitizenId, query: Annotated[AsOf, Query()], runtime: OpenRuntime, now: Now) -> Identity:
    """The most connected entities of a citizen's memories, their emotions, and the rules attached (000)."""
    whose = WhoIs(citizen_id=citizen_id, **query.model_dump())
    for note in query.notes:  # times in the dump have a zone, so that validating it makes no notes
        whose = whose.with_note(note)
    return await read_identity(whose, runtime.deps, now)


@router.get("/{citizen_id}/identity/diff", operation_id="compare_identity")
@requires(citizen_may("read"))
async def changed(
    citizen_id: CitizenId, query: Annotated[Between, Query()], runtime: OpenRuntime, now: Now
) -> IdentityDiff:
    """What changed in a citizen between `from` and `to`: name, role, people, attachments, values, temperament."""
    return await read_identity_diff(citizen_id, query, runtime.deps, now)


FeedbackInPath = Annotated[
    Identifier, Path(description="The id of the feedback; percent-encode special characters.")
]


@router.post("/{citizen_id}/feedback", status_code=201, operation_id="tell_feedback")
@requires(FEEDBACK)
async def tell_feedback(
    citizen_id: CitizenId, told: Feedback, runtime: OpenRuntime, now: Now, response: Response
) -> FeedbackRecord:
    """Say which memories answered a question, and which did not: later questions like it go by that.

    The 200 latest of a citizen are kept. `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, told)
    return await tell(citizen_id, told, runtime.deps, now)


@router.get("/{citizen_id}/feedback", operation_id="list_feedback")
@requires(citizen_may("read"))
async def feedback(citizen_id: CitizenId, query: Annotated[Paged, Query()], runtime: OpenRuntime) -> FeedbackPage:
    """What the citizen told, a page at a time, oldest first, and what all of it does to its questions now."""
    return await told_feedback.list_feedback(citizen_id, query, runtime.deps)


@router.delete("/{citizen_id}/feedback/{feedback_id:path}", operation_id="take_back_feedback")
@requires(citizen_may("write"))
async def take_back_feedback(
    citizen_id: CitizenId, feedback_id: FeedbackInPath, runtime: OpenRuntime, now: Now
) -> FeedbackTakenBack:
    """Take one feedback back: from now on it is as if it had never been told."""
    return await told_feedback.take_back(citizen_id, [feedback_id], runtime.deps, now)


@router.delete("/{citizen_id}/feedback", operation_id="take_back_all_feedback")
@requires(citizen_may("write"))
async def take_back_all_feedback(citizen_id: CitizenId, runtime: OpenRuntime, now: Now) -> FeedbackTakenBack:
    """Take all feedback of the citizen back: from now on it is as if none had ever been told."""
    return await told_feedback.take_back(citizen_id, None, runtime.deps, now)
