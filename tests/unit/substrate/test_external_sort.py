"""Sorting on disk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from substrate.external_sort import ExternalSorter


@given(st.lists(st.tuples(st.binary(max_size=5), st.binary(max_size=5))), st.sampled_from([1, 700, 10**6]))
def test_lines_come_back_by_key_and_then_by_themselves(entries: list[tuple[bytes, bytes]], run: int) -> None:
    with ExternalSorter(run) as sorter:
        for key, line in entries:
            sorter.add(key, line)
        assert list(sorter.lines()) == [line for _, line in sorted(entries)]
