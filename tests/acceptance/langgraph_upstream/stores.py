"""The stores of upstream's tests: each is that of a fresh citizen, on the one running service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final
from uuid import uuid4

from api.adapters.langgraph import SubstrateStore
from api.client import Substrate

_CLIENTS: Final[list[Substrate]] = []


@contextmanager
def using(client: Substrate) -> Iterator[None]:
    """The client of all stores that are made inside."""
    _CLIENTS.append(client)
    yield
    _CLIENTS.remove(client)


def new_store(index: dict[str, Any] | None = None, ttl: Any = None) -> SubstrateStore:
    """An empty store. Of upstream's `index` only the fields count: the service has an embedding of its own."""
    return SubstrateStore(_CLIENTS[-1], f"c{uuid4().hex[:12]}", index=index, ttl=ttl)


InMemoryStore = new_store


@contextmanager
def opened(*_: Any, text_fields: Sequence[str] | None = None, **__: Any) -> Iterator[SubstrateStore]:
    """In place of a Postgres store with a vector index."""
    yield new_store({"fields": text_fields}, {"default_ttl": 2, "refresh_on_read": True})


@asynccontextmanager
async def opened_async(
    *_: Any, text_fields: Sequence[str] | None = None, **__: Any
) -> AsyncIterator[SubstrateStore]:
    """The same in place of one that is awaited."""
    yield new_store({"fields": text_fields})


@contextmanager
def create_vector_store(*_: Any, text_fields: Sequence[str] | None = None) -> Iterator[SubstrateStore]:
    """In place of an SQLite store with a vector index."""
    yield new_store({"fields": text_fields})
