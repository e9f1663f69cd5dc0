"""Receipts: as they are stored, given again, and refused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing import receipts, records
from orchestration.writing.changes import Refusal
from schemas.memory import Level, Source
from schemas.temporal import END_OF_TIME, Instant, Period, to_instant
from substrate.bitemporal import Record
from substrate.store.rows import StoredReceipt
from tests.unit.orchestration.writing.memory_store import NOW, command, relate, remember

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


def test_a_command_sent_again_gets_its_first_receipt_marked_as_a_duplicate() -> None:
    sent = remember("m", command_id="c", weather="rain")
    row = receipts.receipt_row(sent, "c", Record("m", 1, Period(1), Period(NOW)))
    first = receipts.rebuild_from_row({**row, "created_at": NOW}, Level.N1)
    assert first.warnings == ("unknown fields were kept in extra: weather",)
    assert receipts.repeat_receipt(sent, stored(row)) == first.model_copy(update={"duplicate": True})


def test_a_command_id_that_was_used_for_another_content_is_refused() -> None:
    row = receipts.receipt_row(remember("m"), "c", Record("m", 1, Period(1), Period(NOW)))
    with pytest.raises(Refusal) as refusal:
        receipts.repeat_receipt(remember("m", name="another"), stored(row))
    assert (refusal.value.problem, refusal.value.faults) == ("conflict", (receipts.OTHER_CONTENT,))


@pytest.mark.parametrize("source", Source)
def test_a_command_of_a_lowered_source_is_still_the_one_that_was_sent_without_it(source: Source) -> None:
    sent = remember("m", command_id="c")
    row = receipts.receipt_row(sent, "c", Record("m", 1, Period(1), Period(NOW)))
    lowered = sent.with_source(source)
    if source in (Source.CITIZEN, Source.SYSTEM):
        with pytest.raises(Refusal):
            receipts.repeat_receipt(lowered, stored(row))
    else:
        assert receipts.repeat_receipt(lowered, stored(row)).duplicate


def test_a_receipt_of_a_repeated_text_names_the_memory_that_says_it() -> None:
    record = Record("old", 2, Period(1), Period(5))
    row = receipts.recognised_row(remember(command_id="c"), "c", record, "recognised: so it is")
    receipt = receipts.rebuild_receipt(stored(row, row["created_at"]), Level.N1)
    assert (receipt.recognised, receipt.id, receipt.duplicate) == ("old", "old", True)
    assert receipt.warnings[-1] == "recognised: so it is"
    assert receipt.created_at is not None
    assert to_instant(receipt.created_at) == 5


def test_a_link_that_lacks_what_a_good_one_has_is_stored_with_warnings() -> None:
    texts = receipts.collect_warnings(relate("a", "b"))
    assert texts
    assert tuple(orjson.loads(receipts.warnings_json(texts) or "[]")) == texts
    assert receipts.warnings_json(()) is None


def test_a_refused_command_keeps_its_notes_and_names_every_fault() -> None:
    sent = command("correct", id="m", name="x")
    refusal = Refusal("conflict", "one", "other", current_version=3)
    receipt = receipts.refuse(sent, refusal, command_id="c", record_id="m")
    assert (receipt.status, receipt.problem, receipt.faults) == ("refused", "conflict", ("one", "other"))
    assert (receipt.command_id, receipt.id, receipt.current_version) == ("c", "m", 3)
    assert receipt.warnings == sent.notes


@pytest.mark.parametrize("finished", [True, False])
def test_a_receipt_of_an_erasure_names_nothing_that_was_erased(finished: bool) -> None:
    receipt = receipts.build_erasure_receipt("c", Level.N2, NOW, finished=finished)
    assert (receipt.command, receipt.id, receipt.version) == ("erase", None, None)
    assert (receipt.warnings == ()) is finished


def test_the_fingerprint_in_a_receipt_is_that_of_its_command() -> None:
    sent = remember("m")
    row = receipts.receipt_row(sent, "c", Record("m", 1, Period(1), Period(NOW)))
    assert row["fingerprint"] == records.fingerprint(sent)
