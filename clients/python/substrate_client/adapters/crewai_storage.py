"""The storage under `substrate_client.adapters.crewai`: CrewAI's records as memories."""

from __future__ import annotations

from asyncio import to_thread
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from substrate_client.adapters.recalled import missing, question, storable, told, unmarked
from substrate_client.errors import Conflict, InvalidRequest, NotFound
from substrate_client.sync_client import Substrate

try:
    from crewai.memory.types import MemoryRecord, ScopeInfo
    from crewai.memory.utils import normalize_scope_path
except ModuleNotFoundError as error:
    raise missing("crewai", error) from error

if TYPE_CHECKING:
    from substrate_client.models import ConsciousnessNode

MAX_BUCKET: Final = 200
KEPT: Final = ("scope", "categories", "metadata", "source", "private")


def bucket_of(scope: str | None) -> str:
    """The bucket of a scope and all under it; of a scope that is too long or has other signs a digest."""
    path = f"crewai{normalize_scope_path(scope or '/')}".rstrip("/")
    plain = len(path) <= MAX_BUCKET and path.isascii() and path.isprintable() and not set(path) & set(" |")
    return path if plain else f"crewai/~{blake2b(path.encode(), digest_size=16).hexdigest()}"


def _above(scope: str) -> list[str]:
    """The scope and every scope above it."""
    parts = normalize_scope_path(scope).strip("/").split("/")
    return ["/", *("/" + "/".join(parts[: end + 1]) for end in range(len(parts)) if parts[end])]


def _record(memory: ConsciousnessNode) -> MemoryRecord:
    kept = memory.extra.get("crewai", {})
    return MemoryRecord(
        id=memory.node_id,
        content=unmarked(memory.description or memory.name),
        importance=0.5 if memory.importance is None else memory.importance,
        created_at=memory.valid_at.astimezone(timezone.utc).replace(tzinfo=None),  # CrewAI's times have no zone
        **kept,
    )


class SubstrateStorage:
    """CrewAI's `StorageBackend` on the memory of a citizen. Deleted records are retracted, updated superseded."""

    def __init__(self, client: Substrate, citizen_id: str) -> None:
        self.client, self.citizen_id = client, citizen_id

    def __deepcopy__(self, memo: dict[int, Any]) -> SubstrateStorage:
        """The storage itself: a copied crew has the same memory."""
        return self

    def save(self, records: list[MemoryRecord]) -> None:
        """Store new records."""
        for record in records:
            self.client.remember(**self._fields(record), restate=True)

    def update(self, record: MemoryRecord) -> None:
        """Store the record as what holds from now on; the former one stays in the history."""
        self.client.supersede(**self._fields(record))

    def _fields(self, record: MemoryRecord) -> Any:
        text = storable(record.content)
        return {
            "citizen_id": self.citizen_id,
            "id": record.id,
            "name": " ".join(text.split())[:120] or "record",
            "description": text,
            "importance": record.importance,
            "buckets": sorted(set(map(bucket_of, _above(record.scope)))),
            "extra": {"crewai": {name: getattr(record, name) for name in KEPT}},
        }

    def search(self, query_embedding: list[float], *_: Any, **__: Any) -> list[tuple[MemoryRecord, float]]:
        """Raises InvalidRequest: the service makes its own vectors. `SubstrateMemory` asks it with words."""
        raise InvalidRequest("it is not asked with a vector of another model", remedy="Use SubstrateMemory.")

    def ask(self, query: str, scope: str | None) -> list[tuple[MemoryRecord, float]]:
        """What fits the words, most active first: of the scope, or with no scope of all that the citizen knows."""
        within = {} if scope is None else {"filters": {"buckets": [bucket_of(scope)]}}
        asked = question(self.citizen_id, query, parts=["activation_tiers"], **within)
        found = told(self.client.retrieve(**asked)) if asked["query_text"] else []
        return [(_record(node), node.consciousness_adjusted_score or 0.0) for node in found]

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """The record with this id; None when there is none."""
        try:
            return _record(self.client.get(record_id, citizen_id=self.citizen_id))
        except NotFound:
            return None

    def _all(self, scope: str | None) -> Iterator[MemoryRecord]:
        cursor, bucket = None, bucket_of(scope)
        while True:
            try:
                page = self.client.list_memories(
                    citizen_id=self.citizen_id, bucket=bucket, limit=500, cursor=cursor
                )
            except NotFound:  # nothing was remembered yet
                return
            yield from map(_record, page.memories)
            cursor = page.next
            if cursor is None:
                return

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """The records of a scope, newest first."""
        newest = sorted(self._all(scope_prefix), key=lambda record: record.created_at, reverse=True)
        return newest[offset : offset + limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        *,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Retract the records that all conditions name; how many. Raises ValueError without any condition."""
        if not any((scope_prefix, categories, record_ids is not None, older_than, metadata_filter)):
            raise ValueError("name what to forget; reset() forgets all records")
        wanted = [
            record
            for record in self._all(scope_prefix)
            if (record_ids is None or record.id in record_ids)
            and (not categories or set(categories) & set(record.categories))
            and (older_than is None or record.created_at < older_than)
            and (metadata_filter or {}).items() <= record.metadata.items()
        ]
        return sum(self._retract(record.id) for record in wanted)

    def _retract(self, record_id: str) -> int:
        try:
            self.client.retract(id=record_id, citizen_id=self.citizen_id)
        except (Conflict, NotFound):  # somebody else retracted it just now
            return 0
        return 1

    def reset(self, scope_prefix: str | None = None) -> None:
        """Retract all records of a scope; what came in by other doors stays."""
        self.delete(scope_prefix=scope_prefix or "/")

    def count(self, scope_prefix: str | None = None) -> int:
        """The number of records of a scope."""
        return sum(1 for _ in self._all(scope_prefix))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """The categories of a scope, each with the number of its records."""
        return dict(Counter(category for record in self._all(scope_prefix) for category in record.categories))

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes just under this one."""
        return list(self.get_scope_info(parent).child_scopes)

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """What is in a scope."""
        records = list(self._all(scope))
        depth = len(_above(scope))
        scopes = [_above(record.scope) for record in records]
        under = {above[depth] for above in scopes if len(above) > depth}
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=sorted(under),
        )

    async def asave(self, records: list[MemoryRecord]) -> None:
        """As `save`, in a thread."""
        await to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], *_: Any, **__: Any) -> list[tuple[MemoryRecord, float]]:
        """As `search`."""
        return self.search(query_embedding)

    async def adelete(self, scope_prefix: str | None = None, **conditions: Any) -> int:
        """As `delete`, in a thread."""
        return await to_thread(self.delete, scope_prefix, **conditions)
