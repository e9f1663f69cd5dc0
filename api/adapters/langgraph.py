"""LangGraph: its store on a citizen's memory. Needs the extra `consciousness-substrate[langgraph]`.

A put over an item supersedes it, a delete retracts it: what was stays in the citizen's past.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import batched, islice
from typing import Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from api.adapters import langgraph_items as items
from api.adapters.fitting import fit_query
from api.client import Substrate
from schemas.commands import WriteReceipt
from schemas.errors import Conflict, InvalidRequest, NotFound, SubstrateError, of_slug
from schemas.memory import ConsciousnessNode, Level
from schemas.paging import MOST
from schemas.stream import LEVEL_NAMES
from substrate.bitemporal import NOTHING_HOLDS

PUTS_PER_LIST: Final = 50
"""Puts that are stored as a whole: each takes up to two commands of an atomic list."""
MAX_TRIES: Final = 20
MAX_RANKED: Final = 100
"""Items of each kind of search that a query ranks; those behind follow as they were stored."""
_CHANGED_MEANWHILE: Final = ("conflict", "not-found")
"""Problems of a command that came too late: somebody else put or deleted the item since it was looked at."""


class SubstrateStore(BaseStore):
    """`put`, `get`, `search`, `delete` and `list_namespaces` on the memory of `citizen_id`.

    `index` is LangGraph's, of which `fields` count: what of a value its item is found by, all of it unless said.
    `ttl` is LangGraph's too: a time to live is a planned end of the memory, and reading moves it.

    With a query a search is ordered by what matters for it. The hundred best have a score; all others follow,
    without one, as they were stored. Without a query, or with an empty one, all are as they were stored.

    Of a batch the reads come first. Its puts are stored as a whole, fifty at a time, the last of one key; of
    several writers of one key the last wins. Putting what is there already changes nothing.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Substrate,
        citizen_id: str,
        *,
        index: Mapping[str, Any] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._client, self.citizen_id, self.ttl_config = client, citizen_id, ttl
        self._fields: Sequence[str] | None = (index or {}).get("fields")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The result of each operation, in order. Raises the errors of the client, InvalidRequest of a bad one."""
        all_ops = list(ops)
        puts = {(tuple(op.namespace), op.key): op for op in all_ops if isinstance(op, PutOp)}
        wanted = {
            items.memory_id(*place): None if op.value is None else items.item_to_store(op, self._fields)
            for place, op in puts.items()
        }
        results = [self._read(op) for op in all_ops]
        for part in batched(wanted.items(), PUTS_PER_LIST):
            self._put(dict(part))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The result of each operation, in order."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case _:
                return None

    def _get(self, op: GetOp) -> Item | None:
        memory = self._memory(items.memory_id(op.namespace, op.key))
        if memory is None:
            return None
        if op.refresh_ttl:
            self._refresh([memory])
        return Item(**items.item_fields(memory))

    def _memory(self, memory_id: str) -> ConsciousnessNode | None:
        try:
            return self._client.get(memory_id, citizen_id=self.citizen_id)
        except NotFound:
            return None

    def _put(self, wanted: Mapping[str, items.StoredItem | None]) -> None:
        """Make the items so, all of them or none; None is to be gone."""
        for attempt in range(MAX_TRIES):
            now = datetime.now(UTC)
            said = [one for memory_id, kept in wanted.items() for one in self._commands(memory_id, kept, now)]
            if not said or self._stored(said):
                return
            time.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))
        raise Conflict("others keep putting and deleting the same items", remedy="Try again in a moment.")

    def _commands(self, memory_id: str, kept: items.StoredItem | None, now: datetime) -> list[dict[str, Any]]:
        there = self._memory(memory_id)
        if kept is not None:
            return items.commands_to_store(kept, there, now)
        return [] if there is None else [{"command": "retract", "id": memory_id}]

    def _stored(self, said: Sequence[Mapping[str, Any]]) -> bool:
        """Whether all of it was stored; else nothing was, for somebody changed an item since it was looked at."""
        receipts = self._send(said, atomic=True)
        refused = [one for one in receipts if one.status == "refused" and one.problem != "not-applied"]
        for receipt in refused:
            if receipt.problem not in _CHANGED_MEANWHILE and not _is_retracted(receipt):
                raise _refusal_error(receipt)
        return not refused

    def _send(self, said: Sequence[Mapping[str, Any]], *, atomic: bool) -> tuple[WriteReceipt, ...]:
        commands = [{**one, "citizen_id": self.citizen_id} for one in said]
        return self._client.apply(commands, atomic=atomic).receipts

    def _refresh(self, memories: Iterable[ConsciousnessNode]) -> None:
        """Move the planned ends of items that were read; who changed one meanwhile has set its end."""
        now = datetime.now(UTC)
        ends = {memory.node_id: items.refreshed_end(memory, now) for memory in memories}
        said = [
            {"command": "correct", "id": one, "invalid_at": end.isoformat()} for one, end in ends.items() if end
        ]
        if said:
            self._send(said, atomic=False)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.filter or {}
        items.check_filter(wanted)
        page = op.offset + op.limit if not wanted else MOST
        query = fit_query(op.query or "").text
        found = (
            self._ranked(op, query) if query else ((one, None) for one in self._listed(op.namespace_prefix, page))
        )
        fitting = (
            (one, score) for one, score in found if items.passes_filter(items.item_fields(one)["value"], wanted)
        )
        shown = list(islice(fitting, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            self._refresh(one for one, _ in shown)
        return [SearchItem(**items.item_fields(one), score=score) for one, score in shown]

    def _ranked(self, op: SearchOp, query: str) -> Iterator[tuple[ConsciousnessNode, float | None]]:
        """The items of a namespace, those that matter most for the query first."""
        stream = self._client.retrieve(
            citizen_id=self.citizen_id,
            query_text=query,
            query_levels=["N1"],
            max_results_per_level=MAX_RANKED,
            filters={"node_types": [items.ITEM_TYPE], "buckets": [items.bucket_name(op.namespace_prefix)]},
        )
        level = stream.levels[LEVEL_NAMES[Level.N1]]
        best = {one.node_id: one for one in (*level.vector_results, *level.graph_results)}
        scores = {one: memory.consciousness_adjusted_score or 0.0 for one, memory in best.items()}
        for one in sorted(best, key=lambda one: (-scores[one], one)):
            yield best[one], scores[one]
        for memory in self._listed(op.namespace_prefix):
            if memory.node_id not in best:
                yield memory, None

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = tuple(op.match_conditions or ())
        every = {tuple(one.extra["namespace"]) for one in self._listed(items.common_prefix(conditions))}
        cut = sorted({one[: op.max_depth] for one in every if items.matches_namespace(one, conditions)})
        return cut[op.offset : op.offset + op.limit]

    def _listed(self, prefix: Sequence[str], page: int = MOST) -> Iterator[ConsciousnessNode]:
        """The items of a namespace as they were stored, so many with each request."""
        limit = max(1, min(page, MOST))
        asked = {"citizen_id": self.citizen_id, "bucket": items.bucket_name(prefix), "limit": limit}
        while True:
            try:
                found = self._client.list_memories(**asked)
            except NotFound:  # nothing was remembered yet
                return
            yield from found.memories
            if found.next is None:
                return
            asked["cursor"] = found.next


def _is_retracted(receipt: WriteReceipt) -> bool:
    """Whether somebody else withdrew the item, so that nothing of it holds now."""
    return receipt.problem == "invalid-request" and any(NOTHING_HOLDS in fault for fault in receipt.faults)


def _refusal_error(receipt: WriteReceipt) -> SubstrateError:
    """The error for a command that was refused for what it says."""
    kind = of_slug().get(receipt.problem or "", InvalidRequest)
    return kind("; ".join(receipt.faults), faults=receipt.faults)
