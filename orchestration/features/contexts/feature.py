"""Writes a context: one atomic list of commands, and beside it the agents' notes and what a prediction came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple
from uuid import uuid4

import orjson

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.contexts import commands as build
from orchestration.features.contexts import queries as store
from orchestration.features.contexts.values import (
    AgentLog,
    AgentLogQuery,
    ContextReceipt,
    GivenEdge,
    LoggedNote,
    WriteContext,
    WrittenNode,
)
from orchestration.writing import atomic, command_rows, mentions, receipts, restatements
from orchestration.writing.changes import Refusal
from orchestration.writing.mentions import Writing
from schemas.base import CitizenId
from schemas.commands import Command, Remember, Writer, WriteReceipt
from schemas.errors import Conflict, NotFound, errors_by_slug
from schemas.memory import Level
from schemas.operation import Method, Operation, citizen_may, group
from schemas.paging import decode_cursor, first_page
from schemas.temporal import END_OF_TIME, Instant, to_datetime, to_instant
from substrate.emotions import normal_emotions
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import reader, rows
from substrate.store.kept import Kept, as_created, erase_links
from substrate.store.transactions import COMMANDS_AT_MOST

SAME_EPISODE: Final = 3_600_000_000
"""The same words within an hour are the same episode."""
TOO_MANY_NAMES: Final = (
    "nodes: the description names too many things for one list; only the nodes given were linked"
)
OTHER_CONTENT: Final = "this command_id was used before with another context"


class _PendingContext(NamedTuple):
    """A context on its way: mended, with the command of its memory, the graph and the moment."""

    mended: build.CompleteContext
    command: Remember
    command_id: str
    graph: Graph
    now: Instant

    @property
    def context(self) -> WriteContext:
        return self.mended.context

    @property
    def context_id(self) -> str:
        return str(command_rows.identity(self.command, self.command_id))

    def digest(self) -> str:
        fields = self.context.model_dump(mode="json", exclude={"command_id", "citizen_id"})
        return blake2b(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


class _Built(NamedTuple):
    """The commands of a context, and what the receipt shows of its nodes and edges."""

    commands: Sequence[Command]
    nodes: Sequence[WrittenNode]
    edges: Sequence[build.EdgeCommand]
    warnings: tuple[str, ...]

    def ends(self) -> list[str]:
        found = ((edge.command.source_id, edge.command.target_id) for edge in self.edges)
        return list(dict.fromkeys(end for ends in found for end in ends))


async def write_context(request: WriteContext, deps: Deps, now: Instant, writer: Writer) -> ContextReceipt:
    """Write an episode with nodes by name, typed edges, feeling, result and rule, as a whole or not at all.

    With `outcome_of` it says what came of a kept prediction. `warnings` tell what was mended.

    Raises InvalidRequest for what cannot be mended, NotFound for a node's id or a prediction that is not there,
    Conflict for a `command_id` with another content and for a prediction that was answered before.
    """
    mended = build.mend(request)
    command_id = request.command_id or uuid4().hex
    command = build.memory_command(mended, command_id).with_writer(writer)
    sent = _PendingContext(mended, command, command_id, deps.graph(graph_name(Level.N1, request.citizen_id)), now)
    exists = await deps.graphs.for_reading(sent.graph.name)
    if exists:
        before = await _written_before(sent)
        if before is not None:
            return before
    asked = request.outcome_of
    if asked is not None and not (
        exists and await deps.features.read("outcome", sent.graph, asked, sent.context_id)
    ):
        raise NotFound(f"{request.citizen_id} has kept no prediction {asked}")
    if exists and not request.restate and request.outcome_of is None:
        same = await _same_episode(sent)
        if same is not None:
            return same
    built = await _build(sent, deps)
    answer = await _apply(sent, built, deps)
    if answer is None:  # another sending of this command wrote it just now
        before = await _written_before(sent)
        if before is None:
            raise Conflict("the same context is being written", remedy="Send it again in a moment.")
        return before
    return await _finish(sent, built, answer, deps)


async def _written_before(sent: _PendingContext) -> ContextReceipt | None:
    """The receipt of a context that this command wrote. Raises Conflict when it said something else."""
    note = await store.read_note_of_command(sent.graph, sent.command_id)
    if note is not None and note.digest != sent.digest():
        raise Conflict(OTHER_CONTENT, remedy="Give the other context a command_id of its own.")
    return None if note is None else _shown_again(sent, note)


async def _same_episode(sent: _PendingContext) -> ContextReceipt | None:
    valid_at = sent.now if sent.context.valid_at is None else to_instant(sent.context.valid_at)
    asked = sent.command.model_copy(update={"restate": False, "valid_at": None})
    readings = restatements.readings(asked)
    saying = await reader.find_by_text(sent.graph, sorted(readings), sent.now) if readings else []
    near = [each for each in map(rows.record, saying) if abs(each.valid.start - valid_at) < SAME_EPISODE]
    near = [each for each in near if restatements.repeats(asked, readings, each)]
    for note in await store.read_notes(sent.graph, [each.id for each in near]) if near else ():
        receipt = _shown_again(sent, note)
        same_result = sent.context.result in (None, receipt.result)
        if same_result and sent.context.emotion in (None, receipt.emotion):
            warning = (
                f"recognised: context {note.memory_id} has these words within the hour; restate writes it anyway"
            )
            return receipt.model_copy(update={"warnings": (*receipt.warnings, warning)})
    return None


def _shown_again(sent: _PendingContext, note: store.ContextNote) -> ContextReceipt:
    """The receipt of a context that was written before; an import may have given its citizen another name."""
    receipt = {**note.receipt, "citizen_id": sent.context.citizen_id, "duplicate": True}
    return ContextReceipt(**receipt)


async def _build(sent: _PendingContext, deps: Deps) -> _Built:
    """The commands; without the names that only the description has, where these are too many for one list."""
    own = mentions.is_own(sent.command.source, sent.command.speaker)
    built = await _build_with(sent, deps, own=own)
    if len(built.commands) <= COMMANDS_AT_MOST:
        return built
    less = await _build_with(sent, deps, own=False)
    return less._replace(warnings=(*less.warnings, TOO_MANY_NAMES))


async def _build_with(sent: _PendingContext, deps: Deps, *, own: bool) -> _Built:
    context = sent.context
    names = tuple(node.name for node in context.nodes if node.name is not None)
    writing = Writing(sent.command, sent.context_id, context.description, context.valid_at, names, own=own)
    found = await mentions.decide([writing], deps)
    named = found.commands([writing])
    made = {command.id for command in named if isinstance(command, Remember)}
    nodes: list[WrittenNode] = []
    for node in context.nodes:
        if node.id is not None:
            nodes.append(WrittenNode(node_id=node.id, name=node.id))
        else:
            entry = found.book.find(node.name or "")
            nodes.append(WrittenNode(node_id=entry.id, name=entry.name, made=entry.id in made))
    ids = {build.key_of(node.name): node.node_id for node in nodes}
    ids |= {node.node_id: node.node_id for node in nodes}
    linked = [found.link_to(writing, node.id) for node in context.nodes if node.id is not None]
    known = {node.node_id: node.name for node in nodes}
    given = list(context.edges)
    for deed in () if given else found.read_deeds(writing):
        if deed.source in known and deed.target in known:
            ends = {"source": known[deed.source], "target": known[deed.target]}
            given.append(GivenEdge(**ends, relation_type=deed.relation_type))
    writer = sent.command.writer
    edges = [
        edge._replace(command=edge.command.with_writer(writer))
        for edge in build.edge_commands(context, sent.context_id, given, ids)
        if edge.command.source_id != edge.command.target_id
    ]
    sparse = build.sparse_warning(context, given)
    commands = [sent.command, *named, *linked, *(edge.command for edge in edges)]
    return _Built(commands, nodes, edges, () if sparse is None else (sparse,))


async def _apply(sent: _PendingContext, built: _Built, deps: Deps) -> WriteReceipt | None:
    """The receipt of the memory; None when the same command was applied meanwhile, by another sending.

    Raises the error of the first refusal.
    """
    stored = await _receipt_of_memory(sent, deps)
    if stored is not None:
        return stored
    applied = await atomic.apply(built.commands, deps, sent.now)
    refused = [receipt for receipt in applied if receipt.status == "refused"]
    if not refused:
        return applied[0]
    if await _receipt_of_memory(sent, deps) is not None:
        return None
    first = next((receipt for receipt in refused if receipt.problem != "not-applied"), refused[0])
    raise errors_by_slug()[str(first.problem)]("; ".join(first.faults), faults=first.faults)


async def _receipt_of_memory(sent: _PendingContext, deps: Deps) -> WriteReceipt | None:
    """The receipt of an earlier sending that stored the context; its note may be missing.

    Raises Conflict when it had another content.
    """
    if not await deps.graphs.for_reading(sent.graph.name):
        return None
    stored = (await reader.receipts(sent.graph, [sent.command_id])).get(sent.command_id)
    if stored is None:
        return None
    try:
        return receipts.repeat_receipt(sent.command, stored)
    except Refusal as refusal:
        raise Conflict(OTHER_CONTENT, faults=refusal.faults) from refusal


async def _finish(sent: _PendingContext, built: _Built, answer: WriteReceipt, deps: Deps) -> ContextReceipt:
    """Keep the note of a stored context, and say what came of the prediction."""
    context = sent.context
    result, emotion = await _felt(sent)
    answered: str | None = None
    if context.outcome_of is not None and result is not None:
        said = {"result": result, "emotion": emotion, "now": sent.now}
        answered = await deps.features.read("outcome", sent.graph, context.outcome_of, sent.context_id, **said)
    warnings = (*sent.mended.warnings, *built.warnings, *answer.warnings)
    if context.outcome_of is not None and answered is None:
        why = "not answered: the context has no result" if result is None else "answered or removed meanwhile"
        warnings = (*warnings, f"outcome_of: prediction {context.outcome_of} was {why}")
    receipt = ContextReceipt(
        command_id=sent.command_id,
        context_id=sent.context_id,
        citizen_id=context.citizen_id,
        created_at=answer.created_at or to_datetime(sent.now),
        valid_at=answer.valid_at or to_datetime(sent.now),
        nodes=tuple(built.nodes),
        edges=tuple(edge.shown for edge in built.edges),
        result=result,
        emotion=emotion,
        filled=sent.mended.filled,
        answered=answered,
        warnings=warnings,
    )
    note = store.ContextNote(
        sent.context_id,
        to_instant(receipt.created_at),
        sent.digest(),
        receipt.model_dump(mode="json"),
        [one.model_dump(mode="json", exclude_none=True) for one in context.agent_log],
        tuple(edge.shown.link_id for edge in built.edges),
        tuple(built.ends()),
    )
    await store.write_note(sent.graph, note)
    return receipt


async def _felt(sent: _PendingContext) -> tuple[str | None, str | None]:
    row = await reader.memory(sent.graph, sent.context_id)
    if row is None:
        return None, None
    content: Mapping[str, Any] = rows.record(row).content
    stored = content.get("emotion_vector")
    emotions = normal_emotions(orjson.loads(stored) if isinstance(stored, str) else stored or {})
    strongest = max(sorted(emotions), key=lambda name: emotions[name], default=None)
    return (content.get("result") or "").strip().lower() or None, strongest


async def read_agent_log(citizen_id: CitizenId, query: AgentLogQuery, deps: Deps) -> AgentLog:
    """The notes that agents left with written contexts: who, what, the decision, the tokens; the newest first.

    Raises InvalidRequest for an invalid cursor, NotFound for a context that is not there.
    """
    graph = deps.graph(graph_name(Level.N1, citizen_id))
    exists = await deps.graphs.for_reading(graph.name)
    after = store.LogPosition(END_OF_TIME, "")
    if query.cursor is not None:
        after = store.LogPosition(*decode_cursor(query.cursor, int, str))
    if query.context_id is not None and not (exists and await store.read_notes(graph, [query.context_id])):
        raise NotFound(f"{citizen_id} has written no context {query.context_id}")
    found = await store.read_logs(graph, query.context_id, after, query.limit + 1) if exists else []
    shown, following = first_page(found, query.limit, lambda note: (note.created_at, note.memory_id))
    notes: list[LoggedNote] = []
    for note in shown:
        written = {"context_id": note.memory_id, "written_at": to_datetime(note.created_at)}
        notes += [LoggedNote(**written, **one) for one in note.log]
    tokens = sum(note.tokens or 0 for note in notes)
    return AgentLog(citizen_id=citizen_id, notes=tuple(notes), tokens=tokens, next=following)


async def _forget(graph: Graph, ids: list[str]) -> Counter[str]:
    """Erase the edges of contexts, then their notes: by these a repeated erasure finds the edges."""
    removed: Counter[str] = Counter()
    for note in await store.read_notes(graph, ids):
        removed += await erase_links(graph, list(note.ends), list(note.edges))
    removed["context_notes"] += await store.forget_notes(graph, ids)
    return removed


OPERATIONS: Final = group(
    "mind",
    Operation("write_context", "POST /v1/contexts", "Write a context in one call",
              citizen_may("write", source="source"), write_context, status=201,
              call=Method(says="Write an episode with its nodes, edges, feeling, result and rule, as a whole or "
                               "not at all.")),
    Operation("list_agent_log", "GET /v1/citizens/{citizen_id}/agent-log", "List the notes of agents",
              citizen_may("read"), read_agent_log,
              call=Method("agent_log", "The notes that agents left with contexts, the newest first; `context_id` "
                          "for those of one.")),
)  # fmt: skip
FEATURE: Final = Feature(
    "contexts", operations=OPERATIONS,
    kept=(Kept("ContextNote", "context_notes", _forget, is_carried=True, as_known=as_created,
               check=lambda properties: ContextReceipt(**store.note_of(properties).receipt)),),
)  # fmt: skip
