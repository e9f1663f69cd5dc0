"""Receipts: as they are stored, given again, and refused."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing import receipts
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Instant, Period, to_instant
from substrate.bitemporal import Record
from substrate.store.rows import StoredReceipt
from tests.unit.orchestration.writing.memory_store import NOW, remember

INSTANTS = st.integers(0, 2**52)


def stored(row: dict[str, Any], at: Instant = NOW) -> StoredReceipt:
    fields: dict[str, Any] = {name: row.get(name) for name in StoredReceipt._fields}
    return StoredReceipt(**{**fields, "created_at": at})


@given(INSTANTS, st.none() | INSTANTS, INSTANTS, st.integers(1, 99), st.lists(st.text(), max_size=3))
def test_a_receipt_read_back_says_what_was_written(
    start: Instant, end: Instant | None, at: Instant, version: int, notes: list[str]
) -> None:
    valid = Period(start, END_OF_TIME if end is None else end)
    record = Record("m", version, valid, Period(at))
    row = {**receipts.receipt_row(remember("m"), "c", record), "warnings": receipts.warnings_json(tuple(notes))}
    receipt = receipts.rebuild_receipt(stored(row, at), Level.N1)
    assert (receipt.command_id, receipt.command, receipt.id) == ("c", "remember", "m")
    assert (receipt.status, receipt.version, receipt.warnings) == ("stored", version, tuple(notes))
    assert receipt.valid_at is not None
    assert receipt.created_at is not None
    assert (to_instant(receipt.valid_at), to_instant(receipt.created_at)) == (start, at)
    assert (receipt.invalid_at is None) is (valid.end == END_OF_TIME)
    assert receipts.rebuild_from_row({**row, "created_at": at}, Level.N1) == receipt
