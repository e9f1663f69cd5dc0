"""A graph as it was known at a moment."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestration.transfer.known_at import as_known, known_links, memory_as_known
from orchestration.transfer.line_format import MemoryLines
from schemas.temporal import END_OF_TIME
from substrate.store.archive import PastRecord, StoredLink, Trace

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


def test_a_record_closed_later_is_exported_open_and_without_the_reason() -> None:
    closed = record(1, 10, 20, closed_by="command", closed_reason="discovered_false")
    assert as_known(closed, 15) == record(1, 10)
    assert as_known(closed, 20) == closed


@given(st.integers(0, 40), st.integers(0, 40))
def test_nothing_that_came_later_shows(created_at: int, known_at: int) -> None:
    known = memory_as_known(memory(record(1, created_at)), known_at)
    assert (known is None) is (created_at > known_at)


def test_an_identity_carries_the_last_of_its_open_records() -> None:
    today = memory(record(2, 20, tags='["new"]', touched=20, versions=2), record(1, 10, 20, tags='["old"]'))
    before = memory_as_known(today, 15)
    assert before is not None
    assert before.carried == record(1, 10, tags='["old"]')
    assert (before.trace, before.tags, before.records) == (Trace(0, "Trace", {}), {"#old": {}}, [])
    after = memory_as_known(today, 20)
    assert after is not None
    assert after.carried == today.carried
    assert [one.properties for one in after.records] == [record(1, 10, 20, tags='["old"]')]
    assert after.records[0].trace == Trace(0, "PastTrace", {})


def test_a_retracted_memory_has_its_trace_on_the_past_side() -> None:
    retracted = memory(record(1, 10, 20))
    known = memory_as_known(retracted, 30)
    assert known is not None
    assert known.trace == Trace(99, "PastTrace", {})
    assert known.carried == record(1, 10, 20, touched=20, versions=1)


def test_all_records_of_a_link_but_the_carried_one_are_past() -> None:
    stored = [StoredLink("a", "b", record(1, 10, 20)), StoredLink("a", "b", record(2, 20))]
    assert [(link.link.properties["version"], link.past) for link in known_links(stored, 5)] == []
    assert [(link.link.properties["version"], link.past) for link in known_links(stored, 15)] == [(1, False)]
    assert [(link.link.properties["version"], link.past) for link in known_links(stored, 25)] == [
        (1, True),
        (2, False),
    ]
    assert [link.past for link in known_links([StoredLink("a", "b", record(1, 10, 20))], 30)] == [True]
