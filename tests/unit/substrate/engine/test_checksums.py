"""The record of checksums, the log's manifest, and what a log has lost."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.engine.checksums import (
    MAX_PREFIXES,
    LogFile,
    Prefix,
    RecordDamaged,
    _thin,
    format_record,
    missing_files,
    parse_manifest,
    parse_record,
)

prefixes = st.builds(Prefix, st.integers(0, 2**40), st.integers(0, 2**32 - 1), st.floats(0, 2**40))
records = st.dictionaries(st.text(max_size=12), st.lists(prefixes, max_size=4), max_size=4)
BASE, COMMANDS = (
    LogFile("engine.aof.3.base.rdb", 3, is_base=True),
    LogFile("engine.aof.5.incr.aof", 5, is_base=False),
)


@given(records)
def test_a_record_that_is_written_is_read_back(record: dict[str, list[Prefix]]) -> None:
    assert parse_record(format_record(record)) == record


@given(records, st.data())
def test_a_record_with_one_other_byte_is_refused_or_reads_the_same(
    record: dict[str, list[Prefix]], data: st.DataObject
) -> None:
    text = bytearray(format_record(record))
    text[data.draw(st.integers(0, len(text) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(RecordDamaged):
        assert parse_record(bytes(text)) == record


@pytest.mark.parametrize("text", [b"", b"12", b"x\n{}", b"0\n{}", b"223132457\n[]"])
def test_text_that_is_no_record_is_refused(text: bytes) -> None:
    with pytest.raises(RecordDamaged):
        parse_record(text)


def test_a_manifest_names_the_base_first_and_no_history() -> None:
    manifest = "\n".join(
        (
            "file engine.aof.5.incr.aof seq 5 type i",
            "file engine.aof.3.base.rdb seq 3 type b",
            "file engine.aof.2.incr.aof seq 2 type h",
            "file ../escape seq 9 type i",
            "file engine.aof.x seq x type i",
            "not a line of a manifest",
        )
    )
    assert parse_manifest(manifest) == [BASE, COMMANDS]


@pytest.mark.parametrize(
    ("recorded", "files", "missing"),
    [
        ([BASE.name, COMMANDS.name], [BASE, COMMANDS], []),
        ([BASE.name, COMMANDS.name], [BASE], [COMMANDS.name]),
        ([BASE.name, COMMANDS.name], [], [BASE.name, COMMANDS.name]),
        (["engine.aof.2.base.rdb", "engine.aof.4.incr.aof"], [BASE, COMMANDS], []),
    ],
    ids=["all there", "commands gone", "all gone", "replaced by a newer base"],
)
def test_a_recorded_file_is_missing_unless_a_newer_base_replaced_it(
    recorded: list[str], files: list[LogFile], missing: list[str]
) -> None:
    assert missing_files({name: [Prefix()] for name in recorded}, files) == missing


@given(st.lists(st.integers(0, 10**6), min_size=MAX_PREFIXES + 1, max_size=MAX_PREFIXES + 1, unique=True))
def test_thinning_drops_one_prefix_and_keeps_the_first_and_the_last(sizes: list[int]) -> None:
    before = [Prefix(size) for size in sorted(sizes)]
    after = _thin(before)
    assert (len(after), after[0], after[-1]) == (MAX_PREFIXES, before[0], before[-1])
    assert set(after) < set(before)
