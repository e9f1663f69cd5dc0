"""Cascades simulated in memory: applied whole, taken back whole."""

from __future__ import annotations

from typing import Any

from orchestration.writing.cascade import Plan, Step, cascade_parts
from orchestration.writing.changes import WriteTimes
from orchestration.writing.command_rows import NamedCommand
from orchestration.writing.simulation import PlannedWrite, Simulation, StoredParts
from schemas.memory import ResolutionState
from tests.unit.orchestration.writing.memory_store import NOW, MemoryStore, command, remember

PLAN = Plan((Step("x", "memory", ResolutionState.IN_PROGRESS), Step("gone", "memory", ResolutionState.RESOLVED)))


def simulation() -> Simulation:
    store = MemoryStore()
    store.apply(remember("b", resolution_state="blocked"), remember("x", resolution_state="blocked"))
    parts = StoredParts(store.memories, store.links, store.receipts, {})
    return Simulation(parts, WriteTimes(NOW, NOW))


def states(simulated: Simulation) -> dict[str, Any]:
    return {
        chain.id: chain.open_records()[-1].content["resolution_state"]
        for chain in simulated.chains
        if chain.records
    }


def test_a_cascade_leaves_a_receipt_for_each_part_and_an_undo_takes_all_back() -> None:
    simulated = simulation()
    resolve = command("resolve", id="b", cascade=True, command_id="c")
    outcome = simulated.simulate(NamedCommand(resolve, "c"), cascade_parts(resolve, PLAN))
    assert isinstance(outcome, PlannedWrite)
    assert [row["command_id"] for row in simulated.receipt_rows] == ["c", "c|1"]
    assert states(simulated) == {"b": "resolved", "x": "in_progress"}
    undone = simulated.simulate(NamedCommand(command("undo", id="x"), "u"))
    assert isinstance(undone, PlannedWrite)
    assert states(simulated) == {"b": "blocked", "x": "blocked"}


def test_what_is_resolved_already_may_still_have_something_that_follows() -> None:
    simulated = simulation()
    simulated.simulate(NamedCommand(command("resolve", id="b"), "first"))
    again = command("resolve", id="b", cascade=True)
    assert isinstance(simulated.simulate(NamedCommand(again, "second"), cascade_parts(again, PLAN)), PlannedWrite)
    refused = simulated.simulate(NamedCommand(again, "third"), cascade_parts(again, PLAN))
    assert getattr(refused, "problem", None) == "conflict"
