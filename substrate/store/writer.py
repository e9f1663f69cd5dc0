"""Writes new memories and links, a batch in one atomic statement, and returns the outcome of each row.

Every statement takes its transaction time from the clock of the graph, which never goes back. It stores a
`Receipt` with a unique id for each command, so that a command is applied only once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from operator import itemgetter
from typing import Any, Final, NamedTuple

import orjson

from schemas.base import without_nulls
from schemas.errors import Conflict, StoreTimeout, Unavailable
from schemas.temporal import END_OF_TIME, Instant
from substrate.bitemporal import changes_until
from substrate.connection.errors import ConnectionLost, patience_s, patient
from substrate.connection.kept import WORDS, GraphState
from substrate.connection.pool import BatchSize, Row
from substrate.cypher.fragments import (
    CLOCK,
    LINK_COLUMNS,
    LINK_UPKEEP,
    NODE_COLUMNS,
    NODE_UPKEEP,
    NOTE_CHANGES,
    RECEIPT_COLUMNS,
    assignments,
    columns_of,
    note_lately,
)
from substrate.cypher.query import Query
from substrate.graphs import indexes
from substrate.graphs.filling import withdraw
from substrate.graphs.graph import Graph
from substrate.likeness import port as likeness
from substrate.likeness.elements import Vector
from substrate.store.rows import RowOutcome, StoredReceipt

NODES_PER_STATEMENT: Final = 50
"""A commit locks every graph, for about 0.6 ms per indexed vector (ENGINE, rule 11)."""
LINKS_PER_STATEMENT: Final = 500
TOGETHER: Final = 12
"""So many memories and links are few: they are written in one statement, of which most of the cost is its own."""
IN_COMPANY: Final = 4
"""While others read or write, a statement has this many times fewer rows, so that theirs need not wait long."""

type Company = Callable[[], bool]
"""Called before each statement; returns True while others read or write."""

_TRACE: Final = "{embedding: vecf32(r.embedding), emotion: vecf32(r.emotion), digest: r.digest}"

_BEGIN: Final = (
    f"{CLOCK} WITH m, at, coalesce(m.clock, 0) AS was FOREACH (w IN $whole | "
    "MERGE (c:Receipt {command_id: w.command_id}) "
    "ON CREATE SET c += w, c.created_at = at, c.moved_at = at + $last, c.parts = 1 "
    "ON MATCH SET c.moved_at = at + $last, c.parts = coalesce(c.parts, 1) + 1) "
    f"WITH m, at, was {NOTE_CHANGES}"
    "WITH m, at, was UNWIND $rows AS r OPTIONAL MATCH (c:Receipt {command_id: r.receipt}) "
)
"""`whole`: the receipts of commands that have the rows as parts, or an empty list; each has the time `moved_at` of
the last statement for it, and their number as `parts`. `r.receipt`: the id of the
row's own receipt. `r.nth`: transaction time of the row, in microseconds after the first row. `last`: the highest
`nth`. `changes_until`: the last moment at which a row begins or ends to hold; 0 where all began by `at`."""

_FOUND: Final = (
    "o.fingerprint AS fingerprint, coalesce(o.version, 1) AS version, "
    "o.valid_at AS valid_at, o.invalid_at AS invalid_at, o.created_at AS created_at, o.expired_at AS expired_at "
)

_ANSWERED: Final = (
    "(_ IN CASE WHEN c IS NULL AND r.receipt IS NOT NULL AND (size(new) = 1 OR "
    "(r.again AND version = 1 AND fingerprint = r.fingerprint AND expired_at = $open)) THEN [1] ELSE [] END | "
    "CREATE (:Receipt {command_id: r.receipt, fingerprint: r.fingerprint, command: intern($command), id: r.id, "
    "version: version, valid_at: coalesce(valid_at, r.valid_at), invalid_at: coalesce(invalid_at, r.invalid_at), "
    "created_at: coalesce(created_at, at + r.nth), warnings: intern(r.warnings), "
    "repeats: CASE WHEN size(new) = 1 THEN null ELSE 1 END})) "
)
"""Stores the receipt of a row that is new, or that repeats a stored record and has `r.again`."""

_MET: Final = "r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at, "
_OUTCOME: Final = f"{_MET}{columns_of('c', RECEIPT_COLUMNS)}"
_MOVED: Final = (
    ", was, coalesce(m.clock, 0), coalesce(m.shifts, 0), coalesce(m.created_at, 0), coalesce(m.generation, 0)"
)
"""Ends each row: the clock of the graph before the statement, and the state of the graph after it."""

STORE_RECEIPTS: Final = Query(
    "keep",
    "UNWIND $receipts AS r MERGE (c:Receipt {command_id: r.command_id}) ON CREATE SET c += r "
    f"RETURN {columns_of('c', RECEIPT_COLUMNS)}",
)
"""Stores receipts of commands that wrote no record; a command that has a receipt keeps it."""
TELL: Final = Query("tell", "MATCH (c:Receipt {command_id: $command_id}) SET c.told = $told, c.told_of = $ids")
"""Keeps what the first answer said beside the record, and of which memories and links."""

_REMEMBER: Final = (
    f"{_BEGIN} OPTIONAL MATCH (o:ConsciousnessNode {{id: r.id}}) "
    f"WITH m, at, was, r, c, CASE WHEN o IS NULL AND c IS NULL THEN [1] ELSE [] END AS new, {_FOUND} "
    "FOREACH (_ IN new | "
    f"CREATE (n:ConsciousnessNode {{{assignments('r', NODE_COLUMNS + NODE_UPKEEP)}}})"
    f"-[:HAS_TRACE]->(:Trace {_TRACE}) SET {note_lately('was', 'at + $last')}, m.clock = at + $last "
    "FOREACH (tag IN r.tag_names | MERGE (t:Tag {name: tag}) CREATE (n)-[:TAGGED]->(t))) "
    f"FOREACH {_ANSWERED} "
)
REMEMBER: Final = Query("remember", f"{_REMEMBER}RETURN {_OUTCOME}{_MOVED}")
"""Creates memories. A row whose id or command is stored already changes nothing."""

_RELATE_ENDS: Final = (
    "OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id}) "
    "OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id}) "
    "WITH m, at, was, r, c, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target "
)
_RELATE_NEW: Final = (
    "CASE WHEN has_source AND has_target AND o IS NULL AND c IS NULL AND gone = 0 THEN [1] ELSE [] END AS new, "
    f"{_FOUND} FOREACH (_ IN new | "
    f"CREATE (a)-[:LINK {{handle: r.handle, {assignments('r', LINK_COLUMNS + LINK_UPKEEP)}}}]->(b) "
    f"SET {note_lately('was', 'at + $last')}, m.clock = at + $last) "
)
_RELATE: Final = (
    f"{_RELATE_ENDS} OPTIONAL MATCH (a)-[o:LINK {{id: r.id}}]->(b) "
    "WITH m, at, was, r, c, a, b, has_source, has_target, o, "
    "size([(a)-[q:PAST_LINK {id: r.id}]->(b) | 1]) AS gone "
    f"WITH m, at, was, r, c, a, b, has_source, has_target, gone, {_RELATE_NEW}"
)
_RELATED: Final = f"FOREACH {_ANSWERED} RETURN {_OUTCOME}, has_source, has_target, gone{_MOVED}"

RELATE: Final = Query("relate", f"{_BEGIN} {_RELATE}{_RELATED}")
"""Creates links between open memories; the id of each link follows from its ends and type."""

_NO_RECEIPT: Final = ", ".join(["null"] * len(RECEIPT_COLUMNS))
_AS_SENT: Final = "size(new) = 1 OR (fingerprint = r.fingerprint AND version = 1)"
_READ_OUTCOME: Final = ", ".join(f"o[{place}]" for place in range(12 + len(RECEIPT_COLUMNS)))
REMEMBER_LINKED: Final = Query(
    "remember_linked",
    f"{_REMEMBER}WITH m, at, was, collect([{_OUTCOME}, true, true, 0, {_AS_SENT}]) AS stored "
    "UNWIND CASE WHEN all(o IN stored WHERE o[23]) THEN $links ELSE [null] END AS r "
    f"WITH m, at, was, r, null AS c, stored {_RELATE.replace('was, r, c,', 'was, r, c, stored,')}"
    f"WITH m, was, stored, collect([{_MET}{_NO_RECEIPT}, has_source, has_target, gone]) AS linked "
    f"UNWIND stored + linked AS o RETURN {_READ_OUTCOME}{_MOVED}",
)
"""Creates memories, then `links` without receipts, if all of the memories are now as they were sent."""

RELATE_NAMED: Final = Query(
    "relate_named",
    f"{_BEGIN} {_RELATE_ENDS} OPTIONAL MATCH ()-[o:LINK {{handle: r.handle}}]->() WHERE o.id = r.id "
    "WITH m, at, was, r, c, a, b, has_source, has_target, o "
    "CALL { WITH r OPTIONAL MATCH ()-[q:PAST_LINK {handle: r.handle}]->() WHERE q.id = r.id "
    "RETURN count(q) AS gone } "
    f"WITH m, at, was, r, c, a, b, has_source, has_target, gone, {_RELATE_NEW}{_RELATED}",
)
"""Creates links with ids that the sender gave. An id that another link has or had is not used again."""


class RowBatch(NamedTuple):
    """Rows for one statement, each id once, and the moment `at` from which they are known. `whole`: the receipts
    of the commands that have all rows as parts; None when each row has its own receipt. `links`: of few memories,
    without receipts; they are written if all of these are as they were sent, and else left to the caller."""

    rows: Sequence[Mapping[str, Any]]
    at: Instant
    whole: Sequence[Mapping[str, Any]] | None = None
    links: Sequence[Mapping[str, Any]] = ()


async def remember(graph: Graph, batch: RowBatch) -> list[RowOutcome]:
    """Store new memories in statements of at most `NODES_PER_STATEMENT` rows. Returns one outcome a row, in order;
    those of the links of the batch follow, if they were written with them.

    A row whose id or command is stored already changes nothing. Each statement is atomic; all together are not.
    Raises WriteUnconfirmed when the connection was lost and the outcome is unknown, StoreTimeout when not even one
    row can be written within the deadline, and what `Graph.write` raises. Earlier statements then stay written.
    """
    return await _write(graph, REMEMBER, batch)


async def relate(graph: Graph, batch: RowBatch) -> list[RowOutcome]:
    """Store new links in statements of at most `LINKS_PER_STATEMENT` rows. Returns one outcome a row, in order.
    Either all rows have a `handle`, because the sender gave their ids, or none has. Raises as `remember` does."""
    return await _write(graph, RELATE if batch.rows[0]["handle"] is None else RELATE_NAMED, batch)


async def store_receipts(graph: Graph, receipts: Sequence[Mapping[str, Any]]) -> dict[str, StoredReceipt]:
    """Store receipts of commands that wrote no record. Returns the stored receipts by command id. A command that
    has a receipt already keeps it."""
    rows = await graph.write(STORE_RECEIPTS, receipts=list(map(dict, receipts)))
    return {str(row[0]): StoredReceipt(*row) for row in rows}


async def tell_receipt(graph: Graph, command_id: str, told: str, ids: Sequence[str]) -> None:
    """Keep with a receipt what its first answer said beside the record (JSON), and the `ids` that this names."""
    await graph.write(TELL, command_id=command_id, told=told, ids=list(ids))


async def _write(graph: Graph, query: Query, batch: RowBatch) -> list[RowOutcome]:
    """Send the rows in parts. The receipts `batch.whole` are stored with the first part."""
    again = False
    most = NODES_PER_STATEMENT if query is REMEMBER else LINKS_PER_STATEMENT

    async def send(rows: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]] = ()) -> list[RowOutcome]:
        nonlocal again
        rows = likeness.with_digests(rows) if query is REMEMBER else rows
        vectors = likeness.vectors_of(rows) if query is REMEMBER else ()
        # Times are counted from its first row: the clock of the graph may stand there already.
        first = rows[0]["nth"]
        counted = [{**row, "nth": row["nth"] - first} for row in rows]
        part, every = batch._replace(rows=counted, at=batch.at + first), (*counted, *links)
        related = links if query is REMEMBER else rows
        changed = {end for row in related for end in (row["source_id"], row["target_id"])}
        changed |= {WORDS, *(row["id"] for row in rows)} if query is REMEMBER else set()
        parameters = {
            "rows": list(map(without_nulls, part.rows)),
            "at": part.at,
            "lately": note_of(changed),
            "links": list(map(without_nulls, links)),
            "last": max(row["nth"] for row in every),
            "changes_until": max(changes_until(row["valid_at"], row["invalid_at"], part.at) for row in every),
            "whole": list(map(dict, part.whole or ())),
            "open": END_OF_TIME,
            "command": query.name.removesuffix("_named"),
        }
        receipts = list(filter(None, map(itemgetter("receipt"), rows)))
        command_ids = receipts if part.whole is None else list(map(itemgetter("command_id"), part.whole))
        statement = REMEMBER_LINKED if links else query
        once = ExactlyOnceWrite(graph, statement, parameters, again=again, vectors=vectors)
        try:
            try:
                reply = await once.send(command_ids, divisible=len(every) > 1)
            except Conflict:
                # Another writer stored one of the ids after this one looked; a second attempt finds it.
                reply = await once.send(command_ids, divisible=len(every) > 1)
            answered = [_outcome(row[:-_MOVED_COLUMNS]) for row in reply]
            by_id = {outcome.id: outcome for outcome in answered}
            # The engine may return them in another order, and links that it did not write not at all.
            outcomes = [by_id[row["id"]] for row in rows]
            outcomes += [by_id[row["id"]] for row in links if row["id"] in by_id]
        finally:
            again = once.again
        if not again and reply:
            was, *state = map(int, reply[0][-_MOVED_COLUMNS:])
            after = GraphState(*state)
            # A new memory has no links yet, but its words are counted; a new link is one of both its ends.
            for kept in (graph.connection.kept, graph.connection.columns):
                kept.carry(graph.name, after._replace(clock=was), after, changed)
        elif again:
            outcomes = [_first_sent(*pair, batch.at) for pair in zip(outcomes, every, strict=False)]
        old = {outcome.id for outcome in outcomes if not outcome.new}
        await withdraw(graph, [vector for vector in vectors if vector.owner in old])
        return outcomes

    if batch.links:
        with suppress(StoreTimeout), patient(0.0):
            return await send(batch.rows, batch.links)
    size = graph.connection.batch_sizes.of(query.name, most)
    parts = await in_batches(batch.rows, send, size, graph.connection.writes.others_active)
    return [outcome for part in parts for outcome in part]


_MOVED_COLUMNS: Final = 5


def _first_sent(outcome: RowOutcome, row: Mapping[str, Any], at: Instant) -> RowOutcome:
    """Correct the outcome of a row that was sent again after a lost connection. The row is new if its first
    sending stored it: the stored record has the same content and is not older than the batch, `at`."""
    fingerprint, stored_at = outcome.fingerprint, outcome.created_at
    if outcome.receipt is not None:
        fingerprint, stored_at = outcome.receipt.fingerprint, outcome.receipt.created_at
    if outcome.new or fingerprint != row["fingerprint"] or stored_at is None or stored_at < at:
        return outcome
    return outcome._replace(new=True, at=stored_at, receipt=None)


_FOUND_COLUMNS: Final = 9
_RECEIPT_END: Final = _FOUND_COLUMNS + len(RECEIPT_COLUMNS)


def _outcome(row: Row) -> RowOutcome:
    """The outcome from the columns of `_OUTCOME`; a link, or what is written with links, has three more."""
    receipt = StoredReceipt.from_row(row[_FOUND_COLUMNS:_RECEIPT_END])
    outcome = RowOutcome(str(row[0]), row[1] == 1, *row[2:_FOUND_COLUMNS])._replace(receipt=receipt)
    if len(row) == _RECEIPT_END:
        return outcome
    source, target, past_links = row[_RECEIPT_END:]
    return outcome._replace(has_source=source == "true", has_target=target == "true", past_links=past_links)


async def in_batches[Row, Answer](
    rows: Sequence[Row], send: Callable[[Sequence[Row]], Awaitable[Answer]], size: BatchSize, company: Company
) -> list[Answer]:
    """Return the results of `send` for the rows, in order: one for each statement.

    A statement has at most `size.size` rows. One that runs past its deadline changes nothing, so its rows are
    sent again in smaller statements, down to single rows; only for a single row a load has patience. Raises
    StoreTimeout when a single row takes too long; the rows before it are written then.
    """
    answers: list[Answer] = []
    start = 0
    while start < len(rows):
        most = min(size.size, size.most // IN_COMPANY) if company() else size.size
        part = rows[start : start + max(1, most)]
        begun = time.monotonic()
        try:
            with nullcontext() if len(part) == 1 else patient(0.0):
                answers.append(await send(part))
        except StoreTimeout as error:
            size.note_late(len(part))
            if len(part) == 1:
                raise StoreTimeout(
                    f"the engine is too busy to write even a single row within its deadline: {error.detail}",
                    remedy="Send the same again when it is less busy: what is stored already is not stored twice.",
                ) from error
            continue
        size.note_written(len(part), time.monotonic() - begun)
        start += len(part)
    return answers


RETRY_FOR_S: Final = 3.0
RETRY_EVERY_S: Final = 0.05


class WriteUnconfirmed(Unavailable):
    """The connection was lost during a write, and it is not known whether the write was applied."""


MOST_CHANGED: Final = 16
"""A write that changed more does not say what."""


def note_of(changed: Collection[str]) -> str | None:
    """What a write notes of what it changed, for the processes that keep what they read."""
    return None if len(changed) > MOST_CHANGED else orjson.dumps(sorted(changed)).decode()


class ExactlyOnceWrite:
    """A statement that reads the receipts of its commands first, and applies no command that has one.

    So it can be sent again after a lost connection: in one atomic step it either finds the receipts of the first
    sending, or applies the commands. `again` is True when it was sent before, alone or in a larger statement.
    """

    def __init__(
        self,
        graph: Graph,
        query: Query,
        values: Mapping[str, Any],
        *,
        again: bool = False,
        vectors: Sequence[Vector] = (),
    ) -> None:
        """`vectors`: those of its records, which are kept before it; keeping them again changes nothing."""
        self.again = again
        self._vectors = vectors
        self._graph = graph
        self._query = query
        self._values = values

    async def send(self, command_ids: Sequence[str], *, divisible: bool = False) -> list[Row]:
        """Send the statement until the engine answers, and return its rows. The error names `command_ids`.

        Raises WriteUnconfirmed when the connection was lost and no new one could be made for three seconds, or for
        as long as a load has patience, else as `Graph.write` does. A `divisible` statement that runs past its
        deadline is not sent again: it raises StoreTimeout, also after a lost connection.
        """
        give_up = time.monotonic() + max(RETRY_FOR_S, patience_s())
        while True:
            try:
                if self.again:
                    await indexes.wait_operational(self._graph)
                return await self._graph.write_after(self._vectors, self._query, **self._values)
            except Unavailable as error:
                if divisible and isinstance(error, StoreTimeout):
                    raise
                if not self.again and not isinstance(error, ConnectionLost):
                    raise
                self.again = True
                if time.monotonic() > give_up:
                    raise WriteUnconfirmed(
                        "the engine stopped answering during the write; "
                        "it is not known yet whether this was stored",
                        remedy="Ask GET /v1/receipts/{command_id}, or send it again with the same command_id: "
                        "it is applied once.",
                        faults=[f"command_id {command_id}: not known" for command_id in command_ids],
                    ) from error
                await asyncio.sleep(RETRY_EVERY_S)
