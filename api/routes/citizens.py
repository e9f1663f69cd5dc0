"""Citizens and collectives: their lists, the state of a citizen, export and erasure of a whole graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Final

from fastapi import Path
from fastapi.responses import StreamingResponse
from pydantic import Field

from api.dependencies import Now, OpenRuntime, ServiceTraffic
from api.request_parsing.erasures import CitizenErasureRequest, ErasureRequest, erase_and_report
from api.request_parsing.reading import add_notes
from api.request_parsing.writes import SingleWrite
from api.runtime.runtime import Runtime
from api.security.permissions import CurrentCaller
from api.security.rate_limits import ReservedExport, stream_blocks
from orchestration.mind import state as citizen
from orchestration.transfer.exporter import export
from orchestration.writing.quotas import read_used
from schemas.base import CitizenId, Request
from schemas.collectives import CollectiveId, CollectivePage
from schemas.commands import EraseCitizen, EraseCollective, ErasureReport
from schemas.intention import AsOf
from schemas.memory import Level, collective_of, graph_key
from schemas.mind.state import CitizenPage, CitizenState, CitizenUsage, StateChange
from schemas.operation import ERASES, AsCitizen, May, Method, Need, Operation, citizen_may, group
from schemas.paging import Paged, decode_cursor, first_page
from schemas.temporal import KnownMoment, to_instant
from substrate.graphs.names import GraphOf, graph_name


class ExportRequest(Request):
    """Options of an export: with or without vectors, and as known at `known_at` (default: all that is known)."""

    embeddings: bool = Field(default=False, description="Include the vectors; otherwise an import computes them.")
    known_at: KnownMoment | None = None


async def list_citizens(query: Paged, caller: CurrentCaller, runtime: OpenRuntime) -> CitizenPage:
    """The citizens of whom something is stored and whom the key may read, a page at a time."""
    names, after = _page(await runtime.deps.graphs.citizens(), caller.may_read, query)
    return CitizenPage(citizens=tuple(names), next=after)


def _page(names: Iterable[str], may_read: Callable[[str], bool], query: Paged) -> tuple[Sequence[str], str | None]:
    """The next of the sorted names that may be read, and the cursor of the page after them."""
    begun = "" if query.cursor is None else decode_cursor(query.cursor, str)[0]
    rest = [name for name in names if name > begun and may_read(name)]
    return first_page(rest, query.limit, lambda name: (name,))


async def state(citizen_id: CitizenId, query: AsOf, runtime: OpenRuntime, now: Now) -> CitizenState:
    """The energy, emotions and goal of a citizen, now or at a moment.

    What nobody set is derived from the memories of the days before: then `derived` is true and `sources` names
    them. `Substrate-Notes` lists what was assumed.
    """
    return await citizen.felt_state(citizen_id, runtime.deps, query.scope(now), now)


async def usage(citizen_id: CitizenId, runtime: OpenRuntime, traffic: ServiceTraffic) -> CitizenUsage:
    """How much a citizen has: memories, links, bytes and requests, with its quotas."""
    used = await read_used(citizen_id, runtime.deps)
    return CitizenUsage(
        citizen_id=citizen_id,
        **used._asdict(),
        requests=traffic.answered[graph_name(Level.N1, citizen_id)],
        most_memories=runtime.deps.most_memories,
        most_bytes=runtime.deps.most_bytes,
    )


async def set_state(
    citizen_id: CitizenId,
    change: StateChange,
    *,
    caller: CurrentCaller,
    runtime: OpenRuntime,
    now: Now,
) -> CitizenState:
    """Set the given fields, from `valid_at` (default: now) on; the others stay. The past does not change.

    `writers` says whose word each field is. A key whose highest source is less than `citizen` needs a scope of its
    own.

    `Substrate-Notes` lists what was assumed.
    """
    key_id = caller.writer_of(Level.N1, citizen_id).key_id
    return await citizen.change_state(citizen_id, change, runtime.deps, now, key_id=key_id)


async def export_memory(
    citizen_id: CitizenId, query: ExportRequest, runtime: OpenRuntime, reserved: ReservedExport
) -> StreamingResponse:
    """The whole personal memory as lines of JSON, every record on both time axes (`docs/backup.md`).

    A key may run one export at a time: a second one is refused with 429 and `Retry-After`.
    `Substrate-Notes` lists what was assumed.
    """
    return await answer_export(GraphOf(Level.N1, citizen_id), query, runtime, reserved)


async def answer_export(
    origin: GraphOf, query: ExportRequest, runtime: Runtime, reserved: ReservedExport
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


async def erase_citizen(
    citizen_id: CitizenId, query: CitizenErasureRequest, writing: SingleWrite
) -> ErasureReport:
    """Remove the whole personal memory for good. What the citizen gave to N2 and N3 stays there.

    The copies that it shared are named in the report; `with_copies` takes them along.
    """
    return await erase_and_report({**query.model_dump(), "citizen_id": citizen_id}, EraseCitizen, writing)


READS: Final = citizen_may("read")
SETS_STATE: Final = May(
    "citizen:ID:state; of a key for the source citizen :write",
    lambda asked: [AsCitizen(asked.path["citizen_id"])],
    of_path=True,
    source="source",
)


CollectiveInPath = Annotated[CollectiveId, Path(description="The id of a collective beside the default one.")]


async def list_collectives(query: Paged, caller: CurrentCaller, runtime: OpenRuntime) -> CollectivePage:
    """The collectives in which something is stored and which the key may read, a page at a time."""
    stored = await runtime.deps.graphs.collectives()
    names, after = _page(stored, lambda name: caller.may_read_graph(graph_key(Level.N2, name)), query)
    return CollectivePage(collectives=tuple(names), next=after)


async def export_collective(
    collective: CollectiveInPath,
    query: ExportRequest,
    runtime: OpenRuntime,
    reserved: ReservedExport,
) -> StreamingResponse:
    """The whole collective as lines of JSON, every record on both time axes (`docs/backup.md`).

    A key may run one export at a time: a second one is refused with 429 and `Retry-After`.
    `Substrate-Notes` lists what was assumed.
    """
    return await answer_export(GraphOf(graph_key(Level.N2, collective), None), query, runtime, reserved)


async def erase_collective(
    collective: CollectiveInPath, query: ErasureRequest, writing: SingleWrite
) -> ErasureReport:
    """Remove the whole collective for good, with all that anybody wrote there. Needs a steward of it."""
    return await erase_and_report({**query.model_dump(), "collective": collective}, EraseCollective, writing)


READS_COLLECTIVE: Final = May(
    "collective:ID:read",
    lambda asked: [Need("read", None, graph_key(Level.N2, asked.path["collective"]))],
    of_path=True,
)
OPERATIONS: Final = (
    *group(
        "citizens",
    Operation("list_citizens", "GET /v1/citizens", "List citizens",
              May("any key; it sees only the citizens that it may read"), list_citizens,
              call=Method(says="One page of the citizens that the key may read; `cursor` is the `next` of the "
                               "page before.")),
    Operation("get_state", "GET /v1/citizens/{citizen_id}/state", "Read the state of a citizen", READS, state,
              notes=True,
              call=Method("state", "The energy, emotions, goal and drives of the citizen, now or at `as_of_time` "
                          "as known at `known_at`.")),
    Operation("get_usage", "GET /v1/citizens/{citizen_id}/usage", "Read how much a citizen has", READS, usage,
              call=Method("usage", "The memories, links, bytes and requests of the citizen, with its quotas.")),
    Operation("get_state_history", "GET /v1/citizens/{citizen_id}/state/history", "Read all states of a citizen",
              READS, citizen.state_history,
              call=Method("state_history", "One page of the records of the state; `cursor` is the `next` of the "
                          "page before.")),
    Operation("get_energy", "GET /v1/citizens/{citizen_id}/energy", "Read the energy of a citizen over time",
              READS, citizen.energy_series,
              call=Method("energy", "The energy now, and one page of what set it; `cursor` is the `next` of the "
                          "page before.")),
    Operation("set_state", "PUT /v1/citizens/{citizen_id}/state", "Set the state of a citizen",
              SETS_STATE, set_state, notes=True,
              call=Method(says="Set the fields given, from `valid_at` or now on; the others stay.")),
    Operation("export_citizen", "GET /v1/citizens/{citizen_id}/export", "Export a citizen's memory",
              READS, export_memory, sent=StreamingResponse),
    Operation("erase_citizen", "DELETE /v1/citizens/{citizen_id}", "Erase a citizen's memory for good",
              ERASES, erase_citizen,
              call=Method(says="Remove the whole personal memory for good.", takes=EraseCitizen)),
    ),
    *group(
        "collectives",
    Operation("list_collectives", "GET /v1/collectives", "List collectives",
              May("any key; it sees only the collectives that it may read"), list_collectives,
              call=Method(says="One page of the collectives that the key may read; `cursor` is the `next` of the "
                               "page before.")),
    Operation("export_collective", "GET /v1/collectives/{collective}/export", "Export a collective",
              READS_COLLECTIVE, export_collective, sent=StreamingResponse),
    Operation("erase_collective", "DELETE /v1/collectives/{collective}", "Erase a collective",
              ERASES._replace(says="collective:ID:steward"), erase_collective,
              call=Method(says="Remove a whole collective for good, with all that anybody wrote there.")),
    ),
)  # fmt: skip
