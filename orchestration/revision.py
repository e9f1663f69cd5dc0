"""Changes of what is remembered: decided by the pure rules, written with compare-and-set, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import orjson

from orchestration import decisions, receipts, records
from orchestration.deps import Deps
from orchestration.receipts import Refusal
from schemas.command import ChangeCommand, WriteReceipt
from schemas.commands import Correct, Supersede, Undo
from schemas.link_commands import UndoLink
from schemas.temporal import Instant
from substrate import reader, reviser, rows
from substrate.bitemporal import Change, Record, is_open
from substrate.cypher.columns import NODE_COLUMNS
from substrate.reviser import Ends, LinkChange, LinkSeen, Sent, Statement, Written

_TRIES = 5


class Found(NamedTuple):
    """The records of one identity, in the order in which they became known; of a link also its ends."""

    records: Sequence[Record]
    ends: Ends | None = None


async def revise(graph: str, command: ChangeCommand, deps: Deps, now: Instant) -> WriteReceipt:
    """Carry out one change of a memory or a link. The receipt says what the identity carries now."""
    command_id = command.command_id or uuid4().hex
    sent: Sent | None = None
    try:
        for _ in range(_TRIES):
            # The receipt after the records: what the same command, sent at once, changed in them has one.
            found = await find(graph, command, deps)
            if command.command_id is not None or sent is not None:
                kept = await reader.receipts(deps.connection, graph, [command_id])
                if command_id in kept:
                    return _as_sent(command, kept[command_id], sent, now)
            statement, receipt = await statement_of((command, command_id), found, deps, now)
            sent = await reviser.run(deps.connection, graph, statement)
            if sent.at is not None:
                return receipts.stored(receipt, sent.at, command.level)
        raise Refusal("conflict", f"{command.id} is being changed by others; try again")
    except Refusal as refusal:
        return receipts.refused(command, (command_id, command.id), refusal)


def _as_sent(command: ChangeCommand, kept: rows.Kept, sent: Sent | None, now: Instant) -> WriteReceipt:
    """The receipt that was found: of this very sending, when its answer was lost, or of an earlier one."""
    said = receipts.again(command, kept)
    ours = sent is not None and sent.again and kept.created_at >= now
    return said.model_copy(update={"duplicate": False}) if ours else said


async def find(graph: str, command: ChangeCommand, deps: Deps) -> Found:
    """The records that the command needs: all of a link and for an undo, else the one that a memory carries."""
    if not isinstance(command, decisions.OF_MEMORIES):
        links = await reader.link_history(deps.connection, graph, records.link_name(command.id))
        ends = Ends(links[0][0], links[0][1]) if links else None
        return Found([rows.record_of_link(row[2:]) for row in links], ends)
    if isinstance(command, Undo):
        memories = await reader.history(deps.connection, graph, command.id)
        return Found([rows.record(row) for row in memories])
    row = await reader.memory(deps.connection, graph, command.id)
    return Found([] if row is None else [rows.record(row)])


async def statement_of(
    sent: tuple[ChangeCommand, str], found: Found, deps: Deps, now: Instant
) -> tuple[Statement, Mapping[str, Any]]:
    """What a command, sent with its id, writes, and what is kept of it. Raises Refusal."""
    command, command_id = sent
    if isinstance(command, (Undo, UndoLink)):
        return _undoing(command, command_id, found, now)
    record, change = decisions.decide(command, found.records, now)
    kept = receipts.to_keep(command, command_id, change.latest or change.closed)
    written = Written(kept, change.closed.known.end, command.source)
    if found.ends is None:
        return await _of_memory(command, (record, change), written, deps), kept
    opened = LinkChange(
        closed=(change.closed,),
        kept=(record.version, change.kept) if change.kept else None,
        latest=(record.version, change.latest) if change.latest else None,
        fields=decisions.changed_fields(command, record.content),
    )
    return reviser.revise_link(_link_seen(found, found.ends), opened, written), kept


def _undoing(
    command: Undo | UndoLink, command_id: str, found: Found, now: Instant
) -> tuple[Statement, Mapping[str, Any]]:
    record, reversal = decisions.reversal(command, found.records, now)
    kept = receipts.to_keep(command, command_id, reversal.latest or reversal.closed[0])
    written = Written(kept, reversal.at, command.source)
    if found.ends is None:
        tags = records.stored_tag_names(reversal.latest.content) if reversal.latest else []
        return reviser.undo(record, reversal, tags, written), kept
    opened = LinkChange(
        closed=reversal.closed,
        kept=(reversal.kept_from, reversal.kept) if reversal.kept and reversal.kept_from else None,
        latest=(reversal.latest_from, reversal.latest) if reversal.latest and reversal.latest_from else None,
        fields={},
    )
    return reviser.revise_link(_link_seen(found, found.ends), opened, written), kept


def _link_seen(found: Found, ends: Ends) -> LinkSeen:
    """What the statement on a link must find again. A withdrawn link carries nothing."""
    latest = max(found.records, key=lambda record: record.version)
    open_still = is_open(latest)
    return LinkSeen(latest.id, ends, latest.version if open_still else None, len(found.records) - open_still)


async def _of_memory(
    command: ChangeCommand, decided: tuple[Record, Change], written: Written, deps: Deps
) -> Statement:
    """The statement of a change of a memory; new words are embedded."""
    record, change = decided
    if change.latest is None:
        return reviser.withdraw(change.closed, written)
    content = change.latest.content
    emotions = orjson.loads(content["emotion_vector"]) if content.get("emotion_vector") else None
    latest = {
        **dict.fromkeys(NODE_COLUMNS),
        **content,
        **records.search_properties(content, emotions),
        **rows.times(change.latest.valid, change.latest.known),
        "id": record.id,
        "version": change.latest.version,
        "invalidation_reason": change.latest.reason,
    }
    before, after = records.embedded_text(record.content), records.embedded_text(content)
    embedding = None if before == after else (await deps.embedder.embed_texts([after]))[0] or None
    retagged = isinstance(command, (Supersede, Correct)) and bool({"tags", "buckets"} & command.model_fields_set)
    revised = reviser.Revised(
        latest=latest,
        embedding=embedding,
        emotion=records.felt_trace(content, record.id, change.latest.version),
        tag_names=records.stored_tag_names(content) if retagged else None,
    )
    return reviser.revise(change, revised, written)
