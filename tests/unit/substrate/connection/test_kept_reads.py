"""What was read of a graph answers only in the state in which it was read, within the bytes that are allowed."""

from __future__ import annotations

from substrate.connection.kept_reads import GRAPH_BYTES, WORDS, GraphState, KeptReads

G = "citizen_ada"
STATE = GraphState(clock=5, shifts=1, created_at=2, generation=0)


def test_what_was_read_is_there_in_the_same_state_and_in_no_other() -> None:
    kept = KeptReads()
    kept.of(G, STATE).keep("a", 1, 100)
    assert kept.of(G, STATE).get("a") == 1
    for state in (STATE._replace(clock=6), STATE._replace(shifts=2), STATE._replace(generation=1), STATE):
        assert kept.of(G, state).get("a") is None
    assert (kept.hits, kept.misses, kept.bytes) == (1, 4, GRAPH_BYTES)


def test_a_state_that_comes_back_finds_nothing() -> None:
    kept = KeptReads()
    kept.of(G, STATE).keep("a", 1, 100)
    kept.of(G, STATE._replace(clock=4))
    assert kept.of(G, STATE).get("a") is None


def test_whoever_began_before_a_change_keeps_for_nobody_else() -> None:
    kept = KeptReads()
    before = kept.of(G, STATE)
    after = kept.of(G, STATE._replace(clock=6))
    before.keep("a", 1, 100)
    assert before.get("a") == 1
    assert after.get("a") is None
    assert kept.bytes == GRAPH_BYTES


def test_a_write_leaves_to_the_next_state_what_it_did_not_change() -> None:
    kept, after = KeptReads(), STATE._replace(clock=6)
    before = kept.of(G, STATE)
    for about in ("boat", "dog", WORDS, None):
        before.keep("a", 1, 100, about=about)
    kept.carry(G, STATE, after, {"dog", WORDS})
    found = [kept.of(G, after).get("a", about=about) for about in ("boat", "dog", WORDS, None)]
    assert found == [1, None, None, None]
    assert kept.bytes == kept.of(G, after).bytes == GRAPH_BYTES + 100
    assert before.get("a", about="boat") is None


def test_nothing_is_left_to_a_state_when_another_write_came_between() -> None:
    kept = KeptReads()
    kept.of(G, STATE).keep("a", 1, 100, about="boat")
    kept.carry(G, STATE._replace(clock=6), STATE._replace(clock=7), set())
    assert kept.of(G, STATE._replace(clock=7)).get("a", about="boat") is None


def test_without_a_state_nothing_is_kept() -> None:
    kept = KeptReads()
    kept.of(G, None).keep("a", 1, 100)
    assert kept.of(G, None).get("a") is None
    assert kept.bytes == 0


def test_the_graph_that_was_asked_least_recently_makes_room() -> None:
    kept = KeptReads(2 * GRAPH_BYTES + 250)
    for name in ("a", "b"):
        kept.of(name, STATE).keep(1, 1, 100)
    kept.of("a", STATE).keep(2, 2, 100)
    assert kept.of("a", STATE).get(2) == 2
    assert kept.of("b", STATE).get(1) is None
    assert kept.bytes == 2 * GRAPH_BYTES + 200


def test_more_than_there_is_room_for_is_not_kept() -> None:
    kept = KeptReads(0)
    kept.of(G, STATE).keep("a", 1, 100)
    assert kept.of(G, STATE).get("a") is None
    assert kept.bytes == 0


def test_a_forgotten_graph_has_nothing() -> None:
    kept = KeptReads()
    for name in ("a", "b"):
        kept.of(name, STATE).keep(1, 1, 100)
    kept.forget("a")
    assert (kept.of("a", STATE).get(1), kept.of("b", STATE).get(1)) == (None, 1)
    kept.forget()
    assert kept.bytes == 0
