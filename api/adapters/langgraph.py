"""LangGraph: its store on a citizen's memory. Needs the extra `consciousness-substrate[langgraph]`.

An item is a memory of the type `LangGraphItem`, with its value as JSON in the description. A put over an item
supersedes it, a delete retracts it: what was stays in the citizen's past.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

import orjson
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from api.client import Substrate
from schemas.errors import Conflict, InvalidRequest, NotFound
from schemas.memory import ConsciousnessNode

ITEM: Final = "LangGraphItem"
PAGE: Final = 500
BRIEF: Final = 200
"""Characters of a value that are its memory's name, by which it is found beside its description."""


class SubstrateStore(BaseStore):
    """`put`, `get`, `search`, `delete` and `list_namespaces` on the memory of `citizen_id`.

    With a query a search is ordered by what matters for it; without one as the items were stored. A filter names
    fields of the value and what they must be; other operators than equality are refused. Nothing has a time
    to live. Both times of an item are those of its present record.
    """

    def __init__(self, client: Substrate, citizen_id: str) -> None:
        self._client, self._citizen_id = client, citizen_id

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The result of each operation, in order."""
        return [self._one(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The result of each operation, in order."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _one(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op.namespace, op.key)
            case PutOp():
                self._put(op)
                return None
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)

    def _get(self, namespace: tuple[str, ...], key: str) -> Item | None:
        try:
            memory = self._client.get(_id(namespace, key), citizen_id=self._citizen_id)
        except NotFound:
            return None
        return Item(**_fields(memory))

    def _put(self, op: PutOp) -> None:
        if op.ttl is not None:
            raise InvalidRequest("ttl: nothing here has a time to live; leave it out")
        of = {"citizen_id": self._citizen_id, "id": _id(op.namespace, op.key)}
        there = self._get(op.namespace, op.key) is not None
        if op.value is None:
            if there:
                self._client.retract(**of)
            return
        text = orjson.dumps(op.value).decode()
        if not there and not self._begin(of, op, text):
            self._client.undo(**of)  # it was deleted: the same id comes back
            there = True
        if there:
            self._client.supersede(**of, description=text)

    def _begin(self, of: dict[str, str], op: PutOp, text: str) -> bool:
        """Whether the item is new; one that was deleted has an id already."""
        name = " ".join((*op.namespace, op.key))[:BRIEF]
        kept = {"namespace": list(op.namespace), "key": op.key}
        try:
            self._client.remember(**of, node_type=ITEM, name=name, description=text, extra=kept)
        except Conflict:
            return False
        return True

    def _search(self, op: SearchOp) -> list[SearchItem]:
        fitting = (
            SearchItem(**_fields(memory), score=memory.consciousness_adjusted_score)
            for memory in (self._all() if op.query is None else self._found(op.query))
        )
        wanted = (one for one in fitting if _within(one, op.namespace_prefix) and _passes(one, op.filter or {}))
        return list(islice(wanted, op.offset, op.offset + op.limit))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {_fields(memory)["namespace"] for memory in self._all()}
        fitting = (
            one for one in every if all(_matches(one, condition) for condition in op.match_conditions or ())
        )
        cut = sorted({one[: op.max_depth] for one in fitting})
        return cut[op.offset : op.offset + op.limit]

    def _found(self, query: str) -> Iterator[ConsciousnessNode]:
        """The items among the hundred memories that matter most for the query."""
        stream = self._client.retrieve(
            citizen_id=self._citizen_id, query_text=query, query_levels=["N1"], max_results_per_level=100
        )
        return (memory for memory in stream.activation_tiers.ordered() if memory.node_type == ITEM)

    def _all(self) -> Iterator[ConsciousnessNode]:
        cursor: str | None = None
        while True:
            try:
                page = self._client.list_memories(
                    citizen_id=self._citizen_id, node_type=ITEM, limit=PAGE, cursor=cursor
                )
            except NotFound:  # nothing was remembered yet
                return
            yield from page.memories
            cursor = page.next
            if cursor is None:
                return


def _id(namespace: tuple[str, ...], key: str) -> str:
    """Namespaces and keys are any text; an id is not."""
    return f"langgraph-{blake2b(orjson.dumps([namespace, key]), digest_size=16).hexdigest()}"


def _fields(memory: ConsciousnessNode) -> dict[str, Any]:
    return {
        "namespace": tuple(memory.extra["namespace"]),
        "key": memory.extra["key"],
        "value": orjson.loads(memory.description),
        "created_at": memory.valid_at,
        "updated_at": memory.created_at,
    }


def _within(item: Item, prefix: tuple[str, ...]) -> bool:
    return item.namespace[: len(prefix)] == tuple(prefix)


def _passes(item: Item, wanted: dict[str, Any]) -> bool:
    for name, value in wanted.items():
        if isinstance(value, dict) and any(key.startswith("$") for key in value):
            raise InvalidRequest(f"filter: {name} has an operator; only equality is known here")
    return all(item.value.get(name) == value for name, value in wanted.items())


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(said in ("*", found) for found, said in zip(part, path, strict=True))
