"""Damage of any kind to an export: what is whole is read, or the file is refused; never anything else."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS, read_raw

FILES = sorted(path for path in EXPORTS.rglob("*") if path.is_file())
PIECES = (
    b"",
    b"null",
    b"{}",
    b"[]",
    b"[[[",
    b'"',
    b"\x00",
    b"1e400",
    b"-1",
    b"99999999999999999999",
    b"<![",
    b"\r",
    b"\xff",
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), st.sampled_from(PIECES)), min_size=1, max_size=4),
    st.booleans(),
)
def test_any_damage_is_told(path: Path, damages: list[tuple[float, int, bytes]], is_cut: bool) -> None:
    raw = path.read_bytes()
    for place, removed, added in damages:
        at = int(place * len(raw))
        raw = raw[:at] + added + (b"" if is_cut else raw[at + removed :])
    with contextlib.suppress(InvalidRequest):
        assert read_raw(path.name, raw).items


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.csv", b'text,b\n"x\r\r\ny\x1c",1\rz,2\n'),
        ("a.html", b"<html><![[[[DOCTYPE en>a"),
        ("a.eml", b"From: Ada <a@b.c>\nDate: Mon, 3 Mar 99999999999999999999 10:00:00 +0000\n\nHello there\n"),
        (
            "a.json",
            b'[{"uuid": "u", "chat_messages": [{"sender": "human", "uuid": "1", '
            b'"content": [{"type": {}}], "text": "a"}]}]',
        ),
    ],
)
def test_damage_that_was_met(name: str, raw: bytes) -> None:
    with contextlib.suppress(InvalidRequest):
        assert read_raw(name, raw).items


def test_of_a_mail_with_a_date_that_no_clock_has_the_date_is_told() -> None:
    raw = b"From: Ada <a@b.c>\nDate: Mon, 3 Mar 99999999999999999999 10:00:00 +0000\n\nHello there\n"
    with pytest.raises(InvalidRequest, match=r"99999999999999999999 10:00:00 .* is no time"):
        read_raw("a.eml", raw)
    head = b"From: Bo <b@b.c>\nDate: Mon, 3 Mar 2025 10:00:00 +0000\nContent-Type: message/rfc822\n\n"
    [mail] = read_raw("a.eml", head + raw).items
    assert "> Date: Mon, 3 Mar 99999999999999999999" in str(mail)
