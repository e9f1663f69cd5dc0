"""Columns of a graph's present say what plain rows say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.temporal import END_OF_TIME
from substrate.connection.graph_columns import (
    OPEN,
    OUTGOING,
    SHOWN,
    TELLS,
    UNKNOWN,
    WALKED,
    ColumnsCache,
    GraphColumns,
    LinkRow,
    MemoryRow,
    Wanted,
)
from substrate.connection.kept import GraphState, changed_between
from substrate.store.writer import MOST_CHANGED, note_of

NAMES = ("a", "b", "c", "d")
times = st.tuples(st.integers(0, 9), st.integers(1, 10)).map(lambda pair: (pair[0], pair[0] + pair[1]))
memories = st.fixed_dictionaries(
    {name: st.tuples(times, st.sampled_from([0, OPEN, TELLS, OPEN | TELLS]), st.sampled_from([-1.0, 0.2, 0.9]))
     for name in NAMES}
)  # fmt: skip
links = st.lists(
    st.tuples(st.sampled_from(NAMES), times, st.sampled_from([SHOWN, SHOWN | WALKED, SHOWN | WALKED | OUTGOING])),
    max_size=8,
)


def memory(name: str, valid: tuple[int, int], bits: int, energy: float) -> MemoryRow:
    return MemoryRow(name, 1, 3, *valid, energy, 0.5, bits, "")


@given(
    memories, links, st.integers(0, 20), st.sampled_from([0.0, 0.5]), st.none() | st.sets(st.sampled_from(NAMES))
)
def test_the_links_that_hold_are_those_whose_times_and_ends_do(
    held: dict[str, tuple[tuple[int, int], int, float]],
    ends: list[tuple[str, tuple[int, int], int]],
    now: int,
    least: float,
    passing: set[str] | None,
) -> None:
    columns = GraphColumns()
    for name, (valid, bits, energy) in held.items():
        columns.hold_memory(memory(name, valid, bits, energy))
    rows = [LinkRow(other, "NEXT", None, 1, 5, *valid, bits) for other, valid, bits in ends]
    columns.hold_links("a", len(rows), rows)
    wanted = Wanted(OPEN | TELLS, SHOWN | WALKED, least, 0.0, passing)
    due = []
    for place, (other, (since, until), bits) in enumerate(ends):
        (began, ended), of_other, energy = held[other]
        is_held = since <= now < until and began <= now < ended
        is_wanted = of_other == OPEN | TELLS and bits & WALKED and energy >= least
        if is_held and is_wanted and (passing is None or other in passing):
            due.append(place)
    assert list(columns.holding(columns.links("a"), now, wanted)) == due


def test_the_name_of_a_link_follows_from_its_ends_where_it_has_no_id_of_its_own() -> None:
    columns = GraphColumns()
    rows = [LinkRow("b", "NEXT", None, 2, 5, 0, 9, OUTGOING), LinkRow("b", "NEXT", "own", 1, 6, 0, 9, 0)]
    columns.hold_links("a", 2, rows)
    (one, *ends), (other, *back) = (columns.link(number, "a") for number in columns.links("a"))
    assert (one.id, one.version, one.created_at, ends) == ("a|NEXT|b", 2, 5, ["a", "b"])
    assert (other.id, other.expired_at, back) == ("own", END_OF_TIME, ["b", "a"])
    assert columns.unknown_ends(["a"]) == ["b"]


def test_what_is_forgotten_is_to_be_read_again_and_found_by_nobody() -> None:
    columns = GraphColumns()
    for name in ("a", "b"):
        columns.hold_memory(memory(name, (0, 9), OPEN, 0.5))
    columns.hold_links("a", 1, [LinkRow("b", "NEXT", None, 1, 5, 0, 9, SHOWN)])
    assert len(columns.holding(columns.links("a"), 4, Wanted(OPEN, SHOWN))) == 1
    columns.forget(["b"])
    assert columns.unknown_ends(["a"]) == ["b"]
    assert columns.holding(columns.links("a"), 4, Wanted(OPEN, SHOWN)) == []
    columns.forget(["a"])
    assert columns.degree("a") == UNKNOWN


def test_columns_are_those_of_one_state_and_a_write_of_this_process_leads_to_the_next() -> None:
    cache, first = ColumnsCache(), GraphState(1)
    columns = cache.of("g", first)
    columns.hold_memory(memory("a", (0, 9), OPEN, 0.5))
    cache.carry("g", first, GraphState(2), ["b"])
    assert cache.of("g", GraphState(2)) is columns
    cache.carry("g", GraphState(4), GraphState(5), ["b"])
    assert cache.of("g", GraphState(5)) is not columns


@given(memories, links, st.sets(st.sampled_from(NAMES)), st.integers(1_000, 5_000))
def test_above_the_bound_what_was_looked_at_last_is_held_as_it_was(
    held: dict[str, tuple[tuple[int, int], int, float]],
    ends: list[tuple[str, tuple[int, int], int]],
    looked_at: set[str],
    most_bytes: int,
) -> None:
    columns = GraphColumns(GraphState(1))
    for name, (valid, bits, energy) in held.items():
        columns.hold_memory(memory(name, valid, bits, energy))
        columns.hold_keys(name, [f"key of {name}"])
    for name in NAMES[:2]:
        rows = [LinkRow(other, "NEXT", name, 1, 5, *valid, bits) for other, valid, bits in ends]
        columns.hold_links(name, len(rows), rows)
    columns.questions = 7
    for name in looked_at:
        columns.record(name)
    kept = columns.used_last(most_bytes)
    assert kept.state == columns.state
    assert not kept.used_last(most_bytes).ids  # nobody has looked at anything since
    assert not any(columns.differs(kept, name) for name in NAMES)
    known = {name for name in NAMES if kept.degree(name) != UNKNOWN}
    assert known <= looked_at & set(NAMES[:2])
    if kept.bytes <= most_bytes:
        assert known == looked_at & set(NAMES[:2])
        assert looked_at <= set(kept.ids)


def test_no_graph_is_dropped_because_another_is_asked_beside_it() -> None:
    cache = ColumnsCache(6_000)
    for _ in range(4):
        for graph, count in (("g0", 16), ("g1", 4)):
            columns = cache.of(graph, GraphState(1))
            columns.questions += 1
            for number in range(count):
                columns.hold_memory(memory(f"m{number}", (0, 9), OPEN, 0.5))
                columns.record(f"m{number}")
            assert cache.bytes <= 6_000
    assert len(cache.of("g0", GraphState(1)).ids) > 4


def test_above_the_bound_whole_graphs_go_the_least_asked_first() -> None:
    cache = ColumnsCache(3_000)
    columns = [cache.of(f"g{number}", GraphState(1)) for number in range(2)]
    assert cache.of("g0", GraphState(1)) is columns[0]
    for number in range(5):
        columns[0].hold_memory(memory(f"m{number}", (0, 9), OPEN, 0.5))
    assert cache.of("g0", GraphState(1)) is columns[0]
    assert cache.of("g1", GraphState(1)) is not columns[1]


@given(
    st.lists(st.tuples(st.integers(1, 3), st.sets(st.sampled_from(("a", "b|c", "d\x1f é", " ")))), min_size=1),
    st.data(),
)
def test_what_changed_is_told_only_where_every_write_between_told(
    writes: list[tuple[int, set[str]]], data: st.DataObject
) -> None:
    clocks, notes = [10], []
    for step, changed in writes:
        clocks.append(clocks[-1] + step)
        notes.append(f"{clocks[-2]} {clocks[-1]} {note_of(changed)}")
    since = data.draw(st.integers(0, len(writes)))
    until = data.draw(st.integers(since, len(writes)))
    due = set().union(*(changed for _, changed in writes[since:until]))
    assert changed_between(notes, clocks[since], clocks[until]) == due
    assert changed_between(notes, clocks[until], clocks[since]) == (None if since < until else set())
    assert changed_between(notes, 5, clocks[until]) is None
    if since < until:
        lost = data.draw(st.integers(since, until - 1))
        assert changed_between(notes[:lost] + notes[lost + 1 :], clocks[since], clocks[until]) is None


def test_a_write_that_changed_much_does_not_tell_what() -> None:
    assert note_of([str(number) for number in range(MOST_CHANGED)]) is not None
    assert note_of([str(number) for number in range(MOST_CHANGED + 1)]) is None
