"""Many commands as one compare-and-set: what was seen of memories and links, and all that changes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant
from substrate.bitemporal import Record
from substrate.connection.pool import Row
from substrate.cypher import transaction as cypher
from substrate.graphs.graph import Graph
from substrate.store import rows
from substrate.store.exactly_once import ExactlyOnceWrite
from substrate.store.rows import LinkName

COMMANDS_AT_MOST: Final = 100
"""A commit holds a lock that stops every graph; an indexed vector costs it about 0.6 ms (ENGINE, rule 11)."""


class Ends(NamedTuple):
    """The memories at the two ends of a link."""

    source_id: str
    target_id: str


class Stored(NamedTuple):
    """Records of one identity; `begun` has by version the fingerprint of the command with which each began. Of a
    link also its ends.

    `carried` is the version of the record that it carries: the open one that holds last, or the one that it
    carried when none was left open; None for a link of which none is open. `last_version` is the highest that one
    ever had, `touched` when a memory was changed last.
    """

    records: tuple[Record, ...]
    begun: Mapping[int, int | None]
    carried: int | None
    last_version: int
    touched: Instant = 0
    ends: Ends | None = None


@dataclass(slots=True)
class Writes:
    """The rows of a transaction, by what its statement does with them (`cypher.transaction`).

    Moments are as foreseen: those from `at` on move with the clock of the graph. `sent_again`: an answer was lost.
    """

    at: Instant
    new: list[dict[str, Any]] = field(default_factory=list)
    past: list[dict[str, Any]] = field(default_factory=list)
    closing: list[dict[str, Any]] = field(default_factory=list)
    carried: list[dict[str, Any]] = field(default_factory=list)
    moved: list[dict[str, Any]] = field(default_factory=list)
    touched: list[dict[str, Any]] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    tagged: list[dict[str, Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    receipts: list[Mapping[str, Any]] = field(default_factory=list)
    pending_until: Instant = 0
    sent_again: bool = False


@dataclass(slots=True)
class Seen:
    """What the statement must find again: memories with the marks of what each carries, those that are not
    there, links between their ends, and handles that no link has."""

    ids: list[str] = field(default_factory=list)
    memories: list[list[Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)


class Wanted(NamedTuple):
    """Which records of a memory are wanted beside the one that it carries: all, or the open ones, if what it
    carries begins after `since`. Where none is open, all, but for a `since` at the end of time.
    """

    since: Instant
    every: bool = False


async def memories(graph: Graph, wanted: Mapping[str, Wanted]) -> dict[str, Stored]:
    """The records of some memories, by their ids; those that are not there are left out."""
    if not wanted:
        return {}
    asked = [{"id": memory_id, **want._asdict()} for memory_id, want in wanted.items()]
    found: dict[str, Stored] = {}
    for row in await graph.read(cypher.MEMORIES_OF, wanted=asked, open=END_OF_TIME):
        record = rows.record(row[4:])
        before = found.get(record.id, Stored((), {}, *row[1:4]))
        begun = {**before.begun, record.version: row[0]}
        found[record.id] = before._replace(records=(*before.records, record), begun=begun)
    return found


async def links(graph: Graph, names: Sequence[LinkName]) -> dict[str, Stored]:
    """All records of some links, by their ids; those that are not there are left out."""
    by_ends = [{"id": n.id, "source_id": n.ends[0], "target_id": n.ends[1]} for n in names if n.ends]
    by_handle = [{"id": n.id, "handle": n.handle} for n in names if not n.ends]
    found: list[Row] = []
    if by_ends:
        found += await graph.read(cypher.LINKS_OF, links=by_ends)
    if by_handle:
        found += await graph.read(cypher.NAMED_LINKS_OF, links=by_handle)
    stored: dict[str, Stored] = {}
    for row in found:
        record = rows.record_of_link(row[5:])
        before = stored.get(record.id, Stored((), {}, None, 0, ends=Ends(row[2], row[3])))
        stored[record.id] = before._replace(
            records=(*before.records, record),
            begun={**before.begun, record.version: row[0]},
            carried=record.version if row[1] in (True, "true") else before.carried,
            last_version=max(before.last_version, record.version, row[4] or 0),
        )
    return stored


async def write(graph: Graph, seen: Seen, writes: Writes) -> int | None:
    """Carry all of it out, or nothing: None when something is no more as it was seen.

    Returns by how many microseconds the transaction came later than foreseen. Raises Conflict when another
    writer stored one of its ids, or applied one of its commands, at the same time.
    """
    values = {
        "at": writes.at,
        "open": END_OF_TIME,
        "commands": [receipt["command_id"] for receipt in writes.receipts],
        "ids": seen.ids,
        "seen": seen.memories,
        "held": seen.links,
        "handles": seen.handles,
        "new": writes.new,
        "past": writes.past,
        "closing": writes.closing,
        "carried": writes.carried,
        "moved": writes.moved,
        "touched": writes.touched,
        "withdrawn": writes.withdrawn,
        "restored": writes.restored,
        "tagged": writes.tagged,
        "links": writes.links,
        "receipts": [dict(receipt) for receipt in writes.receipts],
        "pending_until": writes.pending_until,
    }
    lists = frozenset(name for name, value in values.items() if isinstance(value, list) and value)
    once = ExactlyOnceWrite(graph, cypher.transaction(lists), values)
    try:
        reply = await once.send([receipt["command_id"] for receipt in writes.receipts])
    finally:
        writes.sent_again = once.again
    return int(reply[0][0]) if reply else None
