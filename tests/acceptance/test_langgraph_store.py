"""LangGraph's store where namespaces are crowded, writers are many, and the service goes away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, InvalidNamespaceError, PutOp

from api.adapters.langgraph import SubstrateStore
from api.client import Substrate
from schemas.errors import InvalidRequest, SubstrateError, Unavailable
from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.waiting import wait_until

CROWD = 150


@pytest.fixture
def store(client: Substrate, citizen: str) -> SubstrateStore:
    return SubstrateStore(client, citizen)


@pytest.fixture(scope="module")
def crowded(service: Service) -> Iterator[SubstrateStore]:
    """A namespace of many items, and beside it another of one."""
    with Substrate(service.url, ADMIN_KEY) as client:
        store = SubstrateStore(client, "crowded")
        store.batch(
            PutOp(("users", "many"), f"note {number}", {"text": f"tea number {number}", "number": number})
            for number in range(CROWD)
        )
        store.put(("users", "one"), "note", {"text": "a cup of tea with milk", "number": 1})
        yield store


def test_a_query_finds_the_one_item_of_a_namespace_beside_a_crowded_one(crowded: SubstrateStore) -> None:
    found = crowded.search(("users", "one"), query="tea number")
    assert [(one.namespace, one.key) for one in found] == [(("users", "one"), "note")]
    assert found[0].score is not None


@pytest.mark.parametrize("query", [None, "", "tea number 7"])
def test_every_item_is_reached_by_paging_and_none_twice(crowded: SubstrateStore, query: str | None) -> None:
    keys: list[str] = []
    while page := crowded.search(("users", "many"), query=query, limit=40, offset=len(keys)):
        keys += [one.key for one in page]
    assert sorted(keys) == sorted(f"note {number}" for number in range(CROWD))


def test_a_filter_is_met_behind_what_a_query_ranks(crowded: SubstrateStore) -> None:
    wanted = {f"note {number}" for number in range(CROWD) if 20 < number <= 140 and number != 77}
    fits = {"number": {"$gt": 20, "$lte": 140, "$ne": 77}}
    found = crowded.search(("users",), query="tea", filter=fits, limit=CROWD)
    assert {one.key for one in found} == wanted


def test_a_query_ranks_what_fits_it_first(crowded: SubstrateStore) -> None:
    found = crowded.search(("users",), query="a cup with milk", limit=CROWD + 1)
    assert found[0].namespace == ("users", "one")
    scores = [one.score for one in found if one.score is not None]
    assert scores == sorted(scores, reverse=True)


OPERATORS: list[tuple[dict[str, Any], set[str]]] = [
    ({"n": 2}, {"b"}),
    ({"n": {"$eq": 2}}, {"b"}),
    ({"n": {"$ne": 2}}, {"a", "c", "d"}),
    ({"n": {"$gt": 1, "$lt": 3}}, {"b"}),
    ({"n": {"$gte": 2}}, {"b", "c"}),
    ({"n": {"$lte": 1}}, {"a"}),
    ({"made": {"by": "tom"}}, {"b"}),
    ({"made.by": "tom"}, {"b"}),
    ({"made.in.year": {"$lt": 2002}}, {"c"}),
    ({"word.by": "tom"}, set()),
    ({"made": {"by": {"$ne": "tom"}}}, {"a", "c"}),
    ({"made": {"in": {"year": {"$gt": 1999}}}}, {"c"}),
    ({"word": {"$gt": "b"}}, {"c"}),
    ({"flag": True}, {"a"}),
    ({"flag": 1}, set()),
    ({"nothing": None}, {"a", "b", "c", "d"}),
    ({"list": ["x", "y"]}, {"d"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def various(service: Service) -> Iterator[SubstrateStore]:
    with Substrate(service.url, ADMIN_KEY) as client:
        store = SubstrateStore(client, "various")
        store.put(("v",), "a", {"n": 1, "made": {"by": "ada"}, "flag": True})
        store.put(("v",), "b", {"n": 2, "made": {"by": "tom"}, "word": "a"})
        store.put(("v",), "c", {"n": 3, "made": {"by": "eve", "in": {"year": 2001}}, "word": "c"})
        store.put(("v",), "d", {"word": 7, "list": ["x", "y"]})
        yield store


@pytest.mark.parametrize(("wanted", "keys"), OPERATORS)
def test_a_filter_compares(various: SubstrateStore, wanted: dict[str, Any], keys: set[str]) -> None:
    assert {one.key for one in various.search(("v",), filter=wanted)} == keys


@pytest.mark.parametrize("wanted", [{"n": {"$near": 2}}, {"n": {"$gt": 1, "by": 2}}, {"n": {"$gt": None}}])
def test_a_filter_that_nobody_can_read_is_refused(various: SubstrateStore, wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="filter"):
        various.search(("v",), filter=wanted)


def test_only_what_is_indexed_is_found_by_its_words(client: Substrate, store: SubstrateStore) -> None:
    store.put(("n",), "whole", {"text": "a red apple"})
    store.put(
        ("n",), "part", {"text": "a green pear", "secret": "quince", "of": {"deep": "melon"}}, index=["of.deep"]
    )
    store.put(("n",), "none", {"text": "a red apple"}, index=False)
    found = store.search(("n",), query="red apple", limit=10)
    assert found[0].key == "whole"
    assert {one.key: one.score is None for one in found} == {"whole": False, "part": False, "none": True}
    assert store.get(("n",), "none").value == {"text": "a red apple"}  # type: ignore[union-attr]
    texts = [memory.description for memory in client.list_memories(citizen_id=store.citizen_id).memories]
    assert "melon" in texts
    assert not any("quince" in text or "pear" in text for text in texts)
    store.put(("n",), "none", {"text": "a red apple"}, index=["text"])
    assert {one.key for one in store.search(("n",), query="red apple") if one.score is not None} >= {"none"}


def test_an_item_with_a_time_to_live_is_planned_to_end(client: Substrate, store: SubstrateStore) -> None:
    store.put(("t",), "short", {"v": 1}, ttl=0.5)
    store.put(("t",), "long", {"v": 1})
    [end] = _ends(client, store.citizen_id)
    assert 0 < (end - datetime.now(UTC)).total_seconds() / 60 <= 0.5
    store.get(("t",), "short", refresh_ttl=False)
    store.search(("t",), refresh_ttl=False)
    assert _ends(client, store.citizen_id) == [end]
    wait_until(
        lambda: store.get(("t",), "short", refresh_ttl=True) is None or _ends(client, store.citizen_id)[0] > end
    )
    [later] = _ends(client, store.citizen_id)
    wait_until(
        lambda: not store.search(("t",), query="v", refresh_ttl=True) or _ends(client, store.citizen_id)[0] > later
    )
    store.put(("t",), "short", {"v": 1}, ttl=None)
    assert _ends(client, store.citizen_id) == []
    store.put(("t",), "short", {"v": 2}, ttl=3)
    store.put(("t",), "short", {"v": 3}, ttl=5)
    [end] = _ends(client, store.citizen_id)
    assert 4.5 < (end - datetime.now(UTC)).total_seconds() / 60 <= 5


def _ends(client: Substrate, citizen: str) -> list[datetime]:
    return [one.invalid_at for one in client.list_memories(citizen_id=citizen).memories if one.invalid_at]


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), 10**12])
def test_a_time_to_live_that_is_none_is_refused(store: SubstrateStore, ttl: float) -> None:
    with pytest.raises(InvalidRequest, match="ttl"):
        store.put(("t",), "k", {"v": 1}, ttl=ttl)
    assert store.get(("t",), "k") is None


def test_times_of_an_item_are_those_of_its_first_and_its_last_put(store: SubstrateStore) -> None:
    store.put(("n",), "k", {"v": 1})
    first = store.get(("n",), "k")
    store.put(("n",), "k", {"v": 2})
    second = store.get(("n",), "k")
    assert first is not None
    assert second is not None
    assert (second.created_at, second.updated_at > first.updated_at) == (first.created_at, True)
    store.put(("n",), "k", {"v": 2})
    assert store.get(("n",), "k") == second


@pytest.mark.parametrize("there", [False, True], ids=["new", "existing"])
def test_when_two_put_one_key_at_once_the_last_one_wins(store: SubstrateStore, there: bool) -> None:
    tries, writers = 8, 4
    with ThreadPoolExecutor(writers) as pool:
        for number in range(tries):
            key = f"k{number}"
            if there:
                store.put(("n",), key, {"by": "before"})
            list(pool.map(lambda by, key=key: store.put(("n",), key, {"by": by}), range(writers)))
            assert store.get(("n",), key).value["by"] in range(writers)  # type: ignore[union-attr]


def test_a_put_and_a_delete_at_once_end_as_one_of_them(store: SubstrateStore) -> None:
    def put(number: int) -> None:
        store.put(("n",), "k", {"by": number})

    def delete(_: int) -> None:
        store.delete(("n",), "k")

    with ThreadPoolExecutor(4) as pool:
        work: list[Callable[[int], None]] = [put, delete] * 8
        for done in [pool.submit(one, number) for number, one in enumerate(work)]:
            done.result()
    item = store.get(("n",), "k")
    assert item is None or item.value["by"] in range(16)


async def test_a_graph_with_six_parallel_nodes_shares_a_store(store: SubstrateStore) -> None:
    class State(TypedDict):
        done: Annotated[list[str], lambda one, other: one + other]

    def node(name: str) -> Any:
        async def remember(state: State, *, store: BaseStore) -> dict[str, list[str]]:
            await store.aput(("shared",), "last", {"by": name})
            await store.aput(("shared",), name, {"by": name})
            return {"done": [name]}

        return remember

    names = [f"node {number}" for number in range(6)]
    graph = StateGraph(State)
    for name in names:
        graph.add_node(name, node(name))
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    for _ in range(2):
        assert sorted((await graph.compile(store=store).ainvoke({"done": []}))["done"]) == names
    assert {item.key for item in store.search(("shared",))} == {"last", *names}
    assert store.get(("shared",), "last").value["by"] in names  # type: ignore[union-attr]


AWKWARD = [
    ("a/b",), ("a", "b"), ("a%2Fb",), ("a b",), ("a ",), ("a",), ("A",), ("a\n",), ("*",), (",",), ("ä", "日本"),
    ('"',), ("a_b",), ("a%b",), ("axb",), ("a\\",), ("'",), ("a,b",),
]  # fmt: skip


def test_labels_of_namespaces_are_any_text(store: SubstrateStore) -> None:
    for label in AWKWARD:
        store.put(label, "k", {"of": list(label)})
    for label in AWKWARD:
        found = store.search(label, limit=50)
        assert {one.namespace for one in found} == {one for one in AWKWARD if one[: len(label)] == label}
        assert {one.namespace for one in store.search(label, query="of", limit=50)} == {
            one.namespace for one in found
        }
    assert set(store.list_namespaces(limit=100)) == set(AWKWARD)


def test_a_namespace_is_deep_but_not_endless(store: SubstrateStore) -> None:
    deep = tuple(f"level{number}" for number in range(20))
    store.put(deep, "k", {"v": 1})
    store.put((*deep[:-1], "other"), "k", {"v": 2})
    assert [one.namespace for one in store.search(deep)] == [deep]
    assert [one.namespace for one in store.search(deep, query="v")] == [deep]
    assert len(store.search(deep[:10])) == 2
    assert store.list_namespaces(prefix=deep[:3], max_depth=5) == [deep[:5]]
    with pytest.raises(InvalidRequest, match="namespace"):
        store.put(tuple("abcdefgh" * 10), "k", {"v": 1})
    long = ("x" * 5000, "y")
    store.put(long, "k", {"v": 1})
    assert [one.namespace for one in store.search(long[:1], query="v")] == [long]


@pytest.mark.parametrize("namespace", [(), ("a", "with.dot"), ("a", "")])
def test_a_namespace_that_is_none_is_refused(store: SubstrateStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"v": 1})
    assert store.search(()) == []


def test_a_batch_is_stored_as_a_whole_or_not_at_all(client: Substrate, store: SubstrateStore) -> None:
    store.put(("b",), "there", {"v": 0})
    puts = [PutOp(("b",), f"k{number}", {"v": number}) for number in range(10)]
    unfit = PutOp(("b",), "unfit", {"v": object()})
    with pytest.raises(InvalidRequest, match="value"):
        store.batch([*puts, PutOp(("b",), "there", None), unfit])
    assert [one.key for one in store.search(("b",), limit=50)] == ["there"]
    assert store.batch([*puts, PutOp(("b",), "there", None), puts[0]._replace(value={"v": "last"})]) == [None] * 12
    assert len(store.search(("b",), limit=50)) == 10
    assert store.get(("b",), "k0").value == {"v": "last"}  # type: ignore[union-attr]


class _Leaving(Substrate):
    """A client whose service is gone after so many more requests."""

    left = 10**9

    def reach(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Unavailable("the service is gone")


for _name in ("apply", "get", "list_memories", "remember", "retrieve"):

    def _limited(self: _Leaving, *args: Any, _name: str = _name, **fields: Any) -> Any:
        self.reach()
        return getattr(Substrate, _name)(self, *args, **fields)

    setattr(_Leaving, _name, _limited)


@pytest.mark.parametrize("left", range(4))
def test_a_service_that_goes_away_in_a_batch_leaves_all_of_it_or_none(
    service: Service, citizen: str, left: int
) -> None:
    with _Leaving(service.url, ADMIN_KEY) as client:
        store = SubstrateStore(client, citizen)
        store.put(("b",), "there", {"v": 0})
        client.left = left
        puts = [PutOp(("b",), "there", {"v": 1}), PutOp(("b",), "new", {"v": 1}), PutOp(("b",), "newer", {"v": 1})]
        with pytest.raises(SubstrateError) as raised:
            store.batch(puts)
        assert isinstance(raised.value, Unavailable)
        client.left = 10**9
        assert {one.key: one.value["v"] for one in store.search(("b",))} == {"there": 0}
        store.batch(puts)
        assert {one.key: one.value["v"] for one in store.search(("b",))} == {"there": 1, "new": 1, "newer": 1}
