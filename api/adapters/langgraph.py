"""A LangGraph store on a citizen's memory. Needs the extra `consciousness-substrate[langgraph]`.

Putting a key again supersedes its item, deleting it retracts it: old values stay in the citizen's past.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import batched, chain, islice
from typing import Any, Final

from api.adapters import langgraph_items as items
from api.adapters.fitting import fit_query
from api.client import Substrate
from schemas.commands import WriteReceipt
from schemas.errors import Conflict, InvalidRequest, NotFound, errors_by_slug
from schemas.memory import ConsciousnessNode, Level
from schemas.paging import MOST
from schemas.stream import LEVEL_NAMES
from substrate.bitemporal import NOTHING_HOLDS
from substrate.inference.providers import missing
from substrate_client._calls import MemoryListRequestFields

try:
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
except ModuleNotFoundError as error:
    raise missing("langgraph", error) from error

PUTS_PER_LIST: Final = 50
"""Puts in one atomic list of at most 100 commands: a put needs one or two."""
MAX_TRIES: Final = 20
MAX_RANKED: Final = 100
"""Items that a query ranks; all others follow in the order in which they were stored."""
_CHANGED_MEANWHILE: Final = ("conflict", "not-found")
"""Problems of a command that came too late: another writer put or deleted the item since it was read."""


class SubstrateStore(BaseStore):
    """`put`, `get`, `search`, `delete` and `list_namespaces` on the memory of `citizen_id`.

    Of LangGraph's `index` only `fields` is used: the parts of a value to index, by default all. A time to live
    (`ttl`) becomes the planned end of the memory; reading the item moves it.

    A search with a query returns the hundred best items first, with scores, then all others without a score, in
    the order in which they were stored. Without a query all items come in that order.

    In a batch the reads run first. Puts are stored in atomic lists of fifty; of several puts to one key only the
    last is stored. When several writers put one key, the last one wins. Putting an unchanged value writes nothing.
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
        """Run the operations, and return their results in order.

        Raises InvalidRequest for an invalid operation, and the errors of the client.
        """
        all_ops = list(ops)
        puts = {(tuple(op.namespace), op.key): op for op in all_ops if isinstance(op, PutOp)}
        wanted = {
            items.memory_id(*place): None if op.value is None else items.item_to_store(op, self._fields)
            for place, op in puts.items()
        }
        results = list(map(self._read, all_ops))
        for part in batched(wanted.items(), PUTS_PER_LIST):
            self._put(dict(part))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run `batch` in a thread."""
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

    def _whole(self, memory: ConsciousnessNode) -> ConsciousnessNode:
        """The memory with its whole text, of which a search shows one passage when it is long."""
        return memory if memory.passage is None else self._memory(memory.node_id) or memory

    def _put(self, wanted: Mapping[str, items.StoredItem | None]) -> None:
        """Store these items and delete those that are None, all of them or none.

        Raises Conflict when other writers keep changing them.
        """
        for attempt in range(MAX_TRIES):
            now = datetime.now(UTC)
            lists = [self._commands(memory_id, item, now) for memory_id, item in wanted.items()]
            commands = list(chain.from_iterable(lists))
            if not commands or self._try_to_store(commands):
                return
            time.sleep(random.uniform(0, 0.002 * 2 ** min(attempt, 6)))
        raise Conflict("other writers keep changing the same items", remedy="Try again in a moment.")

    def _commands(self, memory_id: str, item: items.StoredItem | None, now: datetime) -> list[dict[str, Any]]:
        stored = self._memory(memory_id)
        if item is not None:
            return items.commands_to_store(item, stored, now)
        return [] if stored is None else [{"command": "retract", "id": memory_id}]

    def _try_to_store(self, commands: Sequence[Mapping[str, Any]]) -> bool:
        """Store all commands. False when another writer changed an item meanwhile, and nothing was stored."""
        receipts = self._send(commands, atomic=True)
        refused = [
            receipt for receipt in receipts if receipt.status == "refused" and receipt.problem != "not-applied"
        ]
        for receipt in refused:
            if receipt.problem not in _CHANGED_MEANWHILE and not _is_retracted(receipt):
                kind = errors_by_slug().get(receipt.problem or "", InvalidRequest)
                raise kind("; ".join(receipt.faults), faults=receipt.faults)
        return not refused

    def _send(self, commands: Sequence[Mapping[str, Any]], *, atomic: bool) -> tuple[WriteReceipt, ...]:
        owned = [{**command, "citizen_id": self.citizen_id} for command in commands]
        return self._client.apply(owned, atomic=atomic).receipts

    def _refresh(self, memories: Iterable[ConsciousnessNode]) -> None:
        """Move the planned ends of items that were read, unless another writer has just set them."""
        now = datetime.now(UTC)
        ends = {memory.node_id: items.refreshed_end(memory, now) for memory in memories}
        commands = [
            {"command": "correct", "id": memory_id, "invalid_at": end.isoformat()}
            for memory_id, end in ends.items()
            if end
        ]
        if commands:
            self._send(commands, atomic=False)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        wanted = op.filter or {}
        items.check_filter(wanted)
        page = op.offset + op.limit if not wanted else MOST
        query = fit_query(op.query or "").text
        unranked = ((memory, None) for memory in self._listed(op.namespace_prefix, page))
        candidates = self._ranked(op, query) if query else unranked
        whole = ((self._whole(memory), score) for memory, score in candidates)
        matching = (pair for pair in whole if items.passes_filter(items.item_fields(pair[0])["value"], wanted))
        shown = list(islice(matching, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            self._refresh(memory for memory, _ in shown)
        return [SearchItem(**items.item_fields(memory), score=score) for memory, score in shown]

    def _ranked(self, op: SearchOp, query: str) -> Iterator[tuple[ConsciousnessNode, float | None]]:
        """The items of a namespace with their scores, best first; those without a score last."""
        stream = self._client.retrieve(
            citizen_id=self.citizen_id,
            query_text=query,
            query_levels=["N1"],
            max_results_per_level=MAX_RANKED,
            parts=["levels"],
            filters={"node_types": [items.ITEM_TYPE], "buckets": [items.bucket_name(op.namespace_prefix)]},
        )
        level = stream.levels[LEVEL_NAMES[Level.N1]]
        best = {memory.node_id: memory for memory in (*level.vector_results, *level.graph_results)}
        scores = {node_id: memory.consciousness_adjusted_score or 0.0 for node_id, memory in best.items()}
        for node_id in sorted(best, key=lambda node_id: (-scores[node_id], node_id)):
            yield best[node_id], scores[node_id]
        for memory in self._listed(op.namespace_prefix):
            if memory.node_id not in best:
                yield memory, None

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = tuple(op.match_conditions or ())
        memories = self._listed(items.required_prefix(conditions))
        namespaces = {tuple(memory.extra["namespace"]) for memory in memories}
        matching = (names for names in namespaces if items.matches_namespace(names, conditions))
        cut = sorted({names[: op.max_depth] for names in matching})
        return cut[op.offset : op.offset + op.limit]

    def _listed(self, prefix: Sequence[str], page: int = MOST) -> Iterator[ConsciousnessNode]:
        """The items of a namespace in the order in which they were stored, `page` of them in each request."""
        limit = max(1, min(page, MOST))
        arguments: MemoryListRequestFields = {
            "citizen_id": self.citizen_id,
            "bucket": items.bucket_name(prefix),
            "limit": limit,
        }
        while True:
            try:
                answer = self._client.list_memories(**arguments)
            except NotFound:  # nothing was remembered yet
                return
            yield from answer.memories
            if answer.next is None:
                return
            arguments["cursor"] = answer.next


def _is_retracted(receipt: WriteReceipt) -> bool:
    """True when another writer retracted the item, so that it has no valid record now."""
    return receipt.problem == "invalid-request" and any(NOTHING_HOLDS in fault for fault in receipt.faults)
