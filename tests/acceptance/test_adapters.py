"""LlamaIndex and LangGraph on a citizen's memory, by what their users see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core.llms import ChatMessage

from api.adapters.langgraph import SubstrateStore
from api.adapters.llama_index import SubstrateMemoryBlock, SubstrateRetriever
from api.client import Substrate
from tests.acceptance.conftest import ADMIN_KEY, Service


@pytest.fixture
def client(service: Service) -> Iterator[Substrate]:
    with Substrate(service.url, ADMIN_KEY) as client:
        yield client


async def test_a_retriever_gives_memories_with_their_metadata(client: Substrate, citizen: str) -> None:
    client.remember(citizen_id=citizen, id="tea", name="Tea", description="Tom takes it black.", energy=0.9)
    retriever = SubstrateRetriever(client, citizen, max_results_per_level=5)
    found = retriever.retrieve("tea")
    assert [one.score for one in found] == [one.score for one in await retriever.aretrieve("tea")]
    assert found[0].get_content() == "Tea: Tom takes it black."
    assert found[0].score is not None
    assert found[0].metadata["energy"] == 0.9
    assert found[0].metadata["node_id"] == "tea"


async def test_a_memory_block_stores_messages_and_recalls_them(client: Substrate, citizen: str) -> None:
    block = SubstrateMemoryBlock(client=client, citizen_id=citizen)
    assert await block.aget() == ""
    await block.aput([ChatMessage(role="user", content="Tom takes his tea black."), ChatMessage(role="system")])
    await block.aput([ChatMessage(role="system", content="Be kind.")])
    assert "black" in await block.aget([ChatMessage(role="user", content="How does Tom take his tea?")])
    assert len(client.list_memories(citizen_id=citizen, node_type="Turn").memories) == 1


async def test_a_store_puts_gets_and_deletes(client: Substrate, citizen: str) -> None:
    store = SubstrateStore(client, citizen)
    where = ("users", "ada lovelace|1")
    assert store.get(where, "tea") is None
    assert store.search(where) == []
    store.delete(where, "tea")
    store.put(where, "tea", {"milk": False, "cups": [1, {"of": "two"}]})
    item = store.get(where, "tea")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (where, "tea", {"milk": False, "cups": [1, {"of": "two"}]})
    store.put(where, "tea", {"milk": True})
    assert (await store.aget(where, "tea")).value == {"milk": True}  # type: ignore[union-attr]
    store.delete(where, "tea")
    assert store.get(where, "tea") is None
    store.put(where, "tea", {"milk": None})
    assert store.get(where, "tea").value == {"milk": None}  # type: ignore[union-attr]
    assert store.get(where, "other") is None


def test_a_store_searches_by_prefix_filter_and_words(client: Substrate, citizen: str) -> None:
    store = SubstrateStore(client, citizen)
    for person in ("ada", "tom"):
        for number, drink in enumerate(("tea", "coffee")):
            store.put(("users", person), drink, {"drink": drink, "cups": number})
    client.remember(citizen_id=citizen, name="tea", description="is no item of the store")
    assert {one.key for one in store.search(("users", "ada"))} == {"tea", "coffee"}
    assert {one.namespace for one in store.search(("users",), filter={"cups": 1})} == {
        ("users", "ada"), ("users", "tom"),
    }  # fmt: skip
    found = store.search(("users", "tom"), query="tea", limit=1)
    assert [(one.key, one.namespace[1]) for one in found] == [("tea", "tom")]
    assert found[0].score is not None
    assert len(store.search(("users",), limit=3, offset=2)) == 2


def test_a_store_lists_its_namespaces(client: Substrate, citizen: str) -> None:
    store = SubstrateStore(client, citizen)
    for namespace in (("a", "x", "1"), ("a", "y", "1"), ("b", "x", "2")):
        store.put(namespace, "k", {"v": 1})
    assert store.list_namespaces() == [("a", "x", "1"), ("a", "y", "1"), ("b", "x", "2")]
    assert store.list_namespaces(prefix=("a",), max_depth=2) == [("a", "x"), ("a", "y")]
    assert store.list_namespaces(suffix=("*", "1")) == [("a", "x", "1"), ("a", "y", "1")]
    assert store.list_namespaces(limit=1, offset=2) == [("b", "x", "2")]
