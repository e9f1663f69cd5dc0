"""Lists of commands simulated on what is stored."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from orchestration.writing import simulation
from orchestration.writing.simulation import PlannedWrite
from orchestration.writing.version_chain import VersionChain
from schemas.commands import WriteReceipt
from schemas.memory import Source
from schemas.temporal import to_instant
from substrate.bitemporal import Record
from tests.unit.orchestration.writing.memory_store import (
    NOW,
    MemoryStore,
    command,
    is_refused,
    lists_of_commands,
    moment,
    overlaps,
    relate,
    remember,
)

WORDS = "the harbour bell rings twice at noon"


def stored_with(*commands: Any) -> MemoryStore:
    store = MemoryStore()
    assert not any(map(is_refused, store.apply(*commands)))
    return store


def problem(outcome: Any) -> str | None:
    return outcome.problem if isinstance(outcome, WriteReceipt) else None


@given(lists_of_commands())
def test_no_two_open_records_of_one_identity_hold_at_one_instant(commands: list[Any]) -> None:
    store = MemoryStore()
    for one in commands:
        store.apply(one)
    for stored in (*store.memories.values(), *store.links.values()):
        assert overlaps([record for record in stored.records if record.known.end > NOW * 2]) == []


@given(lists_of_commands())
def test_a_list_leaves_what_its_commands_leave_one_by_one(commands: list[Any]) -> None:
    apart = MemoryStore()
    accepted = [one for one in commands if not is_refused(apart.apply(one)[0])]
    whole = MemoryStore()
    simulated = whole.simulation()
    outcomes = [simulated.simulate(whole.name(one)) for one in accepted]
    assert not any(map(is_refused, outcomes))
    if simulation.find_dangling_link(simulated.chains) is None:
        whole.apply(*accepted)
        assert whole.beliefs() == apart.beliefs()


@given(lists_of_commands())
def test_a_simulation_does_not_change_what_is_stored(commands: list[Any]) -> None:
    store = stored_with(remember("a"), remember("b"), relate("a", "b"))
    before = store.snapshot()
    simulated = store.simulation()
    for one in commands:
        simulated.simulate(store.name(one))
    assert store.snapshot() == before


@given(lists_of_commands())
def test_a_list_sent_again_is_answered_by_its_receipts_and_changes_nothing(commands: list[Any]) -> None:
    store = MemoryStore()
    named = [one.model_copy(update={"command_id": f"c{place}"}) for place, one in enumerate(commands)]
    accepted = [one for one in named if isinstance(store.apply(one)[0], PlannedWrite)]
    before = store.snapshot()
    for receipt in store.apply(*accepted, now=NOW + 1_000_000):
        assert isinstance(receipt, WriteReceipt)
        assert (receipt.status, receipt.duplicate) == ("stored", True)
    assert store.snapshot() == before


def test_a_command_that_comes_twice_in_a_list_is_applied_once() -> None:
    store = MemoryStore()
    twice = remember("a", command_id="c")
    first, again = store.apply(twice, twice)
    assert isinstance(first, PlannedWrite)
    assert isinstance(again, PlannedWrite)
    assert (first.duplicate, again.duplicate) == (False, True)
    assert first.receipt_row == again.receipt_row


def test_a_command_id_has_one_content_within_a_list_too() -> None:
    outcomes = MemoryStore().apply(remember("a", command_id="c"), remember("b", command_id="c"))
    assert list(map(problem, outcomes)) == [None, "conflict"]


@pytest.mark.parametrize(
    ("commands", "problems"),
    [
        ([relate("a", "b")], ["not-found"]),
        ([remember("a"), relate("a", "b")], [None, "not-found"]),
        ([remember("a"), remember("b"), relate("a", "b")], [None, None, None]),
        ([command("correct", id="a", name="x")], ["not-found"]),
        ([remember("a"), remember("a", name="another")], [None, "conflict"]),
        (
            [remember("a"), command("retract", id="a"), command("correct", id="a", name="x")],
            [None, None, "conflict"],
        ),
        ([remember("a"), command("undo", id="a")], [None, "conflict"]),
    ],
)
def test_a_later_command_decides_on_the_state_that_earlier_ones_left(
    commands: list[Any], problems: list[str | None]
) -> None:
    assert list(map(problem, MemoryStore().apply(*commands))) == problems


def test_all_that_a_list_opens_is_known_from_one_moment_after_the_last_change() -> None:
    store = stored_with(remember("a"))
    store.apply(remember("b"), command("correct", id="a", name="x"), now=NOW - 10)
    assert {stored.records[-1].known.start for stored in store.memories.values()} == {NOW + 1}


def test_a_link_to_a_memory_that_its_list_withdraws_is_loose() -> None:
    simulated = MemoryStore().simulation()
    store = MemoryStore()
    for one in (remember("a"), remember("b"), relate("a", "b"), command("retract", id="b")):
        simulated.simulate(store.name(one))
    assert simulation.find_dangling_link(simulated.chains) == "a|NEXT|b"


def test_a_write_expects_the_state_of_every_memory_that_was_read() -> None:
    store = stored_with(remember("a"), remember("b"))
    simulated = store.simulation()
    simulated.simulate(store.name(relate("a", "b")))
    simulated.simulate(store.name(remember("new")))
    expected = simulation.expected_state(simulated.chains)
    assert sorted(expected.ids) == ["a", "b", "new"]
    assert sorted(expected.memories) == [["a", 1, NOW], ["b", 1, NOW]]
    assert [(link["id"], link["carried"], link["past"]) for link in expected.links] == [("a|NEXT|b", [], 0)]


# --- texts that are said again ---------------------------------------------------------------------------


def carried_record(store: MemoryStore, memory_id: str) -> Record:
    record = VersionChain.from_stored(memory_id, store.memories[memory_id], None).carried
    assert record is not None
    return record


def test_a_repeated_text_leaves_only_a_receipt() -> None:
    store = stored_with(remember("a", description=WORDS))
    again = store.name(remember(description=WORDS))
    simulated = store.simulation(repeated={again.command_id: carried_record(store, "a")})
    outcome = simulated.simulate(again)
    assert isinstance(outcome, PlannedWrite)
    assert (outcome.duplicate, outcome.receipt_row["id"], outcome.receipt_row["recognised"]) == (True, "a", 1)
    assert [chain.id for chain in simulated.chains if chain.is_changed] == []


def test_a_repeated_text_is_stored_where_an_earlier_command_of_the_list_changed_the_memory() -> None:
    store = stored_with(remember("a", description=WORDS))
    again = store.name(remember(description=WORDS))
    simulated = store.simulation(repeated={again.command_id: carried_record(store, "a")})
    simulated.simulate(store.name(command("correct", id="a", description="another text")))
    outcome = simulated.simulate(again)
    assert isinstance(outcome, PlannedWrite)
    assert (outcome.duplicate, outcome.receipt_row["id"]) == (False, again.record_id)


def test_a_source_of_more_weight_makes_the_memory_it_repeats_its_own() -> None:
    store = stored_with(remember("a", description=WORDS, source="tool"))
    again = store.name(remember(description=WORDS))
    simulated = store.simulation(repeated={again.command_id: carried_record(store, "a")})
    simulated.simulate(again)
    [chain] = [chain for chain in simulated.chains if chain.id == "a"]
    assert [record.content["source"] for record in chain.open_records()] == [Source.CITIZEN]
    assert chain.open_records()[0].valid.start == to_instant(moment(1))
