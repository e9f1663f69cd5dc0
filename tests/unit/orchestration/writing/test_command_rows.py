"""Rows of new memories and links, and the receipts of those rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing import command_rows
from orchestration.writing.changes import Refusal
from orchestration.writing.command_rows import identity
from schemas.temporal import END_OF_TIME, Period
from substrate.store.rows import RowOutcome, StoredReceipt
from tests.unit.orchestration.writing.memory_store import NOW, command, moment, remember

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


# --- rows ------------------------------------------------------------------------------------------------


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
