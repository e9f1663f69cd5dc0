"""Names of graphs: one for each citizen, one for each of the shared levels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import Fault
from schemas.memory import Level, collective_of, graph_key, level_of
from substrate.graphs.names import graph_name, origin_of

citizens = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", fullmatch=True)


@given(citizens)
def test_the_graph_of_a_citizen_names_its_citizen(citizen: str) -> None:
    assert origin_of(graph_name(Level.N1, citizen)) == (Level.N1, citizen)


@given(citizens, citizens)
def test_no_two_citizens_share_a_graph(one: str, other: str) -> None:
    assert (graph_name(Level.N1, one) == graph_name(Level.N1, other)) is (one == other)


@pytest.mark.parametrize("level", [Level.N2, Level.N3])
@pytest.mark.parametrize("citizen", [None, "ada", "n2"])
def test_a_shared_level_has_one_graph_whoever_asks(level: Level, citizen: str | None) -> None:
    assert graph_name(level, citizen) == graph_name(level, None)
    assert origin_of(graph_name(level, citizen)) == (level, None)


@given(citizens, citizens)
def test_each_collective_has_a_graph_of_its_own(one: str, other: str) -> None:
    here, there = graph_key(Level.N2, one), graph_key(Level.N2, other)
    assert (graph_name(here, "ada") == graph_name(there, "kai")) is (one == other)
    assert graph_name(here, None) != graph_name(Level.N1, one)
    if one != "n2":
        assert origin_of(graph_name(here, None)) == (here, None)
        assert (level_of(here), collective_of(here)) == (Level.N2, one)


def test_the_first_level_needs_a_citizen() -> None:
    with pytest.raises(Fault, match="needs a citizen"):
        graph_name(Level.N1, None)
