"""Records as bars: all on one scale, in proportion, none without a mark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from api.cli.history import Span, draw_bars

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def span(start: int, end: int | None) -> Span:
    return Span(FIRST + timedelta(days=start), None if end is None else FIRST + timedelta(days=end))


@given(st.lists(st.tuples(st.integers(0, 10**5), st.none() | st.integers(1, 10**5)), min_size=1, max_size=8))
def test_every_bar_has_the_same_width_and_a_mark_and_later_starts_stand_no_farther_left(
    said: list[tuple[int, int | None]],
) -> None:
    spans = [span(start, None if length is None else start + length) for start, length in said]
    drawn = draw_bars(spans, 19)
    assert {len(bar) for bar in drawn} == {19}
    assert all("━" in bar for bar in drawn)
    assert [bar.endswith("▶") for bar in drawn] == [one.end is None for one in spans]
    begins = [bar.index("━") for _, bar in sorted(zip(spans, drawn, strict=True), key=lambda pair: pair[0].start)]
    assert begins == sorted(begins)
