"""Candidates: each memory and link once, with what every query says of it."""

from __future__ import annotations

import math

from orchestration.ranking.candidates import Candidates, column_of
from schemas.memory import Level
from substrate.store.rows import NODE_PLACE
from substrate.store.search import NODE_START
from tests.builders import key, stored_link, stored_row

N1 = Level.N1


def test_a_memory_of_two_queries_is_one_candidate_with_what_both_say() -> None:
    candidates = Candidates()
    candidates.add(N1, [stored_row({"id": "a"}, score=0.25)], likeness=True)
    candidates.add(N1, [stored_row({"id": "a"})], likeness=False, named={"a"})
    (memory,) = candidates.memories.values()
    assert (memory.likeness, memory.likeness_rank, memory.hops, memory.named) == (0.75, 1, 0, True)
    assert not math.isnan(float(memory.get("energy")))


def test_only_a_start_of_the_graph_query_counts_as_named() -> None:
    candidates = Candidates()
    rows = [
        stored_row({"id": "a"}),
        stored_row({"id": "b"}, stored_link("a-b"), hop=1, ends=("a", "b")),
    ]
    candidates.add(N1, rows, likeness=False, named={"b"})
    assert [memory.named for memory in candidates.memories.values()] == [False, False]
    assert [memory.hops for memory in candidates.memories.values()] == [0, 1]


def test_a_link_that_two_rows_bring_is_one() -> None:
    candidates = Candidates()
    row = stored_row({"id": "b"}, stored_link("a-b"), hop=1, ends=("a", "b"))
    candidates.add(N1, [row, row], likeness=False)
    assert column_of(candidates.links.values(), "id") == ["a-b"]


def test_other_versions_are_added_and_marked_but_for_those_selected() -> None:
    candidates = Candidates()
    candidates.add(N1, [stored_row({"id": "a", "version": 2}, score=0.1)], likeness=True)
    versions = [stored_row({"id": "a", "version": version})[NODE_START:] for version in (1, 2)]
    assert candidates.add_versions(N1, versions, {(N1, "a", 2)}) == [key("a")]
    assert {key: memory.is_beside for key, memory in candidates.memories.items()} == {
        (N1, "a", 1): True,
        (N1, "a", 2): False,
    }
    assert candidates.memories[key("a")].row[NODE_START + NODE_PLACE["id"]] == "a"


def test_memories_of_two_collectives_with_one_id_are_two_and_ranked_as_one_level() -> None:
    candidates = Candidates()
    default = [stored_row({"id": "a"}, score=0.5), stored_row({"id": "b"}, score=0.25)]
    candidates.add(Level.N2, default, likeness=True)
    candidates.add("N2:atlas", [stored_row({"id": "a"}, score=0.4)], likeness=True)
    ranks = {memory.key[:2]: memory.likeness_rank for memory in candidates.memories.values()}
    assert ranks == {("N2", "b"): 1, ("N2:atlas", "a"): 2, ("N2", "a"): 3}
