"""Version chains: what a command leaves of one memory or link, and the rows that write it."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given

from orchestration.writing import version_chain as chain_rows
from orchestration.writing.version_chain import VersionChain
from schemas.temporal import END_OF_TIME, to_instant
from substrate.store.changesets import TransactionRows
from tests.unit.orchestration.writing.memory_store import (
    NOW,
    MemoryStore,
    command,
    commands_of_any_kind,
    is_refused,
    lists_of_commands,
    moment,
    relate,
    remember,
)


def rows_of(store: MemoryStore, *commands: Any) -> tuple[TransactionRows, dict[str, VersionChain]]:
    """The rows that the commands lead to, as one list on a store, and the chains that they leave."""
    simulated = store.simulation()
    for one in commands:
        simulated.simulate(store.name(one))
    vectors = {text: [1.0] for text in chain_rows.texts_to_embed(simulated.chains)}
    changed = TransactionRows(NOW)
    chain_rows.add_rows(simulated.chains, vectors, changed)
    return changed, {chain.id: chain for chain in simulated.chains}


def undo(change: Any) -> Any:
    return command("undo_link" if change.id in ("a|NEXT|b", "own") else "undo", id=change.id)


def stored_list(commands: list[Any]) -> MemoryStore:
    """A store that holds what the commands left that could be applied."""
    store = MemoryStore()
    for one in commands:
        store.apply(one)
    return store


@given(lists_of_commands(), commands_of_any_kind())
def test_an_undo_restores_what_was_believed_before_the_change(commands: list[Any], change: Any) -> None:
    store = stored_list(commands)
    before = store.beliefs()
    assume(change.command not in ("remember", "relate"))
    assume(not is_refused(store.apply(change)[0]))
    [outcome] = store.apply(undo(change))
    assert not is_refused(outcome)
    assert store.beliefs() == before


@given(lists_of_commands(), commands_of_any_kind())
def test_an_undo_in_the_list_of_its_change_leaves_nothing_of_it(commands: list[Any], change: Any) -> None:
    store = stored_list(commands)
    assume(change.command not in ("remember", "relate"))
    before = store.memories | store.links
    outcomes = store.apply(change, undo(change))
    assume(not any(map(is_refused, outcomes)))
    after = store.memories | store.links
    assert {identity: stored.records for identity, stored in after.items()} == {
        identity: stored.records for identity, stored in before.items()
    }


@given(lists_of_commands(), commands_of_any_kind())
def test_no_record_that_was_known_is_lost_or_changed_but_for_its_end(commands: list[Any], change: Any) -> None:
    store = stored_list(commands)
    before = store.memories | store.links
    store.apply(change)
    for identity, stored in (store.memories | store.links).items():
        after = {record.version: record for record in stored.records}
        for record in before[identity].records if identity in before else ():
            assert after[record.version].content == record.content
            assert after[record.version].valid == record.valid
            assert after[record.version].known.start == record.known.start


@given(lists_of_commands(), lists_of_commands(4))
def test_the_rows_of_a_memory_make_the_records_that_its_chain_leaves(commands: list[Any], more: list[Any]) -> None:
    store = stored_list(commands)
    changed, chains = rows_of(store, *more)
    for chain in chains.values():
        if chain.link_name is not None or not chain.is_changed:
            continue
        before, after = chain.states[0], chain.states[-1]
        carried = [row["marks"] for row in (*changed.new, *changed.carried) if row["id"] == chain.id]
        opened = [record["marks"] for row in changed.past if row["id"] == chain.id for record in row["records"]]
        closed = [row["marks"] for row in changed.closing if row["id"] == chain.id]
        moved = {row["version"] for row in changed.moved if row["id"] == chain.id}
        past = [*(before.past.keys() - moved), *(marks["version"] for marks in opened)]
        assert sorted(past) == sorted(after.past)
        assert [marks["version"] for marks in carried] in ([], [after.carried])
        written = {marks["version"]: marks for marks in (*carried, *opened, *closed)}
        for version, record in after.records.items():
            times = (*record.valid, *record.known)
            if version in written:
                marks = written[version]
                assert times == tuple(
                    marks[name] for name in ("valid_at", "invalid_at", "created_at", "expired_at")
                )
            else:
                assert record == before.records[version]


def test_the_pieces_that_a_stretch_leaves_of_a_record_share_one_row() -> None:
    store = stored_list([remember("a", description="x")])
    stretch = {"valid_from": moment(10), "valid_to": moment(20)}
    changed, _ = rows_of(store, command("correct", id="a", description="y", **stretch))
    row_by_source = {row["of"]: len(row["records"]) for row in changed.past if row["embedding"] is None}
    assert row_by_source == {1: 2}  # the closed record, and the piece before the stretch
    assert [row["marks"]["version"] for row in changed.carried] == [4]


def test_a_record_that_is_carried_again_leaves_the_past_side() -> None:
    later = command("supersede", id="a", energy=0.1, effective_at=moment(50))
    store = stored_list([remember("a"), later])
    changed, chains = rows_of(store, command("retract", id="a"))
    assert changed.moved == [{"id": "a", "version": 2}]
    assert [row["marks"]["version"] for row in changed.carried] == [2]
    assert [record["marks"]["version"] for row in changed.past for record in row["records"]] == [3]
    assert chains["a"].states[-1].carried == 2


def test_only_a_text_that_differs_is_embedded() -> None:
    store = stored_list([remember("a", description="x"), remember("b", description="x")])
    simulated = store.simulation()
    for one in (command("correct", id="a", energy=0.1), command("correct", id="b", description="y")):
        simulated.simulate(store.name(one))
    assert chain_rows.texts_to_embed(simulated.chains) == ["b. y"]


def test_an_open_record_beside_the_carried_one_is_pending_until_its_end() -> None:
    store = stored_list([remember("a")])
    changed, _ = rows_of(store, command("supersede", id="a", energy=0.1, effective_at=moment(200)))
    assert changed.pending_until == to_instant(moment(200)) < END_OF_TIME


def test_a_retracted_memory_moves_to_the_past_side_and_its_undo_moves_it_back() -> None:
    store = stored_list([remember("a", tags=["x"])])
    changed, _ = rows_of(store, command("retract", id="a"))
    assert (changed.withdrawn, changed.restored) == (["a"], [])
    store.apply(command("retract", id="a"))
    changed, _ = rows_of(store, command("undo", id="a"))
    assert (changed.withdrawn, changed.restored) == ([], ["a"])


def test_the_first_record_of_a_link_has_no_version() -> None:
    store = stored_list([remember("a"), remember("b")])
    changed, _ = rows_of(store, relate("a", "b"))
    assert [opened["marks"]["version"] for opened in changed.links[0]["opened"]] == [None]
