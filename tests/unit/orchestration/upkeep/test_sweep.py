"""What a sweep lists, and which levels it takes."""

from __future__ import annotations

import pytest

from orchestration.upkeep.findings import (
    SweptGraph,
    build_finding,
)
from orchestration.upkeep.sweep import Ledger
from schemas.memory import Level
from schemas.upkeep import SweepRequest, Task

GRAPH = SweptGraph(Level.N1, "ada")


def test_the_ledger_counts_all_and_lists_the_first_the_gravest_first() -> None:
    ledger = Ledger(2)
    ledger.add(build_finding("unset_default", GRAPH, str(n), "") for n in range(5))
    ledger.add(build_finding("overlap", GRAPH, str(n), "") for n in range(3))
    assert list(ledger.by_kind().items()) == [("overlap", 3), ("unset_default", 5)]
    assert [(one.kind, one.id) for one in ledger.findings()] == [
        ("overlap", "0"), ("overlap", "1"), ("unset_default", "0"), ("unset_default", "1"),
    ]  # fmt: skip


def test_a_sweep_takes_the_levels_that_can_be_named() -> None:
    assert SweepRequest().chosen() == (Level.N2, Level.N3)
    assert SweepRequest(citizen_id="ada").chosen() == (Level.N1, Level.N2, Level.N3)
    with pytest.raises(ValueError, match="N1 is personal"):
        SweepRequest(levels=(Level.N1,))
    with pytest.raises(ValueError, match="N1 is personal"):
        Task()
