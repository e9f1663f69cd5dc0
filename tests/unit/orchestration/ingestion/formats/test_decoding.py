"""Encodings: what a text was is read, and what had to be assumed is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.formats.reader import decode

TEXT = "Grüße aus Łódź: “tea”, 5 €, 山 🎣\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_or_utf_8_leaves_nothing_to_assume(encoding: str) -> None:
    assert decode(TEXT.encode(encoding)) == (TEXT, None)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_assumed(encoding: str) -> None:
    text = "Mira: good morning, " + TEXT
    assert decode(text.encode(encoding)) == (text, encoding.upper())


def test_what_is_no_utf_8_is_taken_for_windows_1252() -> None:
    text = "Café “Zoë”, 5 € à la carte"
    assert decode(text.encode("cp1252")) == (text, "Windows-1252")
    assert decode("Café".encode("latin-1")) == ("Café", "Windows-1252")


def test_what_has_zero_bytes_and_no_encoding_is_no_text() -> None:
    assert decode(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe\x00").text is None


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\ufeff"), min_size=1), st.integers(1, 3))
def test_a_text_cut_within_a_character_loses_that_character_alone(text: str, cut: int) -> None:
    raw = f"é{text}🎣".encode()
    assert decode(raw[:-cut]).text == f"é{text}"
