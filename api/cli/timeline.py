"""Records as bars in a terminal: each over one axis of time that all of them share. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

_BAR, _ONWARDS, _BEFORE = "━", "▶", "·"


class Span(NamedTuple):
    """When something begins and ends; None is an open end."""

    start: datetime
    end: datetime | None


def bars(spans: Sequence[Span], width: int) -> list[str]:
    """One bar of `width` characters for each span, from the first moment that any names to the last.

    The last sixth is kept for what goes on: an open end is an arrow at the right edge. What is shorter than a
    character takes one.
    """
    moments = [moment for span in spans for moment in span if moment is not None]
    first, last = min(moments), max(moments)
    places = width - max(1, width // 6)
    length = (last - first).total_seconds() or 1.0

    def place(moment: datetime) -> int:
        return round((moment - first).total_seconds() / length * places)

    def drawn(span: Span) -> str:
        start = min(place(span.start), places - 1)
        if span.end is None:
            return _BEFORE * start + _BAR * (width - 1 - start) + _ONWARDS
        end = max(place(span.end), start + 1)
        return _BEFORE * start + _BAR * (end - start) + _BEFORE * (width - end)

    return [drawn(span) for span in spans]
