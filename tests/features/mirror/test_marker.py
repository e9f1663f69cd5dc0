"""The marker of a mirror: it is read as it was written, and a damaged or forged one is refused."""

from __future__ import annotations

import pytest

from orchestration.features.mirror.layout import FileNote, Marker, digest, dump_marker, dump_written, parse_marker
from schemas.errors import InvalidRequest

PATH = "@home/#sea/talk_1.md"
MARKER = Marker("ada", 5, 4, 1, 0, 9, {PATH: FileNote("inputs", digest(b"text"), [("tide", 3)])})


def test_a_marker_is_read_as_it_was_written() -> None:
    assert parse_marker(dump_marker(MARKER), None) == MARKER


def test_what_an_interrupted_run_wrote_is_no_edit() -> None:
    journal = dump_written(PATH, b"newer") + dump_written("@a/#b/c_1.md", b"other") + b'["@a/#b'
    note = parse_marker(dump_marker(MARKER), journal).files[PATH]
    assert [note.is_ours(content) for content in (b"text", b"newer", b"edited", None)] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"{}", b"[]", b"null", b'{"substrate": "mirror"}',
        dump_marker(MARKER).replace(b'"version": 1', b'"version": 2'),
        dump_marker(MARKER).replace(PATH.encode(), b"../../etc/x.md"), dump_marker(MARKER)[:-20],
        dump_marker(MARKER).replace(b'"known_at": 5', b'"known_at": "x"'),
    ],
)  # fmt: skip
def test_a_damaged_or_forged_marker_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidRequest):
        parse_marker(raw, None)


def test_a_journal_cannot_name_a_place_outside() -> None:
    with pytest.raises(InvalidRequest):
        parse_marker(dump_marker(MARKER), dump_written("../x.md", b""))
