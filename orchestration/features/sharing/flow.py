"""Shares a memory with its links up a level, and brings its copy up to date."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import batched
from typing import Final, Literal, NamedTuple
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.features.sharing import copies
from orchestration.features.sharing import queries as store
from orchestration.features.sharing.copies import Copying
from orchestration.features.sharing.queries import LinkAt
from orchestration.features.sharing.values import Share, Shared
from orchestration.identifiers import copy_id
from orchestration.writing import atomic, changes
from orchestration.writing.changes import Refusal
from orchestration.writing.receipts import refuse
from schemas.commands import Remember, Writer, WriteReceipt
from schemas.errors import Conflict, NotAuthor, NotFound
from schemas.memory import Contest, GraphKey, Level, SharedFrom, graph_fields, level_of
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Scope
from substrate import bitemporal
from substrate.bitemporal import Record
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, transactions
from substrate.store.changesets import LinkEnds, RecordSelection
from substrate.store.derived import COPIES_AT_ONCE, read_copies

EVERY: Final = RecordSelection(BEGINNING_OF_TIME, every=True)
MOST_LEFT: Final = 20
"""Only this many links that were not copied are named."""


class _Flow(NamedTuple):
    """What the steps of a share have in common. `key`: of the graph from which it is shared."""

    request: Share
    key: GraphKey
    source: Graph
    target: Graph
    deps: Deps
    now: Instant


class _Done(NamedTuple):
    status: Literal["shared", "updated", "unchanged"]
    version: int | None


async def share(request: Share, writer: Writer, deps: Deps, now: Instant) -> Shared | WriteReceipt:
    """Copy a memory with its links to N2 or N3, in the name of the citizen.

    Shared again, the copy is brought up to date. The copy has the source of the original, or the highest that the
    key may claim, if that weighs less. What was retracted is refused.

    Raises NotFound for a memory that does not exist, Conflict for one that was retracted or does not hold now and
    for a command id of another command, NotAuthor for one that another wrote on a shared level.
    """
    source, target = graph_name(request.stands_in, request.citizen_id), graph_name(request.goes_to, None)
    flow = _Flow(request, request.stands_in, deps.graph(source), deps.graph(target), deps, now)
    original = await _read_original(flow, writer)
    copying = _copying(flow, original, writer)
    done = await _copy(flow, original, copying)
    if isinstance(done, WriteReceipt):
        return done
    links, left = await _copy_links(flow, copying) if request.with_links else ([], [])
    return Shared(
        command_id=copying.command_id,
        status=done.status,
        **graph_fields(copying.graph),
        id=copying.id,
        version=done.version,
        shared_from=copying.origin,
        links=tuple(links),
        left=tuple(left),
        contested=await _contests(flow, copying),
    )


async def _read_original(flow: _Flow, writer: Writer) -> Record:
    """The record that holds now. Raises NotFound, Conflict, NotAuthor."""
    request = flow.request
    missing = NotFound(f"there is no memory {request.id} in {flow.key}")
    if not await flow.deps.graphs.for_reading(flow.source.name):
        raise missing
    stored = (await transactions.read_memories(flow.source, {request.id: EVERY})).get(request.id)
    if stored is None:
        raise missing
    open_records = bitemporal.open_records(stored.records)
    if not open_records:
        raise Conflict(f"{request.id} was retracted", remedy="Undo the retraction, or share another memory.")
    record = bitemporal.held_at(open_records, flow.now)
    if not record.valid.start <= flow.now < record.valid.end:
        raise Conflict(f"{request.id} does not hold now", remedy="Only what holds now can be shared.")
    author = record.content.get("author")
    if not changes.may_change_as(writer, author, level_of(flow.key)):
        raise NotAuthor(changes.author_fault(request.id, author, writer))
    return record


def _copying(flow: _Flow, original: Record, writer: Writer) -> Copying:
    request = flow.request
    origin = SharedFrom(
        **graph_fields(flow.key),
        citizen_id=request.citizen_id if request.from_level is Level.N1 else None,
        id=original.id,
        version=original.version,
    )
    command_id = request.command_id or uuid4().hex
    return Copying(
        request.goes_to, request.citizen_id, copy_id(flow.source.name, original.id), command_id, writer, origin
    )


async def _copy(flow: _Flow, original: Record, copying: Copying) -> _Done | WriteReceipt:
    """Write or update the copy; the receipt of a command that was refused."""
    stored: tuple[Record, ...] = ()
    if await flow.deps.graphs.for_reading(flow.target.name):
        read = (await transactions.read_memories(flow.target, {copying.id: EVERY})).get(copying.id)
        stored = () if read is None else read.records
        kept = (await reader.receipts(flow.target, [copying.command_id])).get(copying.command_id)
        if kept is not None and kept.id != copying.id:
            raise Conflict("this command_id was used for another command", remedy="Choose another command_id.")
        if kept is not None:
            return _Done("unchanged", kept.version)
    try:
        command = copies.write_copy(original, stored, copying, flow.now)
    except Refusal as refusal:
        asked = Remember(**graph_fields(copying.graph), id=copying.id, name=original.content["name"])
        return refuse(asked, refusal, command_id=copying.command_id, record_id=copying.id)
    if command is None:
        return _Done("unchanged", bitemporal.held_at(bitemporal.open_records(stored), flow.now).version)
    receipt = await atomic.apply_one(command, flow.deps, flow.now)
    if receipt.status == "refused":
        return receipt
    return _Done("shared" if isinstance(command, Remember) else "updated", receipt.version)


async def _copy_links(flow: _Flow, copying: Copying) -> tuple[list[str], list[str]]:
    """The ids of the links copied now, and a line on each that was refused.

    A link is copied when both its ends have a copy by this citizen there; the other end may be shared later, and
    brings the link then.
    """
    found = await store.read_links_at(flow.source, flow.request.id, Scope.current(flow.now))
    ids = await _copies_of_ends(flow, copying, found)
    between = [link for link in found if set(link.ends) <= ids.keys()]
    receipts = []
    for link in between:
        ends = LinkEnds(ids[link.ends.source_id], ids[link.ends.target_id])
        command = copies.copy_link(link.record, link.ends, ends, copying, graph=flow.source.name)
        receipts.append(await atomic.apply_one(command, flow.deps, flow.now))
    copied = [str(receipt.id) for receipt in receipts if receipt.status == "stored" and not receipt.duplicate]
    refused = [receipt for receipt in receipts if receipt.status == "refused"]
    return copied, [f"{receipt.id}: {'; '.join(receipt.faults)}" for receipt in refused[:MOST_LEFT]]


async def _copies_of_ends(flow: _Flow, copying: Copying, found: Sequence[LinkAt]) -> dict[str, str]:
    """The ids of the copies that hold there, by the id of their original at an end of the links."""
    by_copy = {copy_id(flow.source.name, end): end for link in found for end in link.ends}
    held: dict[str, str] = {}
    for some in batched(by_copy, COPIES_AT_ONCE):
        for copy in await read_copies(flow.target, some):
            if copy.author == copying.citizen_id and copy.expired_at == END_OF_TIME:
                held[by_copy[copy.id]] = copy.id
    return held


async def _contests(flow: _Flow, copying: Copying) -> tuple[Contest, ...]:
    """Who contests the copy, and on a shared level the original."""
    scope = Scope.current(flow.now)
    contests = (await store.read_contests(flow.target, [copying.id], scope)).get(copying.id, ())
    if flow.request.from_level is Level.N1:
        return contests
    return (
        *(await store.read_contests(flow.source, [flow.request.id], scope)).get(flow.request.id, ()),
        *contests,
    )
