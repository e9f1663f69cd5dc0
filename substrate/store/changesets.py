"""Values of a transaction: the records that it reads, the state that it expects, the rows that it writes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from schemas.temporal import Instant
from substrate.bitemporal import Record


class RecordSelection(NamedTuple):
    """Which records of a memory to read beside the one that it carries.

    With `every` all of them. Else the open ones, if the one that it carries begins after `since`. Where none is
    open, all, unless `since` is the end of time.
    """

    since: Instant
    every: bool = False


class LinkEnds(NamedTuple):
    """The ids of the memories that a link joins."""

    source_id: str
    target_id: str


class StoredRecords(NamedTuple):
    """Records of one identity as they are stored.

    `fingerprints` has by version the fingerprint of the command that began the record. `carried` is the version
    that the identity carries: the open record that holds last, or the last one that it carried while one was open;
    None for a link of which none is open. `last_version` is the highest that it ever had. `touched`, of a memory,
    is the moment of its last change. `ends` are those of a link.
    """

    records: tuple[Record, ...]
    fingerprints: Mapping[int, int | None]
    carried: int | None
    last_version: int
    touched: Instant = 0
    ends: LinkEnds | None = None


@dataclass(slots=True)
class ExpectedState:
    """What the statement of a transaction must find again, else it changes nothing.

    `ids` are of all memories that were looked for, `memories` has the id, carried version and last change of
    those that were there. `links` has the ends and versions of links, `handles` are those that no link has.
    """

    ids: list[str] = field(default_factory=list)
    memories: list[list[Any]] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)


@dataclass(slots=True)
class TransactionRows:
    """The rows of a transaction, by the part of the statement that writes them (`cypher.transaction`).

    `at` is the transaction time that is expected; the moments from it on move with the clock of the graph.
    `sent_again`: a connection was lost, so that the statement was sent more than once.
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
