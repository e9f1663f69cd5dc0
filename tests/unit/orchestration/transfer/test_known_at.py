"""A graph as it was known at a moment."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestration.transfer.line_format import MemoryLines, memory_as_known
from schemas.temporal import END_OF_TIME
from substrate.store.archive import PastRecord, Trace

EVER = END_OF_TIME


def record(
    version: int, created_at: int, expired_at: int = EVER, valid_at: int = 0, **fields: Any
) -> dict[str, Any]:
    times = {"valid_at": valid_at, "invalid_at": EVER, "created_at": created_at, "expired_at": expired_at}
    return {"id": "a", "version": version, **times, **fields}


def memory(carried: dict[str, Any], *past: dict[str, Any]) -> MemoryLines:
    traces = [Trace(n, "PastTrace", {}) for n in range(len(past))]
    records = [PastRecord(7, properties, trace) for properties, trace in zip(past, traces, strict=True)]
    return MemoryLines(carried, Trace(99, "Trace", {}), {"#new": {}}, records)


@given(st.integers(0, 40), st.integers(0, 40))
def test_nothing_that_came_later_shows(created_at: int, known_at: int) -> None:
    known = memory_as_known(memory(record(1, created_at)), known_at)
    assert (known is None) is (created_at > known_at)
