"""Records that hold at the same time are found exactly where there are any."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep import findings as time_overlaps
from orchestration.upkeep.findings import (
    SweptGraph,
)
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Period
from substrate.store.upkeep import (
    Content,
    RecordRow,
)

GRAPH = SweptGraph(Level.N1, "ada")


def record(
    valid: tuple[int, int], known: tuple[int, int], version: int = 1, *, carried: bool = False
) -> RecordRow:
    return RecordRow("m", version, Period(*valid), Period(*known), carried)


times = st.tuples(st.integers(0, 8), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(st.tuples(times, times), max_size=7))
def test_an_overlap_is_found_exactly_when_there_is_one(drawn: list[tuple[Any, Any]]) -> None:
    records = [record(valid, known) for valid, known in drawn]
    pairs = list(time_overlaps.find_overlaps(records))
    really = [
        (one, other)
        for one, other in combinations(records, 2)
        if one.valid.overlaps(other.valid) and one.known.overlaps(other.known)
    ]
    assert bool(pairs) == bool(really)
    assert all(a.valid.overlaps(b.valid) and a.known.overlaps(b.known) for a, b in pairs)


def content(identity: str, text: str, valid: tuple[int, int] = (0, END_OF_TIME), **fields: Any) -> Content:
    whole = {"name": "n", "speaker": None, "node_type": "Memory", "known": Period(int(identity, 36), END_OF_TIME)}
    return Content(id=identity, description=text, version=1, valid=Period(*valid), **{**whole, **fields})


@pytest.mark.parametrize(
    ("contents", "found"),
    [
        ([content("a", "Tea is green"), content("b", "tea  IS\ngreen")], ["b"]),
        ([content("a", "Forêt"), content("b", "foret")], ["b"]),
        ([content("b", "Tea"), content("a", "Tea"), content("c", "Tea")], ["b", "c"]),
        ([content("a", "Tea"), content("b", "Tea!")], []),
        ([content("a", "Tea"), content("b", "Tea", name="other")], []),
        ([content("a", "Tea", (0, 10)), content("b", "Tea", (10, 20)), content("c", "Tea", (15, 30))], ["c"]),
        ([content("a", "Tea"), content("b", "Tea", known=Period(5, 9))], []),
        ([content("a", "", node_type="Person"), content("b", "", node_type="Tool")], []),
        ([content("a", "", node_type="Person"), content("b", "", node_type="Person")], ["b"]),
        ([content("a", "Yes, of course.", speaker="x"), content("b", "Yes, of course.", speaker="x")], []),
        ([content("a", "one two three four five six", speaker=who) for who in ("x", "y")], []),
        ([content(n, "one two three four five six", speaker="x") for n in "ab"], ["b"]),
    ],
)
def test_duplicates_say_the_same_over_the_same_time(contents: list[Content], found: list[str]) -> None:
    assert [
        one.id for one in time_overlaps.find_duplicates(list(time_overlaps.date_contents(contents)), GRAPH)
    ] == found
