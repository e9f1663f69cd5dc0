"""Paths of thought (003, components 4 and 5b), against brute force."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestration.traversal import paths
from orchestration.traversal.paths import (
    FLOOR,
    MAX_EDGES,
    MAX_NARRATIVE,
    MAX_PATHS,
    emotional_consistency,
    suggested_paths,
)
from schemas.memory import GraphKey, Level
from schemas.stream import GraphEdge, TraversalPath
from tests.builders import a_node, an_edge, nodes_by_identity

N1: GraphKey = Level.N1
N2: GraphKey = Level.N2
type Walk = tuple[str, ...]


def suggested(edges: Sequence[GraphEdge], *starts: str) -> tuple[TraversalPath, ...]:
    ids = sorted({end for one in edges for end in (one.source_id, one.target_id)} | set(starts))
    return suggested_paths(nodes_by_identity(*ids), edges, [(N1, start) for start in starts])


def walks(paths_found: Sequence[TraversalPath]) -> list[str]:
    return ["".join(path.path_nodes) for path in paths_found]


# --- which paths -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "starts", "expected"),
    [
        # nothing, one memory, a link to itself
        ([], "", []),
        ([], "a", []),
        ([an_edge("a", "a", 0.9)], "a", []),
        # one link; walked in either direction
        ([an_edge("a", "b", 0.9)], "a", ["ab"]),
        ([an_edge("a", "b", 0.9)], "b", ["ba"]),
        # the whole way, not its more probable beginning
        ([an_edge("a", "b", 0.9), an_edge("b", "c", 0.5)], "a", ["abc"]),
        # the more probable way round: 0.9 x 0.9 > 0.8
        ([an_edge("a", "b", 0.9), an_edge("b", "c", 0.9), an_edge("a", "c", 0.8)], "a", ["abc"]),
        # 0.5 x 0.5 < 0.8: both ends are reached best by their own link; one fan, one thought
        ([an_edge("a", "b", 0.5), an_edge("b", "c", 0.5), an_edge("a", "c", 0.8)], "a", ["ac"]),
        # round a cycle: to c by b, which comes before d; to d by its own link
        (
            [an_edge("a", "b", 0.9), an_edge("b", "c", 0.9), an_edge("c", "d", 0.9), an_edge("d", "a", 0.9)],
            "a",
            ["ad", "abc"],
        ),
        # at most five links
        ([an_edge(a, b, 1.0) for a, b in pairwise("abcdefgh")], "a", ["abcdef"]),
        # too faint to be thought to its end: 0.1 x 0.1 < 0.02
        ([an_edge("a", "b", 0.1), an_edge("b", "c", 0.1)], "a", ["ab"]),
        ([an_edge("a", "b", 0.019)], "a", []),
        # a way between two in focus is suggested once, along its links, whatever stands first in focus
        ([an_edge("a", "b", 0.9), an_edge("b", "c", 0.9)], "ac", ["abc"]),
        ([an_edge("a", "b", 0.9), an_edge("b", "c", 0.9)], "ca", ["abc"]),
        ([an_edge("a", "b", 0.9), an_edge("c", "b", 0.9)], "ca", ["cba"]),
        # what begins on the way says nothing of its own, forwards or backwards
        ([an_edge("a", "b", 0.9), an_edge("b", "c", 0.9), an_edge("c", "d", 0.9)], "ab", ["abcd"]),
        ([an_edge("a", "b", 0.9), an_edge("b", "c", 0.9), an_edge("c", "d", 0.9)], "db", ["dcba"]),
        # the best way to v takes four links, so only a fainter way by w still reaches y within five
        (
            [
                *(an_edge(a, b, 1.0) for a, b in pairwise("sabcvxy")),
                an_edge("s", "w", 0.5),
                an_edge("w", "v", 1.0),
            ],
            "s",
            ["sabcvw", "swvxy"],
        ),
        # of equally probable ones the longer
        ([an_edge("a", "b", 0.5), an_edge("a", "c", 0.5), an_edge("c", "d", 1.0)], "a", ["acd", "ab"]),
        # apart
        ([an_edge("a", "b", 0.5), an_edge("c", "d", 0.6)], "ac", ["cd", "ab"]),
    ],
)
def test_the_paths_suggested(edges: list[GraphEdge], starts: str, expected: list[str]) -> None:
    assert walks(suggested(edges, *starts)) == expected


# --- brute force -----------------------------------------------------------------------------------------


def all_walks(start: str, links: Mapping[str, Mapping[str, float]]) -> dict[Walk, float]:
    """Every path of at most five links from the start with no memory twice, with its product."""
    paths_found: dict[Walk, float] = {}
    going: list[tuple[Walk, float]] = [((start,), 1.0)]
    while going:
        walk, product = going.pop()
        if len(walk) > 1:
            paths_found[walk] = product
        if len(walk) <= MAX_EDGES:
            going += [((*walk, to), product * w) for to, w in links[walk[-1]].items() if to not in walk]
    return paths_found


def contains(whole: Walk, part: Walk) -> bool:
    runs = {whole[at : at + len(part)] for at in range(len(whole) - len(part) + 1)}
    return whole not in (part, part[::-1]) and (part in runs or part[::-1] in runs)


def brute(edges: Sequence[GraphEdge], nodes: Sequence[str], starts: Sequence[str], strongest: int) -> list[Walk]:
    """The definition at the head of `orchestration.traversal.paths`, word for word."""
    weights: dict[tuple[str, str], float] = {}
    chosen: dict[tuple[str, str], GraphEdge] = {}
    for one in sorted(edges, key=lambda edge: edge.edge_id):
        for pair in ((one.source_id, one.target_id), (one.target_id, one.source_id)):
            if pair[0] != pair[1] and one.traversal_weight > weights.get(pair, -1.0):
                weights[pair], chosen[pair] = one.traversal_weight, one
    links = {
        here: dict(
            sorted(
                ((b, weight) for (a, b), weight in weights.items() if a == here),
                key=lambda step: (-step[1], step[0]),
            )[:strongest]
        )
        for here in nodes
    }
    best: dict[Walk, float] = {}
    for start in starts:
        every = all_walks(start, links)
        for end in {walk[-1] for walk in every}:
            there = [walk for walk in every if walk[-1] == end]
            walk = min(there, key=lambda walk: (-every[walk], len(walk), walk))
            if every[walk] >= FLOOR:
                best[walk] = every[walk]

    def rather(walk: Walk) -> tuple[int, int]:
        return -sum(chosen[pair].source_id == pair[0] for pair in pairwise(walk)), starts.index(walk[0])

    whole = [
        walk
        for walk in best
        if not any(contains(other, walk) for other in best)
        and not (walk[::-1] in best and rather(walk[::-1]) < rather(walk))
    ]
    whole.sort(key=lambda walk: (-best[walk], -len(walk), walk))
    single = [walk for at, walk in enumerate(whole) if walk[:-1] not in [one[:-1] for one in whole[:at]]]
    return single[:MAX_PATHS]


sixteenths = st.integers(1, 16).map(lambda n: n / 16)
"""Products of five of these are exact, so that equal is equal in whatever order one multiplies."""


@st.composite
def webs(draw: st.DrawFn) -> tuple[list[GraphEdge], list[str], list[str]]:
    ids = list("abcdefg"[: draw(st.integers(1, 7))])
    ends = st.sampled_from(ids)
    drawn = draw(st.lists(st.tuples(ends, ends, sixteenths), max_size=16))
    edges = [an_edge(a, b, weight, edge_id=f"{a}{b}{number}") for number, (a, b, weight) in enumerate(drawn)]
    return edges, ids, draw(st.lists(ends, max_size=4, unique=True))


@given(webs(), st.sampled_from([1, 2, 3, 32]))
@example(
    ([an_edge(a, b, 1.0) for a, b in ("ab", "bc", "cd", "de", "ef", "fg", "ga")], list("abcdefg"), ["a", "d"]), 32
)
def test_the_best_paths_are_the_best_paths(
    web: tuple[list[GraphEdge], list[str], list[str]], strongest: int
) -> None:
    edges, ids, starts = web
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "MAX_NEIGHBOURS", strongest)
        paths_found = suggested_paths(nodes_by_identity(*ids), edges, [(N1, start) for start in starts])
    assert [path.path_nodes for path in paths_found] == brute(edges, ids, starts, strongest)


@given(webs())
def test_a_path_is_a_path_and_its_probability_the_product_of_its_edges(
    web: tuple[list[GraphEdge], list[str], list[str]],
) -> None:
    edges, ids, starts = web
    by_id = {one.edge_id: one for one in edges}
    paths_found = suggested_paths(
        nodes_by_identity(*ids, relevance_score=0.25), edges, [(N1, start) for start in starts]
    )
    assert len(paths_found) <= MAX_PATHS
    assert len({path.path_id for path in paths_found}) == len(paths_found)
    probabilities = [path.traversal_probability for path in paths_found]
    assert probabilities == sorted(probabilities, reverse=True)
    for path in paths_found:
        walked = [by_id[edge_id] for edge_id in path.path_edges]
        assert 1 <= len(walked) <= MAX_EDGES
        assert path.path_nodes[0] in starts
        assert len(set(path.path_nodes)) == len(path.path_nodes) == len(walked) + 1
        for one, ends in zip(walked, pairwise(path.path_nodes), strict=True):
            assert {one.source_id, one.target_id} == set(ends)
        assert path.traversal_probability == pytest.approx(math.prod(one.traversal_weight for one in walked))
        assert path.total_activation == pytest.approx(0.25 * len(path.path_nodes))
        for score in (path.semantic_coherence, path.emotional_consistency, path.traversal_probability):
            assert 0.0 <= score <= 1.0


@given(webs(), st.randoms(use_true_random=False))
def test_the_order_of_finding_does_not_matter(
    web: tuple[list[GraphEdge], list[str], list[str]], random: Any
) -> None:
    edges, ids, starts = web
    one = suggested_paths(nodes_by_identity(*ids), edges, [(N1, start) for start in starts])
    random.shuffle(edges)
    random.shuffle(ids)
    assert suggested_paths(nodes_by_identity(*ids), edges, [(N1, start) for start in starts]) == one


# --- scores ----------------------------------------------------------------------------------------------


def test_the_scores_of_a_path_by_hand() -> None:
    nodes = {
        (N1, "a"): a_node(node_id="a", name="stone bridge", relevance_score=0.9),
        (N1, "b"): a_node(node_id="b", name="bridge", description="the old stone", relevance_score=1.4),
        (N1, "c"): a_node(node_id="c", name="river", relevance_score=-0.2),
    }
    edges = [
        an_edge("a", "b", 0.8, emotion_vector={"joy": 0.6, "fear": 0.8}),
        an_edge("b", "c", 0.5, emotion_vector={"Happy": 1.0}),
    ]
    (path,) = suggested_paths(nodes, edges, [(N1, "a")])
    # 0.9 + 1 (clipped) + 0 (clipped)
    assert path.total_activation == pytest.approx(1.9)
    # {stone, bridge} and {bridge, old, stone} share 2 of 3; {bridge, old, stone} and {river} none
    assert path.semantic_coherence == pytest.approx((2 / 3 + 0) / 2, abs=1e-6)
    # (0.6, 0.8) and (1, 0)
    assert path.emotional_consistency == pytest.approx(0.6)
    assert path.traversal_probability == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("felt", "consistency"),
    [
        ([{"joy": 0.5}], 1.0),
        ([None], 1.0),
        ([None, {}], 1.0),
        ([{"joy": 0.0}, None], 1.0),
        ([{"joy": 0.5}, None], 0.0),
        ([{"joy": 0.5}, {"fear": 0.5}], 0.0),
        ([{"joy": 0.2}, {"happiness": 0.9}], 1.0),
        ([{"joy": 0.6, "fear": 0.8}, {"joy": 1.0}, {"joy": 0.3}], 0.8),
    ],
)
def test_consistency_by_hand(felt: list[dict[str, float] | None], consistency: float) -> None:
    assert emotional_consistency(felt) == pytest.approx(consistency)


# --- the narrative ---------------------------------------------------------------------------------------


def test_a_path_tells_a_story() -> None:
    named = {
        "1": ("schema design", "blocked"),
        "2": ("asked Luca", None),
        "3": ("requirements clear", None),
        "4": ("schema decided", "resolved"),
    }
    nodes = {
        (N1, node_id): a_node(node_id=node_id, name=name, resolution_state=state)
        for node_id, (name, state) in named.items()
    }
    edges = [
        an_edge("1", "2", 0.9, relation_type="RESOLVED_BY"),
        an_edge("3", "2", 0.8, relation_type="CAUSED_BY"),
        an_edge("3", "4", 0.8, relation_type="ENABLES"),
    ]
    (path,) = suggested_paths(nodes, edges, [(N1, "1")])
    assert path.path_narrative == ("Blocked: schema design → asked Luca → requirements clear → schema decided")


@given(st.integers(2, 6), st.integers(1, 400), st.sampled_from([None, "in_progress", "blocked"]))
def test_a_narrative_is_one_short_line_however_long_the_names(count: int, length: int, state: str | None) -> None:
    ids = "abcdef"[:count]
    states = [state, "resolved"] * 3
    nodes = {
        (N1, node_id): a_node(node_id=node_id, name=f"{node_id}\n" * length, resolution_state=states[place])
        for place, node_id in enumerate(ids)
    }
    edges = [an_edge(a, b, 0.9, relation_type="R" * 64) for a, b in pairwise(ids)]
    (path,) = suggested_paths(nodes, edges, [(N1, "a")])
    assert len(path.path_narrative) <= MAX_NARRATIVE
    assert "\n" not in path.path_narrative
    for node_id in ids:
        assert node_id in path.path_narrative
