"""The fixtures that upstream's tests ask for, on the real adapter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.adapters.langgraph import SubstrateStore
from api.client import Substrate
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.acceptance.langgraph_upstream.stores import new_store, using


@pytest.fixture(scope="module", autouse=True)
def _client(service: Service) -> Iterator[None]:
    with Substrate(service.url, ADMIN_KEY) as client, using(client):
        yield


@pytest.fixture
def store() -> SubstrateStore:
    return new_store(ttl={"default_ttl": 0.1, "refresh_on_read": True})


@pytest.fixture
def vector_store() -> SubstrateStore:
    return new_store(ttl={"default_ttl": 2, "refresh_on_read": True})


@pytest.fixture
def fake_embeddings() -> None:
    """Upstream's likeness of letters, which the service does not have."""
