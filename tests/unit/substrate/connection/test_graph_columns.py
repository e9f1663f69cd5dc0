"""Columns of a graph's present say what plain rows say."""

from __future__ import annotations

from typing import Any

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
from substrate.connection.kept import GraphState, Records, changed_between
from substrate.cypher.fragments import NODE_COLUMNS
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
    slot = columns.slot("a")
    columns.hold_links(slot, len(rows), rows)
    passed = None if passing is None else {columns.slot(name) for name in passing}
    wanted = Wanted(OPEN | TELLS, SHOWN | WALKED, least, 0.0, passed)
    due = []
    for place, (other, (since, until), bits) in enumerate(ends):
        (began, ended), of_other, energy = held[other]
        is_held = since <= now < until and began <= now < ended
        is_wanted = of_other == OPEN | TELLS and bits & WALKED and energy >= least
        if is_held and is_wanted and (passing is None or other in passing):
            due.append(place)
    linked = columns.links(slot)
    assert columns.holding(slot, linked, now, wanted) == [(linked[one], columns.slot(ends[one][0])) for one in due]


def test_the_name_of_a_link_follows_from_its_ends_where_it_has_no_id_of_its_own() -> None:
    columns = GraphColumns()
    a, b = columns.slot("a"), columns.slot("b")
    rows = [LinkRow("b", "NEXT", None, 2, 5, 0, 9, OUTGOING), LinkRow("b", "NEXT", "own", 1, 6, 0, 9, 0)]
    columns.hold_links(a, 2, rows)
    one, other = columns.links(a)
    assert columns.link_version(one) == ("a|NEXT|b", 2, 5, END_OF_TIME)
    assert columns.link_version(other) == ("own", 1, 6, END_OF_TIME)
    assert [columns.ends(each) for each in (one, other)] == [("a", "b"), ("b", "a")]
    assert columns.unknown_ends([a]) == [b]


def test_a_link_has_one_place_for_both_of_its_ends() -> None:
    columns = GraphColumns()
    a, b = columns.slot("a"), columns.slot("b")
    columns.hold_links(a, 1, [LinkRow("b", "NEXT", None, 1, 5, 0, 9, OUTGOING | SHOWN)])
    columns.hold_links(
        b, 2, [LinkRow("a", "NEXT", None, 1, 5, 0, 9, SHOWN), LinkRow("a", "NEXT", "own", 1, 5, 0, 9, 0)]
    )
    assert [*columns.links(b)] == [*columns.links(a), 1]


def test_the_record_of_another_version_is_not_that_of_a_memory_that_is_held() -> None:
    columns = GraphColumns()
    slot = columns.slot("m")
    columns.hold_row(row := whole(version=1))
    record = columns.record(slot, 1, 3, END_OF_TIME)
    assert record is not None
    assert record.row == row
    assert columns.take(row) is record
    assert columns.record(slot, 2, 3, END_OF_TIME) is None
    assert columns.take(whole(version=2)).row == whole(version=2)
    assert columns.record(slot, 2, 3, END_OF_TIME) is None  # it may be one of the past
    columns.hold_row(whole(version=2))
    assert columns.record(slot, 2, 3, END_OF_TIME) is not None
    columns.hold_memory(memory("m", (0, 9), OPEN, 0.5))
    assert columns.take(row) is columns.record(slot, 1, 3, END_OF_TIME)
    assert columns.take(whole(version=2)) is not columns.take(whole(version=2))
    assert columns.take(whole(version=1, expired_at=8)).row == whole(version=1, expired_at=8)
    columns.forget(["m"])
    assert columns.record(slot, 1, 3, END_OF_TIME) is None


def whole(**fields: Any) -> list[Any]:
    """The whole row of the record of a memory."""
    known = {"id": "m", "version": 1, "created_at": 3, "expired_at": END_OF_TIME, **fields}
    return [known.get(name) for name in NODE_COLUMNS]


def test_open_records_are_closed_first_those_that_nobody_asked_for_meanwhile() -> None:
    records, rows = Records(9_000), [whole(version=version) for version in range(3)]
    for place, row in enumerate(rows):
        records.add_place()
        records.hold(place, row)
    found = [records.find(place) for place in range(3)]
    assert records.find(0) is found[0]
    records.close(1)
    assert [records.find(place) is record for place, record in enumerate(found)] == [True, False, True]
    assert [record and record.row for record in map(records.find, range(3))] == rows
    records.close(10**9)
    assert (records.of_open, records.bytes > 0) == (0, True)
    for place in range(3):
        records.drop(place)
    assert (records.bytes, records.of_open, records.find(0)) == (0, 0, None)


