"""The feed of a graph: what changed after a cursor, at once or as soon as something does.

It is a read of what the graph holds: see `substrate.store.applied`. A cursor is a place in one past of the graph.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from schemas.commands import KINDS
from schemas.errors import Conflict, InvalidRequest, NotFound
from schemas.memory import Level, Source, graph_fields
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import open_end, to_datetime
from schemas.upkeep.applied_changes import AppliedChange, ChangePage, ChangesRequest
from substrate.connection.pool import Connection
from substrate.graphs.graph import Graph
from substrate.store import applied as store
from substrate.store import transactions
from substrate.store.applied import Applied, ChangedRecord, FeedState, Place

FROM_NOW: Final = "now"
INGEST: Final = "ingest"
LOOKS_EVERY_S: Final = 0.2
"""Who waits learns of a change about so much later, whichever process wrote it."""
OTHER_PAST: Final = (
    "after: is of another past of this graph, which was restored, imported or made anew since, or of another store"
)
REMEDY: Final = "Begin again without `after`, or with `now`, and read anew what you keep of this graph."


async def list_changes(query: ChangesRequest, deps: Deps) -> ChangePage:
    """The commands that were applied to a graph after a cursor, in the order in which they were applied.

    Nothing is left out between two pages, also after a restart: go on with `next`. After a restore, or with the
    cursor of another store, the answer is 409: the graph has another past then. With `wait` the answer comes as
    soon as something changes.

    Raises NotFound for a graph that is not there, InvalidRequest for a text that is no cursor or no command.
    """
    known = {*KINDS, INGEST, *deps.features.tells}
    if unknown := sorted(set(query.commands) - known):
        raise InvalidRequest(f"commands: {unknown[0]!r} is none", remedy=f"There are {', '.join(sorted(known))}.")
    graph = await deps.existing_graph(query.graph_key, query.citizen_id)
    state = await _state(graph)
    place, erased_at = _begin(query.after, state)
    until = time.monotonic() + query.wait
    while True:
        applied, more = await store.read_applied(graph, place, state.clock, query.limit)
        records = await _read_records(graph, applied)
        # Only who has the whole page knows what it says of erasures.
        changes = [
            _change(one, records, query, encode_cursor(state.epoch, erased_at, *one.place)) for one in applied
        ]
        passing = tuple(filter(query.passes, changes))
        place = applied[-1].place if applied else place
        erased = state.erased_at != erased_at
        left = until - time.monotonic()
        if passing or more or erased or left <= 0:
            behind = encode_cursor(state.epoch, state.erased_at, *place)
            return ChangePage(changes=passing, next=behind, more=more, erased=erased, epoch=state.epoch)
        before, state = state, await _changed_state(graph, state, left)
        if state.epoch != before.epoch:
            raise Conflict(OTHER_PAST, remedy=REMEDY)


async def _read_records(graph: Graph, applied: Sequence[Applied]) -> dict[tuple[str, int], ChangedRecord]:
    """What the records of these commands say of themselves, by id and version; nothing of what was erased."""
    named = [(one.id, one.version or 0) for one in applied if one.id is not None and one.type is None]
    found = await store.read_changed(graph, named)
    others = {record_id for record_id, _ in named} - {memory_id for memory_id, _ in found}
    for link_id, stored in (await transactions.read_links(graph, list(map(link_name, sorted(others))))).items():
        for record in stored.records:
            of = record.content
            found[link_id, record.version] = ChangedRecord(
                True, str(of.get("relation_type")), None, of.get("source"), of.get("author"), record.closed_by,
                record.closed_source,
            )  # fmt: skip
    return found


async def _state(graph: Graph) -> FeedState:
    state = await store.read_state(graph)
    if state is None:
        raise NotFound("nothing is remembered there any more")
    return state


def _begin(after: str | None, state: FeedState) -> tuple[Place, int]:
    """The place after which to read, and when something was erased last there. Raises InvalidRequest, Conflict."""
    if after is None:
        return Place(), state.erased_at
    if after == FROM_NOW:
        return state.end, state.erased_at
    epoch, erased_at, *place = decode_cursor(after, int, int, int, int, str)
    if epoch != state.epoch:
        raise Conflict(OTHER_PAST, remedy=REMEDY)
    if tuple(place) > state.end or erased_at > state.erased_at:
        raise Conflict("after: lies in the future of this graph, which was set back, or never was", remedy=REMEDY)
    return Place(*place), erased_at


def _change(
    applied: Applied, records: dict[tuple[str, int], ChangedRecord], query: ChangesRequest, cursor: str
) -> AppliedChange:
    record = records.get((applied.id or "", applied.version or 0))
    source = Source.INGESTION if applied.command == INGEST else None
    if record is not None:
        told = record.closed_source if record.closed_by == applied.place.command_id else record.source
        source = None if told is None else Source(told)
    return AppliedChange(
        cursor=cursor,
        command_id=applied.place.command_id,
        command=applied.command,
        known_at=to_datetime(applied.place.at if applied.told_at is None else applied.told_at),
        **graph_fields(query.graph_key),
        citizen_id=query.citizen_id if query.level is Level.N1 else None,
        subject=None if record is None else "link" if record.is_link else "memory",
        id=applied.id,
        version=applied.version,
        type=applied.type if record is None else record.type,
        of=applied.of,
        name=None if record is None else record.name,
        source=source,
        author=None if record is None else record.author,
        valid_at=None if applied.valid_at is None else to_datetime(applied.valid_at),
        invalid_at=None if applied.invalid_at is None else open_end(applied.invalid_at),
        part=applied.part,
    )


_LOOKS: Final[WeakKeyDictionary[Connection, dict[str, asyncio.Task[FeedState]]]] = WeakKeyDictionary()
"""The next look at each graph for whose changes somebody waits."""


async def _changed_state(graph: Graph, seen: FeedState, seconds: float) -> FeedState:
    """The state of the graph once it is another one than `seen`, at the latest after so many seconds.

    Raises NotFound when the graph is gone, and as `Graph.read` does.
    """
    looks = _LOOKS.setdefault(graph.connection, {})
    until = time.monotonic() + seconds
    state = seen
    while state == seen and (left := until - time.monotonic()) > 0:
        look = looks.get(graph.name)
        if look is None or look.done():
            look = looks[graph.name] = asyncio.create_task(_look_soon(graph))
            look.add_done_callback(partial(_forget, looks, graph.name))
        await asyncio.wait((look,), timeout=left)
        state = look.result() if look.done() else state
    return state


async def _look_soon(graph: Graph) -> FeedState:
    await asyncio.sleep(LOOKS_EVERY_S)
    return await _state(graph)


def _forget(looks: dict[str, asyncio.Task[FeedState]], name: str, look: asyncio.Task[FeedState]) -> None:
    if looks.get(name) is look:
        del looks[name]
    if not look.cancelled():
        look.exception()  # perhaps nobody waits for it any more
