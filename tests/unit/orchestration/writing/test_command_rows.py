"""Rows of new memories and links, and the receipts of those rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import handle, natural_id
from orchestration.writing import command_rows, receipts
from orchestration.writing.changes import Refusal
from orchestration.writing.command_rows import NamedCommand, identity, link_row, memory_row
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Period, to_instant
from substrate.cypher.fragments import LINK_COLUMNS, LINK_UPKEEP, NODE_COLUMNS, NODE_UPKEEP
from substrate.store.rows import RowOutcome, StoredReceipt
from tests.unit.orchestration.writing.memory_store import NOW, command, moment, relate, remember

INSTANTS = st.integers(0, 100)


def met(row: dict[str, Any], **fields: Any) -> RowOutcome:
    """What a row meets whose content is stored already, unless the fields say otherwise."""
    same = RowOutcome(row["id"], False, NOW, row["fingerprint"], 1, 1, END_OF_TIME, 5, END_OF_TIME)
    return same._replace(**fields)


# --- ids -------------------------------------------------------------------------------------------------


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_memory_without_an_id_has_one_by_its_command(one: str, other: str) -> None:
    bare = command("remember", name="x")
    assert (identity(bare, one) == identity(bare, other)) is (one == other)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (remember("m"), "m"),
        (relate("a", "b"), "a|NEXT|b"),
        (relate("a", "b", id="own"), "own"),
        (command("retract", id="m"), "m"),
        (command("unrelate", id="a|NEXT|b"), "a|NEXT|b"),
    ],
)
def test_a_command_writes_to_the_id_that_it_names(one: Any, expected: str) -> None:
    assert NamedCommand(one, "c").record_id == expected


# --- rows ------------------------------------------------------------------------------------------------


def test_a_row_of_a_memory_has_every_column_and_its_times() -> None:
    row = memory_row(remember("m", valid_at=moment(3)), "m", "c", NOW)
    assert set(row) == {*NODE_COLUMNS, *NODE_UPKEEP, "emotion", "tag_names"}
    assert (row["id"], row["command_id"], row["version"]) == ("m", "c", 1)
    assert (row["valid_at"], row["invalid_at"]) == (to_instant(moment(3)), END_OF_TIME)
    assert (row["created_at"], row["expired_at"]) == (NOW, END_OF_TIME)
    assert memory_row(remember("m", valid_at=None), "m", "c", NOW)["valid_at"] == NOW


def test_the_beginning_of_the_epoch_is_a_time_like_any_other() -> None:
    row = memory_row(remember("m", valid_at=datetime(1970, 1, 1, tzinfo=UTC)), "m", "c", NOW)
    assert row["valid_at"] == 0


@pytest.mark.parametrize(
    ("fields", "unset"),
    [
        ({}, "energy,confidence,emotion_vector"),
        ({"energy": 0.5}, "confidence,emotion_vector"),
        ({"energy": 0.5, "confidence": 0.5, "emotion_vector": {"joy": 0.5}}, None),
    ],
)
def test_a_row_says_which_fields_were_assumed(fields: dict[str, Any], unset: str | None) -> None:
    assert memory_row(remember("m", **fields), "m", "c", NOW)["unset"] == unset


def test_a_row_of_a_link_has_every_column_and_both_ends() -> None:
    row = link_row(relate("a", "b"), natural_id("a", "NEXT", "b"), "c", NOW)
    assert set(row) == {*LINK_COLUMNS, *LINK_UPKEEP, "handle", "source_id", "target_id"}
    assert (row["id"], row["source_id"], row["target_id"]) == ("a|NEXT|b", "a", "b")
    assert row["handle"] is None
    assert row["emotion_vector"] == '{"joy":0.5}'
    assert (row["energy_transfer_coefficient"], row["resolution_state"]) == (0.5, "in_progress")


def test_a_link_with_an_id_of_its_own_is_found_by_a_number() -> None:
    row = command_rows.new_row(relate("a", "b", id="l1"), "c", NOW)
    assert row["handle"] == handle("l1")


def test_a_row_has_a_receipt_of_its_own_or_is_a_part_of_one_command() -> None:
    bare, own = command("remember", name="x"), remember("m", command_id="c")
    row = command_rows.new_row(own, "c", NOW)
    alone = command_rows.with_receipt(own, row, 7)
    assert (alone["receipt"], alone["again"], alone["nth"]) == ("c", True, 7)
    assert command_rows.with_receipt(bare, command_rows.new_row(bare, "made", NOW), 0)["again"] is False
    [part] = command_rows.without_receipts([row])
    assert (part["receipt"], part["again"], part["warnings"], part["nth"]) == (None, False, None, 0)


# --- receipts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({"valid_at": None, "invalid_at": moment(99)}, True),
        ({"valid_at": None, "invalid_at": moment(100)}, True),
        ({"valid_at": None, "invalid_at": moment(101)}, False),
        ({"valid_at": moment(1), "invalid_at": moment(99)}, False),
        ({"valid_at": None}, False),
    ],
)
def test_nothing_begins_now_and_ended_before(fields: dict[str, Any], refused: bool) -> None:
    one = command("remember", name="x", **fields)
    if refused:
        with pytest.raises(Refusal, match="invalid_at lies in the past"):
            command_rows.check_end_ahead(one, NOW)
    else:
        command_rows.check_end_ahead(one, NOW)


@pytest.mark.parametrize(
    ("fields", "status", "duplicate", "problem"),
    [
        ({"new": True}, "stored", False, None),
        ({}, "stored", True, None),
        ({"fingerprint": 1}, "refused", False, "conflict"),
        ({"expired_at": 9, "version": 2}, "refused", False, "conflict"),
        ({"receipt": StoredReceipt("c", 1, "remember", "m", 1, 1, None, 5, None)}, "refused", False, "conflict"),
    ],
)
def test_a_row_is_stored_once_or_refused(
    fields: dict[str, Any], status: str, duplicate: bool, problem: str | None
) -> None:
    one = remember("m", command_id="c")
    row = command_rows.new_row(one, "c", NOW)
    receipt = command_rows.build_receipt(one, row, met(row, **fields))
    assert (receipt.status, receipt.duplicate, receipt.problem) == (status, duplicate, problem)


def test_a_row_whose_command_was_applied_gets_the_receipt_of_that_command() -> None:
    one = remember("m", command_id="c")
    row = command_rows.new_row(one, "c", NOW)
    stored = StoredReceipt("c", row["fingerprint"], "remember", "m", 4, 1, END_OF_TIME, 5, None)
    receipt = command_rows.build_receipt(one, row, met(row, receipt=stored))
    assert receipt == receipts.repeat_receipt(one, stored)


def test_a_link_names_every_end_that_is_missing() -> None:
    one = relate("a", "b")
    row = command_rows.new_row(one, "c", NOW)
    for has_source, has_target in ((False, True), (True, False), (False, False)):
        receipt = command_rows.build_receipt(one, row, met(row, has_source=has_source, has_target=has_target))
        missing = [end for end, exists in (("a", has_source), ("b", has_target)) if not exists]
        assert receipt.problem == "not-found"
        assert [fault.split()[1] for fault in receipt.faults] == missing


@given(INSTANTS, INSTANTS, INSTANTS, INSTANTS)
def test_an_identity_may_hold_again_where_it_does_not_hold(a: int, b: int, c: int, d: int) -> None:
    held, wanted = Period(min(a, b), max(a, b) + 1), Period(min(c, d), max(c, d) + 1)
    row = {
        **command_rows.new_row(remember("m"), "c", NOW),
        "valid_at": wanted.start,
        "invalid_at": wanted.end,
    }
    outcome = met(row, valid_at=held.start, invalid_at=held.end)
    assert command_rows.may_hold_again(row, outcome) is not held.overlaps(wanted)
    assert command_rows.may_hold_again(row, outcome._replace(expired_at=9))
    assert not command_rows.may_hold_again(row, outcome._replace(new=True))


@pytest.mark.parametrize(("level", "owner"), [(Level.N1, "citizen ada"), (Level.N2, "N2")])
def test_a_command_for_a_graph_that_does_not_exist_says_whose(level: Level, owner: str) -> None:
    named = NamedCommand(command("retract", id="m", level=level), "c")
    receipt = command_rows.refuse_without_graph(named)
    assert (receipt.problem, receipt.id) == ("not-found", "m")
    assert receipt.faults == (f"nothing was remembered for {owner} yet",)
