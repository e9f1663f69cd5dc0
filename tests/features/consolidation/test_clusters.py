"""Clusters: 002's rule, hubs, growth, and the laws that keep a generalisation from being made twice."""

from __future__ import annotations

from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.consolidation.queries import StoredGeneralisation
from orchestration.features.consolidation.rules import (
    FEWEST,
    NEAR_IN_TIME,
    SHARED,
    Cluster,
    Holders,
    Item,
    find_clusters,
)
from schemas.temporal import END_OF_TIME

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


def made_of(clusters: list[Cluster]) -> list[StoredGeneralisation]:
    made = []
    for place, cluster in enumerate(clusters):
        members = frozenset(cluster.members)
        made.append(StoredGeneralisation(f"g{place}", True, 1, END_OF_TIME, -1, {}, members, members, frozenset()))
    return made


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
