"""Statements that close records and open others, as values; running one is a compare-and-set.

A statement comes from what was decided on the records that were seen. No row comes back when another writer was
first: then nothing was changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from schemas.errors import Conflict
from schemas.memory import Source
from schemas.temporal import END_OF_TIME, Instant
from substrate.bitemporal import Change, Record, Reversal
from substrate.connection import Connection, parameters
from substrate.cypher import revise as cypher
from substrate.cypher.query import Query
from substrate.once import Once


class Statement(NamedTuple):
    """A query with its values, not yet sent."""

    query: Query
    values: Mapping[str, Any]


class Written(NamedTuple):
    """A command as its statement records it: the receipt to keep, the moment of its writing, and whose it is."""

    receipt: Mapping[str, Any]
    at: Instant
    source: Source

    @property
    def command_id(self) -> str:
        """The id of the command."""
        return str(self.receipt["command_id"])


class Revised(NamedTuple):
    """The stored form of what a revision opens. Without `tag_names` the tags stay."""

    latest: Mapping[str, Any]
    embedding: list[float] | None
    emotion: list[float] | None
    tag_names: list[str] | None


class Ends(NamedTuple):
    """The memories at the two ends of a link."""

    source_id: str
    target_id: str


class Sent(NamedTuple):
    """The transaction time of a statement, None when it changed nothing; whether it was sent more than once."""

    at: Instant | None
    again: bool


async def run(connection: Connection, graph: str, statement: Statement) -> Sent:
    """Send a statement. It changes nothing when another writer was first, or its command was applied before.

    Raises Unsure when the connection was lost and what became of it could not be learnt.
    """
    once = Once(connection, graph, (statement.query, parameters(statement.values)))
    try:
        reply = await once.send([statement.values["receipt"]["command_id"]])
    except Conflict:
        return Sent(None, once.again)
    return Sent(int(reply[0][0]) if reply else None, once.again)


def revise(change: Change, revised: Revised, written: Written) -> Statement:
    """Carry out a change that opens a record."""
    kept = [] if change.kept is None else [_opened(change.kept, written)]
    values = {
        **_carried(change.closed, END_OF_TIME),
        **_closing(change.closed, written),
        "pending_until": _pending_until(change.kept),
        "kept": kept,
        "latest": {**revised.latest, "command_id": written.command_id},
        "embedding": revised.embedding,
        "emotion": revised.emotion,
        "retag": revised.tag_names is not None,
        "tag_names": revised.tag_names or [],
    }
    return Statement(cypher.REVISE, values)


def withdraw(closed: Record, written: Written) -> Statement:
    """Close the open record and open none."""
    return Statement(cypher.WITHDRAW, {**_carried(closed, END_OF_TIME), **_closing(closed, written)})


def undo(carried: Record, reversal: Reversal, tag_names: list[str], written: Written) -> Statement:
    """Revert the last change of a memory. `carried` is the record of its identity as it was seen."""
    latest = reversal.latest
    if latest is None:
        [closed] = reversal.closed
        return withdraw(closed, written)
    if not reversal.closed:
        values = {"id": carried.id, "seen": carried.version, "seen_end": carried.known.end, **_marks(written)}
        return Statement(cypher.RESTORE, {**values, "open": END_OF_TIME, "latest": _opened(latest, written)})
    kept = [] if reversal.kept is None else [_opened(reversal.kept, written)]
    values = {
        **_carried(carried, END_OF_TIME),
        **_closing(reversal.closed[0], written),
        "closing": [record.version for record in reversal.closed if record.version != carried.version],
        "latest_from": reversal.latest_from,
        "kept_from": reversal.kept_from or 0,
        "kept": kept,
        "latest": _opened(latest, written),
        "pending_until": _pending_until(reversal.kept),
        "open": END_OF_TIME,
        "retag": True,
        "tag_names": tag_names,
    }
    return Statement(cypher.REINSTATE, values)


class LinkSeen(NamedTuple):
    """A link as it was seen: its ends, the version that it carries if it is not withdrawn, its closed records."""

    id: str
    ends: Ends
    carried: int | None
    past: int


class LinkChange(NamedTuple):
    """What changes of a link: open records that close, and the records that open, each `of` a version."""

    closed: tuple[Record, ...]
    kept: tuple[int, Record] | None
    latest: tuple[int, Record] | None
    fields: Mapping[str, Any]


def revise_link(seen: LinkSeen, change: LinkChange, written: Written) -> Statement:
    """Carry out a change of a link."""
    values = {
        **seen.ends._asdict(),
        "id": seen.id,
        "seen": [] if seen.carried is None else [seen.carried],
        "past": seen.past,
        "closing": [record.version for record in change.closed],
        "reason": change.closed[0].closed_reason if change.closed else None,
        "kept": _of_version(change.kept, {}, written),
        "latest": _of_version(change.latest, change.fields, written),
        "pending_until": _pending_until(change.kept[1] if change.kept else None),
        "open": END_OF_TIME,
        **_marks(written),
    }
    return Statement(cypher.REVISE_LINK, values)


def _of_version(
    opened: tuple[int, Record] | None, fields: Mapping[str, Any], written: Written
) -> list[dict[str, Any]]:
    if opened is None:
        return []
    version, record = opened
    return [{"of": version, "change": {**fields, **_opened(record, written)}}]


def _carried(record: Record, end: Instant) -> dict[str, Any]:
    return {"id": record.id, "seen": record.version, "seen_end": end}


def _closing(closed: Record, written: Written) -> dict[str, Any]:
    return {"reason": closed.closed_reason, **_marks(written)}


def _marks(written: Written) -> dict[str, Any]:
    return {"receipt": dict(written.receipt), "at": written.at, "closed_source": written.source.value}


def _opened(record: Record, written: Written) -> dict[str, Any]:
    """What an opened record has of its own; the statement sets its transaction time."""
    return {
        "valid_at": record.valid.start,
        "invalid_at": record.valid.end,
        "expired_at": END_OF_TIME,
        "version": record.version,
        "invalidation_reason": record.reason,
        "command_id": written.command_id,
    }


def _pending_until(kept: Record | None) -> Instant:
    """When the kept record ends: to come as a rule only for a change ahead, but a clock may go back, too."""
    return 0 if kept is None else kept.valid.end
