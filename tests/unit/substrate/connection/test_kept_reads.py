"""What was read of a graph answers only in the state in which it was read, within the bytes that are allowed."""

from __future__ import annotations

from substrate.connection.kept_reads import GRAPH_BYTES, GraphState, KeptReads

G = "citizen_ada"
STATE = GraphState(clock=5, shifts=1, created_at=2, generation=0)


def test_whoever_began_before_a_change_keeps_for_nobody_else() -> None:
    kept = KeptReads()
    before = kept.of(G, STATE)
    after = kept.of(G, STATE._replace(clock=6))
    before.keep("a", 1, 100)
    assert before.get("a") == 1
    assert after.get("a") is None
    assert kept.bytes == GRAPH_BYTES


def test_more_than_there_is_room_for_is_not_kept() -> None:
    kept = KeptReads(0)
    kept.of(G, STATE).keep("a", 1, 100)
    assert kept.of(G, STATE).get("a") is None
    assert kept.bytes == 0
