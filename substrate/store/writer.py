"""Writes of batches: one atomic statement each. What was stored and what existed comes back as marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.errors import Conflict
from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.pool import Row
from substrate.cypher import write as cypher
from substrate.cypher.fragments import RECEIPT_COLUMNS
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.exactly_once import ExactlyOnceWrite
from substrate.store.halves import in_halves
from substrate.store.rows import Kept

NODES_PER_STATEMENT = 50
"""A commit holds a lock that stops every graph; an indexed vector costs it about 0.6 ms (ENGINE, rule 11)."""
LINKS_PER_STATEMENT = 500
IN_COMPANY: Final = 4
"""So many times shorter is a statement while others ask or write: theirs come between."""

_MARKS = 9
_RECEIPT_END = _MARKS + len(RECEIPT_COLUMNS)


class Mark(NamedTuple):
    """What a row of a write found: `new` when it was stored just now, else what existed.

    `at` is the transaction time of the statement. `kept` is the receipt of an earlier command with the row's
    command id. `gone`: how many closed records the link has.
    """

    id: str
    new: bool
    at: Instant
    fingerprint: int | None
    version: int
    valid_at: int | None
    invalid_at: int | None
    created_at: int | None
    expired_at: int | None
    kept: Kept | None = None
    has_source: bool = True
    has_target: bool = True
    gone: int = 0


def _mark(row: Row) -> Mark:
    kept = Kept.of(row[_MARKS:_RECEIPT_END])
    mark = Mark(str(row[0]), row[1] == 1, *row[2:_MARKS])._replace(kept=kept)
    if len(row) == _RECEIPT_END:
        return mark
    source, target, gone = row[_RECEIPT_END:]
    return mark._replace(has_source=source == "true", has_target=target == "true", gone=gone)


class Batch(NamedTuple):
    """Rows for one statement, each id once, and the moment of their writing.

    `whole` is the receipt of one command of which all rows are parts; without it each row names its own.
    """

    rows: Sequence[Mapping[str, Any]]
    at: Instant
    whole: Mapping[str, Any] | None = None

    @property
    def command_ids(self) -> list[str]:
        """The ids under which receipts are kept."""
        own = [row["receipt"] for row in self.rows if row["receipt"] is not None]
        return own if self.whole is None else [self.whole["command_id"]]


async def _write(graph: Graph, query: Query, batch: Batch) -> list[Mark]:
    """The marks of the rows. A whole's receipt is kept with its first part, and stops none of its rows."""
    again = False
    most = NODES_PER_STATEMENT if query is cypher.REMEMBER else LINKS_PER_STATEMENT

    async def send(rows: Sequence[Mapping[str, Any]]) -> list[Mark]:
        nonlocal again
        part = batch._replace(rows=rows)
        once = ExactlyOnceWrite(graph, query, batch_values(part, query.name), again=again)
        try:
            marks = in_order(await _sent(once, part), part)
        finally:
            again = once.again
        return [_as_sent(*one, batch.at) for one in zip(marks, rows, strict=True)] if again else marks

    return [
        mark
        for rows in _cut(
            batch.rows, lambda: most // IN_COMPANY if graph.connection.writes.others_active() else most
        )
        for part in await in_halves(rows, send)
        for mark in part
    ]


def _cut[Item](rows: Sequence[Item], most: Callable[[], int]) -> Iterator[Sequence[Item]]:
    """The rows in parts, each of as many as may be written by then."""
    begun = 0
    while begun < len(rows):
        ended = begun + most()
        yield rows[begun:ended]
        begun = ended


async def _sent(once: ExactlyOnceWrite, batch: Batch) -> list[Row]:
    try:
        return await once.send(batch.command_ids, divisible=len(batch.rows) > 1)
    except Conflict:
        # Another writer stored one of the ids between our look and our write; now the look finds it.
        return await once.send(batch.command_ids, divisible=len(batch.rows) > 1)


def _as_sent(mark: Mark, row: Mapping[str, Any], at: Instant) -> Mark:
    """The mark of a row sent again after a lost connection: new when the first sending had stored it.

    It has then the same content, and a time not before that of this batch.
    """
    found, stored_at = mark.fingerprint, mark.created_at
    if mark.kept is not None:
        found, stored_at = mark.kept.fingerprint, mark.kept.created_at
    if mark.new or found != row["fingerprint"] or stored_at is None or stored_at < at:
        return mark
    return mark._replace(new=True, at=stored_at, kept=None)


def batch_values(batch: Batch, command: str) -> dict[str, Any]:
    """The parameters of a statement that writes a batch."""
    whole = [] if batch.whole is None else [dict(batch.whole)]
    last = max(row["nth"] for row in batch.rows)
    values = {"rows": list(batch.rows), "at": batch.at, "last": last, "whole": whole, "open": END_OF_TIME}
    return {**values, "command": command.removesuffix("_named")}


def in_order(reply: Sequence[Row], batch: Batch) -> list[Mark]:
    """The marks in the order of the rows: the engine may answer in another."""
    marks = {str(row[0]): row for row in reply}
    return [_mark(marks[row["id"]]) for row in batch.rows]


async def remember(graph: Graph, batch: Batch) -> list[Mark]:
    """Store new memories, at most `NODES_PER_STATEMENT`; one mark a row, in order."""
    return await _write(graph, cypher.REMEMBER, batch)


async def keep(graph: Graph, receipts: Sequence[Mapping[str, Any]]) -> dict[str, Kept]:
    """Keep receipts of commands that stored nothing else; what is kept of each now, by its id."""
    header = {"receipts": [dict(receipt) for receipt in receipts]}
    return {str(row[0]): Kept(*row) for row in await graph.write(cypher.KEEP, **header)}


async def relate(graph: Graph, batch: Batch) -> list[Mark]:
    """Store new links, at most `LINKS_PER_STATEMENT`; one mark a row, in order.

    All of them either have an id of their own (a `handle`) or the one that their ends give them.
    """
    return await _write(graph, relating(batch), batch)


def relating(batch: Batch) -> Query:
    """The statement that stores these links."""
    return cypher.RELATE if batch.rows[0]["handle"] is None else cypher.RELATE_NAMED
