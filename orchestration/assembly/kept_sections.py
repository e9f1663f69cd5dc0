"""The sections of a stream that have memories and links, as JSON that is kept: all else is written anew. Pure.

What is sent is, byte by byte, what `sent_form.stream_json` makes of the stream.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

import orjson

from orchestration.assembly.budget import Budget
from orchestration.assembly.fitting import FULL_TOKENS, Sent, send
from orchestration.assembly.sent_form import (
    estimate_tokens,
    frame_json,
    records_json,
    saved_bytes,
    sections_of,
    with_estimate,
)
from schemas.intention import Form, Part
from schemas.stream import ConsciousnessStream

type _Way = tuple[Form, tuple[Part, ...] | None]
MOST_WAYS: Final = 4
"""So many forms of one stream are kept."""


class KeptSections(NamedTuple):
    """Sections by name, and the bytes by which references make the stream smaller."""

    sections: Mapping[str, orjson.Fragment]
    saved: float
    size: int


class SentAgain:
    """A stream, and its sections as they were sent. `bytes`: of all of them."""

    __slots__ = ("_kept", "bytes", "stream")

    def __init__(self, stream: ConsciousnessStream) -> None:
        self.stream = stream
        self.bytes = 0
        self._kept: dict[_Way, KeptSections] = {}

    def send(self, stream: ConsciousnessStream, asked: Sent, budget: Budget | None) -> bytes:
        """Like `fitting.send`, for this stream with other ids, times and energy of the citizen."""
        if budget is not None or asked.form == "compact":
            return send(stream, asked, budget)
        wanted = sections_of(asked.form, asked.parts)
        kept = self._sections(asked, wanted)
        body = frame_json(stream, asked.form, wanted, kept.sections)
        if asked.form == "full" and estimate_tokens(len(body)) > FULL_TOKENS:
            return send(stream, asked, budget)
        return with_estimate(body, asked.form, kept.saved)

    def _sections(self, asked: Sent, wanted: Collection[str]) -> KeptSections:
        way = (asked.form, asked.parts)
        kept = self._kept.get(way)
        if kept is None:
            while len(self._kept) >= MOST_WAYS:
                self.bytes -= self._kept.pop(next(iter(self._kept))).size
            sections = records_json(self.stream, asked.form, wanted)
            size = sum(map(len, sections.values()))
            fragments = {name: orjson.Fragment(section) for name, section in sections.items()}
            kept = self._kept[way] = KeptSections(fragments, saved_bytes(self.stream, wanted), size)
            self.bytes += size
        return kept
