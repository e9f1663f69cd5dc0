"""The text of a file in any of the encodings that programs export in. Pure."""

from __future__ import annotations

import codecs
from typing import Final, NamedTuple

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and their encodings; the longer ones first, because one begins with another."""
_LOOKED_AT: Final = 4096
"""Bytes by which UTF-16 without a mark, and files that are no text, are recognised."""
_LONGEST: Final = 4
"""Bytes of the longest character in UTF-8."""


class Decoded(NamedTuple):
    """A text, or None for a file that is none; and the encoding, when it had to be assumed."""

    text: str | None
    assumed: str | None = None


def decode(raw: bytes) -> Decoded:
    """Decode UTF-8, UTF-16 and UTF-32 with or without a mark, and anything else as Windows-1252.

    A last character of which only a part is there is left out, if others show that it is UTF-8: the file was cut.
    """
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if marked is not None:
        return Decoded(raw.decode(marked, "replace").rstrip("\ufffd"))
    wide = _wide(raw)
    if wide is not None:
        return Decoded(raw.decode(wide, "replace").rstrip("\ufffd"), wide.upper())
    try:
        return Decoded(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        whole = raw[: error.start]
        if error.reason == "unexpected end of data" and len(raw) - len(whole) < _LONGEST and not whole.isascii():
            return Decoded(whole.decode("utf-8"))
    if b"\0" in raw[:_LOOKED_AT]:
        return Decoded(None)
    return Decoded(raw.decode("latin-1").translate(_WINDOWS), "Windows-1252")


def _wide(raw: bytes) -> str | None:
    """UTF-16 without a mark: in most texts every second byte is zero, and few of the others."""
    start = raw[:_LOOKED_AT]
    even, odd = start[0::2].count(0), start[1::2].count(0)
    if max(even, odd) < max(2, len(start) // 5) or min(even, odd) > len(start) // 20:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


_WINDOWS: Final = {
    byte: character for byte in range(128, 160) if (character := bytes([byte]).decode("cp1252", "ignore"))
}
"""What Windows-1252 has where Latin-1 has control characters; five of these stay, and are left out later."""
