"""The cosines of paths: what is read beside them for later questions, and what is kept."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.connection.kept import GraphState, KeptReads, Reads
from substrate.graphs.graph import UNKEPT, Graph
from substrate.store.reader import MOST_BESIDE, read_similarities

STATE = GraphState(clock=1)
PAIRS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("fghij")), min_size=1, max_size=8, unique=True
)


class FakeGraph:
    """Answers every pair with a cosine of its own but those from `a`, which have no embedding."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[str, str]]] = []

    async def read(self, _query: Any, *, pairs: list[list[str]]) -> list[list[Any]]:
        self.asked.append([(one, other) for one, other in pairs])
        state = [[None, name, value] for name, value in STATE._asdict().items()]
        return [*state, *([one, other, cosine(one, other)] for one, other in pairs if one != "a")]


def cosine(one: str, other: str) -> float:
    return (ord(one[-1]) * 31 + ord(other[-1])) % 10 / 10


async def read(graph: FakeGraph, pairs: list[tuple[str, str]], reads: Reads, **more: Any) -> dict[Any, float]:
    return await read_similarities(cast(Graph, graph), pairs, reads, **more)


@given(wanted=PAIRS, beside=PAIRS)
async def test_what_is_read_beside_changes_no_answer_and_saves_a_read(
    wanted: list[tuple[str, str]], beside: list[tuple[str, str]]
) -> None:
    graph, reads = FakeGraph(), KeptReads().of("g", STATE)
    expected = {pair: cosine(*pair) for pair in wanted if pair[0] != "a"}
    assert await read(graph, wanted, reads, beside=iter(beside)) == expected
    assert len(graph.asked) == 1
    assert sorted(graph.asked[0]) == sorted({*wanted, *beside})
    assert await read(graph, wanted, reads, beside=beside) == expected
    assert await read(graph, beside, reads) == {pair: cosine(*pair) for pair in beside if pair[0] != "a"}
    assert len(graph.asked) == 1


@pytest.mark.parametrize("reads", [UNKEPT, None])
async def test_nothing_is_read_beside_what_is_kept_for_nobody_and_only_so_much_beside_the_rest(
    reads: Reads | None,
) -> None:
    graph, many = FakeGraph(), [("b", f"x{number}") for number in range(MOST_BESIDE + 50)]
    await read(graph, [("b", "f")], KeptReads().of("g", STATE) if reads is None else reads, beside=many)
    assert len(graph.asked[0]) == 1 + (MOST_BESIDE if reads is None else 0)
