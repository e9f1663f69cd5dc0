"""Values of a transaction: the records it reads, the state it expects, and the rows it writes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from schemas.temporal import Instant
from substrate.bitemporal import Record


class RecordSelection(NamedTuple):
    """Which records of a memory to read, beside the one that it carries. `every`: all records. Otherwise: the open
    records if the carried one begins after `since`; all records if none is open, unless `since` is END_OF_TIME."""

    since: Instant
    every: bool = False


class LinkEnds(NamedTuple):
    """The ids of the memories that a link joins."""

    source_id: str
    target_id: str


class StoredRecords(NamedTuple):
    """The stored records of one memory or link.

    `fingerprints`: by version, the fingerprint of the command that created the record. `carried`: the version that
    the identity carries, which is the open record that holds last; for a retracted memory the last one that it
    carried, for a retracted link None. `last_version`: the highest version ever used. `touched`: the last change
    of a memory. `ends`: the ends of a link.
    """

    records: tuple[Record, ...]
    fingerprints: Mapping[int, int | None]
    carried: int | None
    last_version: int
    touched: Instant = 0
    ends: LinkEnds | None = None


@dataclass(slots=True)
class ExpectedState:
    """The state that the graph must still have; otherwise the transaction changes nothing.

    `ids`: all memories that were searched. `memories`: id, carried version and last change of those that existed.
    `links`: ends and versions of links. `handles`: those that no link may have.
    """

    ids: list[str] = field(default_factory=list)
    memories: list[list[Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)


@dataclass(slots=True)
class TransactionRows:
    """The rows of a transaction, by the part of the statement that writes them (`cypher.transaction`).

    `at`: the planned transaction time. If the clock of the graph is ahead, all moments from `at` on become later
    by the difference. `sent_again`: the statement was sent more than once, because the connection was lost.
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
    changes_until: Instant = 0
    sent_again: bool = False
