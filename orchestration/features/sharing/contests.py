"""Contests a shared memory of another, and takes that back.

A contest is a statement, which is a memory of the contester in the same graph, and a link CONTESTS from it.
Both are ordinary records: they have an author, a history, and can be corrected and undone as all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.features.sharing.values import ContestRequest, Withdraw
from orchestration.identifiers import link_name, natural_id
from orchestration.writing import atomic
from orchestration.writing.changes import lower_source
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
from schemas.errors import Conflict, NotFound
from schemas.memory import ResolutionState, Source, graph_fields
from schemas.temporal import BEGINNING_OF_TIME, Instant, open_end, to_datetime
from substrate import bitemporal
from substrate.bitemporal import Record
from substrate.graphs.graph import Graph
from substrate.store import transactions
from substrate.store.changesets import RecordSelection
from substrate.store.derived import CONTESTS, STATEMENT, STATEMENT_ID
from substrate.store.shown_names import shown_name

EVERY: Final = RecordSelection(BEGINNING_OF_TIME, every=True)


def statement_id(memory_id: str, citizen_id: str) -> str:
    """The id of what a citizen says against a memory: it has one statement on each."""
    return f"{STATEMENT_ID}{blake2b(f'{citizen_id}\n{memory_id}'.encode(), digest_size=10).hexdigest()}"


async def contest(request: ContestRequest, writer: Writer, deps: Deps, now: Instant) -> WriteReceipt:
    """Say that a shared memory of another is wrong, and why: a statement, with a link CONTESTS to the memory.

    Sent again with another reason, it changes the statement. The receipt is that of the statement.

    Raises NotFound for an unknown memory, Conflict for one that was retracted or that the citizen wrote itself.
    """
    graph = await deps.existing_graph(request.graph_key, None)
    contested = await _held(graph, request.id, now)
    if contested is None:
        raise NotFound(f"there is no memory {request.id} in {request.graph_key}")
    if contested.content.get("author") == request.citizen_id:
        raise Conflict(
            f"{request.id} was written by {request.citizen_id}", remedy="Correct or retract it instead."
        )
    own_id = statement_id(request.id, request.citizen_id)
    statement = await _held(graph, own_id, now, retracted=True)
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
    if await _held(graph, own_id, now, retracted=True) is None:
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
    """The receipt of a contest that stands with this reason."""
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


async def _held(graph: Graph, memory_id: str, now: Instant, *, retracted: bool = False) -> Record | None:
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
