"""How well a memory fits the time that a question names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestration.ranking.times import (
    seeking_fits,
)
from schemas.temporal import to_instant
from tests.builders import a_memory

FRIDAY = datetime(2023, 7, 7, tzinfo=UTC)


def memory(name: str, days: float, text: str = "x", **fields: Any) -> Any:
    return a_memory(name, valid_at=to_instant(FRIDAY + timedelta(days=days)), description=text, **fields)


@pytest.mark.parametrize(("seeking", "first"), [("latest", "new"), ("earliest", "old")])
def test_of_those_about_it_the_latest_or_earliest_fits_best(seeking: Any, first: str) -> None:
    memories = {each.key: each for each in (memory("old", 0), memory("new", 9), memory("newer elsewhere", 20))}
    base = dict(zip(memories, (0.9, 1.0, 0.1), strict=True))
    found = seeking_fits(memories, base, seeking)
    assert {key[1]: fit for key, fit in found.items()} == {first: 1.0, {"new": "old", "old": "new"}[first]: 0.5}
    assert seeking_fits(memories, base, None) == {}