def test_what_is_forgotten_is_to_be_read_again_and_found_by_nobody() -> None:
    columns = GraphColumns()
    a, b = columns.slot("a"), columns.slot("b")
    for name in ("a", "b"):
        columns.hold_memory(memory(name, (0, 9), OPEN, 0.5))
    columns.hold_links(a, 1, [LinkRow("b", "NEXT", None, 1, 5, 0, 9, SHOWN)])
    assert len(columns.holding(a, columns.links(a), 4, Wanted(OPEN, SHOWN))) == 1
    columns.forget(["b"])
    assert columns.unknown_ends([a]) == [b]
    assert columns.holding(a, columns.links(a), 4, Wanted(OPEN, SHOWN)) == []
    columns.forget(["a"])
    assert columns.degree(a) == UNKNOWN


def test_columns_are_those_of_one_state_and_a_write_of_this_process_leads_to_the_next() -> None:
    cache, first = ColumnsCache(), GraphState(1)
    columns = cache.of("g", first)
    columns.hold_memory(memory("a", (0, 9), OPEN, 0.5))
    cache.carry("g", first, GraphState(2), ["b"])
    assert cache.of("g", GraphState(2)) is columns
    cache.carry("g", GraphState(4), GraphState(5), ["b"])
    assert cache.of("g", GraphState(5)) is not columns


def test_after_writes_that_do_not_say_what_they_changed_only_records_are_held() -> None:
    cache, shifted = ColumnsCache(), GraphState(3, shifts=1)
    columns = cache.of("g", GraphState(1))
    columns.hold_memory(memory("m", (0, 9), OPEN, 0.5))
    record = columns.take(whole())
    later = cache.of("g", GraphState(2))
    columns.slot("another of a question that began before")
    slot = later.slot("m")
    assert (later.keys(slot), later.degree(slot), later.record(slot, 1, 3, END_OF_TIME)) == (None, UNKNOWN, record)
    other = later.slot("other")
    later.hold_row(whole(id="other"))
    assert [later.take(whole(id=name)).row[0] for name in ("m", "other")] == ["m", "other"]
    assert later.record(other, 1, 3, END_OF_TIME) is not None
    later.hold_memory(MemoryRow("m", 2, 4, 0, 9, 0.5, 0.5, OPEN, ""))
    assert later.record(slot, 1, 3, END_OF_TIME) is None
    assert not cache.of("g", shifted).ids


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
        columns.hold_links(columns.slot(name), len(rows), rows)
    columns.questions = 7
    for name in looked_at:
        columns.links(columns.slot(name))
    kept = columns.used_last(most_bytes)
    assert kept.state == columns.state
    assert not kept.used_last(most_bytes).ids  # nobody has looked at anything since
    assert not any(columns.differs(kept, name) for name in NAMES)
    known = {name for name in kept.ids if kept.degree(kept.slot(name)) != UNKNOWN}
    assert known <= looked_at & set(NAMES[:2])
    if kept.bytes_held <= most_bytes:
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
                columns.links(columns.slot(f"m{number}"))
            assert cache.bytes <= 6_000
    assert len(cache.of("g0", GraphState(1)).ids) > 4


def test_a_graph_may_fill_nearly_all_that_no_other_takes_and_nearly_half_at_least() -> None:
    cache = ColumnsCache(20_000)
    one = cache.of("one", GraphState(1))
    assert cache.room_for(one) == 18_000
    other = cache.of("other", GraphState(1))
    number = 0
    while other.bytes_held < 11_000:
        other.hold_memory(memory(f"m{number}", (0, 9), OPEN, 0.5))
        number += 1
    assert cache.of("other", GraphState(1)) is other
    assert cache.room_for(one) == 9_000
    assert cache.room_for(other) == 18_000 * (20_000 - one.counted) // 20_000


def test_above_the_bound_whole_graphs_go_the_least_asked_first() -> None:
    cache = ColumnsCache(3_000)
    columns = [cache.of(f"g{number}", GraphState(1)) for number in range(2)]
    assert cache.of("g0", GraphState(1)) is columns[0]
    for number in range(5):
        columns[0].hold_memory(memory(f"m{number}", (0, 9), OPEN, 0.5))
    assert cache.of("g0", GraphState(1)) is columns[0]
    assert cache.of("g1", GraphState(1)) is not columns[1]


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sets(st.sampled_from(("a", "b|c", "d\x1f é", " ")))),
        min_size=1,
    ),
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
