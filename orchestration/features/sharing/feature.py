"""Shares a memory with its links up a level, and contests what another shared.

A contest is a statement, which is a memory of the contester in the same graph, and a link CONTESTS from it.
Both are ordinary records: they have an author, a history, and can be corrected and undone as all others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import blake2b
from itertools import batched
from typing import Any, Final, Literal, NamedTuple
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.sharing import copies
from orchestration.features.sharing import queries as store
from orchestration.features.sharing.copies import Copying, origin_of
from orchestration.features.sharing.values import (
    Agreement,
    Contested,
    ContestedPage,
    ContestedQuery,
    ContestRequest,
    Share,
    Shared,
    Withdraw,
)
from orchestration.graph_queries.existing_graphs import View
from orchestration.identifiers import copy_id, link_name, natural_id
from orchestration.metadata_enrichment import Contests
from orchestration.writing import atomic, changes
from orchestration.writing.changes import Refusal, lower_source
from orchestration.writing.receipts import refuse
from orchestration.writing.records import search_properties
from schemas.collectives import OfCollective, named_graph
from schemas.commands import (
    Command,
    Correct,
    CorrectLink,
    Relate,
    Remember,
    Retract,
    Unrelate,
    Writer,
    WriteReceipt,
)
from schemas.errors import Conflict, Fault, NotAuthor, NotFound, StoreTimeout
from schemas.memory import (
    GraphKey,
    Level,
    ResolutionState,
    SharedFrom,
    SharedLevel,
    Source,
    graph_fields,
    level_of,
)
from schemas.operation import May, MemoryIdInPath, Method, Need, Operation, RequestParts, group, record_may
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Scope, open_end, to_datetime
from substrate import bitemporal
from substrate.bitemporal import Record
from substrate.connection.together import together
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, transactions
from substrate.store.changesets import LinkEnds, RecordSelection
from substrate.store.derived import CONTESTS, COPIES_AT_ONCE, STATEMENT, STATEMENT_ID, read_copies
from substrate.store.rows import record, shown_name

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


type _Done = tuple[Literal["shared", "updated", "unchanged"], int | None]
"""What was done, and the version of the copy."""


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
    whose = request.citizen_id if request.from_level is Level.N1 else None
    origin = SharedFrom(**graph_fields(flow.key), citizen_id=whose, id=original.id, version=original.version)
    command_id, own_id = request.command_id or uuid4().hex, copy_id(flow.source.name, original.id)
    copying = Copying(request.goes_to, request.citizen_id, own_id, command_id, writer, origin)
    done = await _copy(flow, original, copying)
    if isinstance(done, WriteReceipt):
        return done
    links, left = await _copy_links(flow, copying) if request.with_links else ([], [])
    scope, is_own = Scope.current(now), request.from_level is Level.N1
    of_copy = await store.read_contests(flow.target, [copying.id], scope)
    of_original = {} if is_own else await store.read_contests(flow.source, [request.id], scope)
    return Shared(
        command_id=copying.command_id,
        status=done[0],
        **graph_fields(copying.graph),
        id=copying.id,
        version=done[1],
        shared_from=copying.origin,
        links=tuple(links),
        left=tuple(left),
        contested=(*of_original.get(request.id, ()), *of_copy.get(copying.id, ())),
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
            return "unchanged", kept.version
    try:
        command = copies.write_copy(original, stored, copying, flow.now)
    except Refusal as refusal:
        asked = Remember(**graph_fields(copying.graph), id=copying.id, name=original.content["name"])
        return refuse(asked, refusal, command_id=copying.command_id, record_id=copying.id)
    if command is None:
        return ("unchanged", bitemporal.held_at(bitemporal.open_records(stored), flow.now).version)
    receipt = await atomic.apply_one(command, flow.deps, flow.now)
    if receipt.status == "refused":
        return receipt
    return "shared" if isinstance(command, Remember) else "updated", receipt.version


async def _copy_links(flow: _Flow, copying: Copying) -> tuple[list[str], list[str]]:
    """The ids of the links copied now, and a line on each that was refused.

    A link is copied when both its ends have a copy by this citizen there; the other end may be shared later, and
    brings the link then.
    """
    found = await store.read_links_at(flow.source, flow.request.id, Scope.current(flow.now))
    by_copy = {copy_id(flow.source.name, end): end for link in found for end in link.ends}
    ids: dict[str, str] = {}  # of the copies that hold there, by the id of their original
    for some in batched(by_copy, COPIES_AT_ONCE):
        for copy in await read_copies(flow.target, some):
            if copy.author == copying.citizen_id and copy.expired_at == END_OF_TIME:
                ids[by_copy[copy.id]] = copy.id
    copied: list[str] = []
    left: list[str] = []
    for link in (link for link in found if set(link.ends) <= ids.keys()):
        ends = LinkEnds(ids[link.ends.source_id], ids[link.ends.target_id])
        command = copies.copy_link(link.record, link.ends, ends, copying, graph=flow.source.name)
        receipt = await atomic.apply_one(command, flow.deps, flow.now)
        if receipt.status == "refused":
            left.append(f"{receipt.id}: {'; '.join(receipt.faults)}")
        elif receipt.status == "stored" and not receipt.duplicate:
            copied.append(str(receipt.id))
    return copied, left[:MOST_LEFT]


def statement_id(memory_id: str, citizen_id: str) -> str:
    """The id of what a citizen says against a memory: it has one statement on each."""
    return f"{STATEMENT_ID}{blake2b(f'{citizen_id}\n{memory_id}'.encode(), digest_size=10).hexdigest()}"


async def contest(request: ContestRequest, writer: Writer, deps: Deps, now: Instant) -> WriteReceipt:
    """Say that a shared memory of another is wrong, and why: a statement, with a link CONTESTS to the memory.

    Sent again with another reason, it changes the statement. The receipt is that of the statement.

    Raises NotFound for an unknown memory, Conflict for one that was retracted or that the citizen wrote itself.
    """
    graph = await deps.existing_graph(request.graph_key, None)
    contested = await _find_holding(graph, request.id, now)
    if contested is None:
        raise NotFound(f"there is no memory {request.id} in {request.graph_key}")
    if contested.content.get("author") == request.citizen_id:
        raise Conflict(
            f"{request.id} was written by {request.citizen_id}", remedy="Correct or retract it instead."
        )
    own_id = statement_id(request.id, request.citizen_id)
    statement = await _find_holding(graph, own_id, now, retracted=True)
    if statement is None:
        commands = _first(request, own_id, contested)
    elif not await _is_linked(graph, request, own_id):
        link = await _apply(_first(request, own_id, contested)[1:], request, writer, deps, now=now)
        if link.status == "refused" or statement.content.get("description") == request.reason:
            return link if link.status == "refused" else _unchanged(request, statement)
        commands = _again(request, own_id)[:1]
    elif statement.content.get("description") == request.reason:
        return _unchanged(request, statement)
    else:
        commands = _again(request, own_id)
    return await _apply(commands, request, writer, deps, now=now)


async def withdraw(request: Withdraw, writer: Writer, deps: Deps, now: Instant) -> WriteReceipt:
    """Take a contest back from now on. That it was contested until then stays in its history.

    Raises NotFound where the citizen does not contest the memory.
    """
    graph = await deps.existing_graph(request.graph_key, None)
    own_id = statement_id(request.id, request.citizen_id)
    if await _find_holding(graph, own_id, now, retracted=True) is None:
        raise NotFound(f"{request.citizen_id} does not contest {request.id} in {request.graph_key}")
    common = {"effective_at": to_datetime(now), "reason": "reality_changed"}
    commands: list[Command] = [Retract(**_common(request), id=own_id, **common)]
    if await _is_linked(graph, request, own_id):
        commands.insert(0, Unrelate(**_common(request, "link"), id=_link_id(request, own_id), **common))
    return await _apply(commands, request, writer, deps, now=now)


async def _is_linked(graph: Graph, request: Withdraw, own_id: str) -> bool:
    """Whether the statement still points to the memory: its link goes when the memory is erased."""
    name = link_name(_link_id(request, own_id))
    stored = (await transactions.read_links(graph, [name])).get(name.id)
    return stored is not None and bool(bitemporal.open_records(stored.records))


def _first(request: ContestRequest, own_id: str, contested: Record) -> list[Command]:
    content = contested.content
    name = shown_name(contested.id, content["name"], content.get("speaker"), content.get("description"))
    said = Remember(
        **_common(request),
        id=own_id,
        node_type=STATEMENT,
        name=f"Against: {name}"[:1000],
        description=request.reason,
        valid_at=None,
    )
    link = Relate(
        **_common(request, "link"),
        source_id=own_id,
        target_id=request.id,
        relation_type=CONTESTS,
        goal="say what is wrong",
        mindstate="contesting",
        energy=0.5,
        confidence=0.5,
        emotion_vector={},
        resolution_state=ResolutionState.IN_PROGRESS,
        formation_trigger=request.reason,
    )
    return [said, link]


def _again(request: ContestRequest, own_id: str) -> list[Command]:
    return [
        Correct(**_common(request), id=own_id, description=request.reason),
        CorrectLink(**_common(request, "link"), id=_link_id(request, own_id), formation_trigger=request.reason),
    ]


def _link_id(request: Withdraw, own_id: str) -> str:
    return natural_id(own_id, CONTESTS, request.id)


def _common(request: Withdraw, part: str | None = None) -> dict[str, Any]:
    own = request.command_id
    command_id = own if own is None or part is None else f"{own}:{part}"
    return {"command_id": command_id, **graph_fields(request.graph_key), "citizen_id": request.citizen_id}


def _unchanged(request: ContestRequest, statement: Record) -> WriteReceipt:
    return WriteReceipt(
        command_id=request.command_id or uuid4().hex,
        command="remember",
        status="stored",
        id=statement.id,
        **graph_fields(request.graph_key),
        version=statement.version,
        valid_at=to_datetime(statement.valid.start),
        invalid_at=open_end(statement.valid.end),
        created_at=to_datetime(statement.known.start),
        duplicate=True,
    )


async def _apply(
    commands: Sequence[Command], request: Withdraw, writer: Writer, deps: Deps, *, now: Instant
) -> WriteReceipt:
    """The receipt of the command on the statement, else of the one that was refused."""
    source = lower_source(Source.CITIZEN, writer.highest_source)
    signed = [command.with_source(source).with_writer(writer) for command in commands]
    receipts = await atomic.apply(signed, deps, now)
    refused = (each for each in receipts if each.status == "refused" and each.problem != "not-applied")
    own_id = statement_id(request.id, request.citizen_id)
    return next(refused, None) or next((each for each in receipts if each.id == own_id), receipts[0])


async def _find_holding(graph: Graph, memory_id: str, now: Instant, *, retracted: bool = False) -> Record | None:
    """The record of a memory that holds now, or else its last one; None where it does not exist.

    Raises Conflict for one that was retracted; with `retracted` that is None too, and so is one that has ended.
    """
    stored = (await transactions.read_memories(graph, {memory_id: EVERY})).get(memory_id)
    if stored is None:
        return None
    open_records = bitemporal.open_records(stored.records)
    if not open_records:
        if retracted:
            return None
        raise Conflict(
            f"{memory_id} was retracted", remedy="Nobody holds it any more: there is nothing to contest."
        )
    record = bitemporal.held_at(open_records, now)
    return None if retracted and record.valid.end <= now else record


async def list_contested(query: ContestedQuery, deps: Deps, now: Instant) -> ContestedPage:
    """The shared memories that somebody contests now, each with who does and why, a page at a time.

    Raises InvalidRequest for a wrong cursor.
    """
    [after] = (-1,) if query.cursor is None else decode_cursor(query.cursor, int)
    key = query.graph_key
    graph = await deps.graph_if_any(key, None)
    if graph is None:
        return ContestedPage(memories=())
    found: list[Contested] = []
    last = after
    async for rows in store.walk_contested(graph, Scope.current(now), after):
        for place, shown in await _show_contested(rows, graph, key, now):
            if len(found) == query.limit:
                return ContestedPage(memories=tuple(found), next=encode_cursor(last))
            is_by = query.by is None or any(contest.by == query.by for contest in shown.contested)
            if is_by and query.author in (None, shown.author):
                found.append(shown)
            last = place
    return ContestedPage(memories=tuple(found))


async def _show_contested(
    rows: list[store.ContestedRow], graph: Graph, key: GraphKey, now: Instant
) -> list[tuple[int, Contested]]:
    if not rows:
        return []
    contests = await store.read_contests(graph, [row.id for row in rows], Scope.current(now))
    return [
        (row.place, Contested(**graph_fields(key), id=row.id, name=row.name, author=row.author, contested=held))
        for row in rows
        if (held := contests.get(row.id))
    ]


def agreement(holders: Collection[str], contesters: Collection[str]) -> float | None:
    """The share of those who hold a memory among all who spoke of it, in [0, 1]; None where nobody did.

    |H − C| / |H ∪ C|, with H who holds it and C who contests it: each citizen counts once, and one that does both
    has changed its mind.
    """
    spoke = {*holders, *contesters}
    return len({*holders} - {*contesters}) / len(spoke) if spoke else None


async def read_agreement(
    level: SharedLevel, memory_id: MemoryIdInPath, query: OfCollective, *, deps: Deps, now: Instant
) -> Agreement:
    """How far the citizens agree on a shared memory: who holds it, who has a copy there, who contests it.

    Raises NotFound for an unknown one or one that does not hold now.
    """
    key = named_graph(level, query.collective)
    graph, scope = await deps.graph_if_any(key, None), Scope.current(now)
    found = None if graph is None else await reader.read_memory(graph, memory_id, scope)
    if graph is None or found is None or found.row is None:
        raise NotFound(f"there is no memory {memory_id} in {key} now")
    memory = record(found.row)
    key_of_words = search_properties(memory.content, None)["text_key"]  # short texts have none
    rows = await reader.find_by_text(graph, [key_of_words], now) if key_of_words else []
    same = [memory, *(other for other in map(record, rows) if other.id != memory.id)]
    contests = await store.read_contests(graph, [each.id for each in same], scope)
    said = {contest.by for held in contests.values() for contest in held}
    contesters = {by for by in said if by is not None}
    holders = {str(author) for each in same if (author := each.content.get("author"))}
    sharers = {str(each.content.get("author")) for each in same if origin_of(each) is not None}
    return Agreement(
        **graph_fields(key),
        id=memory_id,
        agreement=agreement(holders, contesters),
        held_by=tuple(sorted(holders - contesters)),
        contested_by=tuple(sorted(contesters)),
        shared_by=tuple(sorted(sharers)),
    )


async def contests_shown(ids: Mapping[GraphKey, Sequence[str]], view: View) -> Contests:
    """Who contests these shared memories in the scope, by graph and id; nobody where a graph answers too late."""
    targets = [view.targets[key] for key in ids if key != Level.N1]
    try:
        found = await together(
            *(store.read_contests(each.graph, ids[each.key], view.scope, past=each.past) for each in targets)
        )
    except (StoreTimeout, Fault):
        return {}
    return {(each.key, name): held for each, by in zip(targets, found, strict=True) for name, held in by.items()}


def _share_needs(asked: RequestParts) -> list[Need]:
    """A copy shows the others what only readers of the original could see."""
    own, share = asked.request.citizen_id, asked.request
    return [Need("write", own), Need("read", own, share.stands_in), Need("write", own, share.goes_to)]


def _contest_needs(asked: RequestParts) -> list[Need]:
    own, key = asked.request.citizen_id, asked.request.graph_key
    return [Need("write", own), Need("read", own, key), Need("write", own, key)]


SHARES: Final = May(
    "citizen:ID:write, read where it stands, LEVEL:write where it goes", _share_needs, first="write"
)
MAY_CONTEST: Final = May(
    "citizen:ID:write; LEVEL:read and :write, or of the collective", _contest_needs, first="write"
)
READS: Final = May("LEVEL:read", lambda asked: [Need("read", None, asked.request.graph_key)])

OPERATIONS: Final = group(
    "sharing",
    Operation("get_agreement", "GET /v1/memories/{level}/{memory_id:path}/agreement",
              "See how far citizens agree on a memory", record_may("read", "LEVEL:read"), read_agreement,
              call=Method("agreement", "How far the citizens agree on a shared memory: who holds it, who has a "
                          "copy, who contests it.")),
    Operation("share_memory", "POST /v1/share", "Share a memory with others", SHARES, share,
              gives=Shared,
              call=Method("share", "Copy a memory with its links to N2 or N3; sent again, it brings the copy up "
                          "to date.")),
    Operation("contest_memory", "POST /v1/contests", "Contest a shared memory", MAY_CONTEST, contest,
              call=Method("contest", "Say that a shared memory of another is wrong, and why; sent again, it "
                          "changes the reason.")),
    Operation("withdraw_contest", "POST /v1/contests/withdraw", "Take a contest back",
              MAY_CONTEST, withdraw, call=Method(says="Take a contest back from now on.")),
    Operation("list_contested", "GET /v1/contested", "List what is contested", READS, list_contested,
              call=Method(says="One page of the shared memories that somebody contests, with who does and why.")),
)  # fmt: skip
FEATURE: Final = Feature("sharing", operations=OPERATIONS, sections={"contested": contests_shown})
