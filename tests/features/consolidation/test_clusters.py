"""Clusters: 002's rule, hubs, growth, and the laws that keep a generalisation from being made twice."""

from __future__ import annotations

from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.consolidation.clusters import (
    FEWEST,
    NEAR_IN_TIME,
    SHARED,
    Cluster,
    Holders,
    Item,
    Made,
    find_clusters,
    medoid,
)
from schemas.memory import Abstraction

NODES = ("kai", "egor", "draft", "letter", "sea", "boat", "bread", "oven")
ITEMS = st.lists(
    st.builds(
        Item,
        id=st.integers(0, 40).map(lambda number: f"m{number:02}"),
        abstraction=st.sampled_from(("L0", "L0", "L0", "L1", "L3")),
        time=st.integers(0, 3 * NEAR_IN_TIME),
        nodes=st.frozensets(st.sampled_from(NODES), max_size=5),
        vector=st.one_of(st.none(), st.tuples(*[st.sampled_from((-1.0, 0.0, 0.5, 1.0))] * 3)),
    ),
    max_size=24,
    unique_by=lambda item: item.id,
)


def holders(items: list[Item], total: int = 100) -> Holders:
    return Holders({node: sum(node in item.nodes for item in items) for node in NODES}, total)


def about(*nodes: str, count: int = 3, abstraction: Abstraction = "L0") -> list[Item]:
    return [Item(f"{'-'.join(nodes)}{n}", abstraction, n, frozenset(nodes)) for n in range(count)]


def made_of(clusters: list[Cluster]) -> list[Made]:
    return [Made(f"g{place}", frozenset(cluster.members)) for place, cluster in enumerate(clusters)]


@given(ITEMS)
def test_no_memory_is_in_two_clusters_and_each_has_three_of_one_abstraction(items: list[Item]) -> None:
    by_id = {item.id: item for item in items}
    clusters = find_clusters(items, [], holders(items))
    members = [member for cluster in clusters for member in cluster.members]
    assert len(members) == len(set(members))
    for cluster in clusters:
        assert len(cluster.members) >= FEWEST
        assert {by_id[member].abstraction for member in cluster.members} == {cluster.abstraction} != {"L3"}
        assert list(cluster.members) == sorted(cluster.members, key=lambda member: (by_id[member].time, member))


@given(ITEMS, st.randoms(use_true_random=False))
def test_the_order_of_the_memories_makes_no_difference(items: list[Item], chance: Random) -> None:
    shuffled = list(items)
    chance.shuffle(shuffled)
    assert find_clusters(shuffled, [], holders(items)) == find_clusters(items, [], holders(items))


@given(ITEMS)
def test_what_was_generalised_is_not_generalised_again(items: list[Item]) -> None:
    clusters = find_clusters(items, [], holders(items))
    assert find_clusters(items, made_of(clusters), holders(items)) == []


@given(ITEMS)
def test_what_was_undone_is_not_made_again(items: list[Item]) -> None:
    undone = [each._replace(live=False) for each in made_of(find_clusters(items, [], holders(items)))]
    assert find_clusters(items, undone, holders(items)) == []


@given(ITEMS)
def test_three_memories_with_the_same_two_nodes_are_always_in_a_cluster(items: list[Item]) -> None:
    taken = {member for cluster in find_clusters(items, [], holders(items)) for member in cluster.members}
    for some in combinations([item for item in items if item.abstraction == "L0"], FEWEST):
        shared = some[0].nodes & some[1].nodes & some[2].nodes
        assert len(shared) < SHARED or any(item.id in taken for item in some)


def test_memories_that_share_two_nodes_belong_together_and_others_do_not() -> None:
    items = [*about("draft", "letter"), *about("sea", "boat"), *about("bread"), *about("oven", "sea", count=2)]
    clusters = find_clusters(items, [], holders(items))
    assert {cluster.nodes for cluster in clusters} == {("draft", "letter"), ("boat", "sea")}


def test_what_nearly_all_memories_have_is_no_subject() -> None:
    items = [*about("kai", "egor", "draft", count=20), *about("kai", "egor", "sea", "boat", count=20)]
    clusters = find_clusters(items, [], holders(items, total=40))
    assert clusters == []
    clusters = find_clusters(items, [], Holders({"kai": 40, "egor": 40, "sea": 8, "boat": 8}, 40))
    assert [cluster.nodes for cluster in clusters] == [("boat", "sea")]


def test_a_subject_that_is_told_often_is_one_cluster_beside_the_others() -> None:
    often = about("draft", "letter", count=150)
    items = [*often, *about("sea", "boat", count=4), *about("bread", "oven", count=3)]
    clusters = find_clusters(items, [], holders(items, total=640))
    assert sorted(len(cluster.members) for cluster in clusters) == [3, 4, 150]


def test_texts_near_in_meaning_and_time_belong_together_without_any_node() -> None:
    week = NEAR_IN_TIME
    near = [Item(f"n{n}", "L0", n, frozenset(), (1.0, 0.1 * n, 0.0)) for n in range(3)]
    later = [Item("later", "L0", 3 * week, frozenset(), (1.0, 0.1, 0.0))]
    other = [Item("other", "L0", 1, frozenset(), (0.0, 0.0, 1.0))]
    [cluster] = find_clusters([*near, *later, *other], [], Holders({}, 5))
    assert cluster.members == ("n0", "n1", "n2")


def test_a_generalisation_grows_by_what_belongs_to_it() -> None:
    items = about("draft", "letter", count=5)
    made = Made("g", frozenset(item.id for item in items[:3]))
    [grown] = find_clusters(items, [made], holders(items))
    assert grown.grows == "g"
    assert set(grown.members) == {item.id for item in items}


def test_what_left_a_generalisation_does_not_come_back_to_it() -> None:
    items = about("draft", "letter", count=4)
    made = Made("g", frozenset(item.id for item in items[:3]), left=frozenset({items[3].id}))
    assert find_clusters(items, [made], holders(items)) == []


def test_generalisations_are_generalised_up_to_l3() -> None:
    items = [*about("sea", "boat", abstraction="L1"), *about("bread", "oven", abstraction="L3")]
    assert [cluster.abstraction for cluster in find_clusters(items, [], holders(items))] == ["L1"]


def test_none_and_one_memory_are_no_cluster_and_memories_all_alike_are_one() -> None:
    alike = [Item(f"a{n}", "L0", n, frozenset(("sea", "boat")), (1.0, 0.0)) for n in range(60)]
    assert find_clusters([], [], Holders({}, 0)) == []
    assert find_clusters(alike[:1], [], Holders({"sea": 1, "boat": 1}, 1)) == []
    [cluster] = find_clusters(alike, [], Holders({"sea": 60, "boat": 60}, 60))
    assert len(cluster.members) == 60


def test_the_medoid_is_nearest_to_all_and_by_nodes_where_there_are_no_vectors() -> None:
    assert medoid([(1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], [(), (), ()]) == 1
    assert medoid([None, None, None], [("a",), ("a", "b"), ("b",)]) == 1
    assert medoid([None], [()]) == 0
