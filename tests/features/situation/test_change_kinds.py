"""Which kind of change a memory had since a moment."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.features.situation.queries import ChangedRecord
from orchestration.features.situation.stimuli import sort_changes
from orchestration.features.situation.values import CHANGE_KINDS, Changes
from schemas.memory import Level

SINCE = 100
PLAIN: dict[str, Any] = {
    "memory_id": "m", "at": 150, "known_at": 50, "before": "old", "work": None, "reason": None, "holds": True,
    "now": "new", "state": None, "speaker": None,
}  # fmt: skip


def record(**fields: Any) -> ChangedRecord:
    return ChangedRecord(**{**PLAIN, **fields})


def kinds(changes: Changes) -> dict[str, list[str]]:
    found = {kind: [one.memory_id for one in getattr(changes, kind)] for kind in CHANGE_KINDS}
    return {kind: ids for kind, ids in found.items() if ids}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([record(known_at=150, before=None)], {"new": ["m"]}),
        ([record()], {"corrected": ["m"]}),
        ([record(now="old")], {}),
        ([record(known_at=120)], {"new": ["m"]}),
        ([record(holds=False, now="")], {"closed": ["m"]}),
        ([record(known_at=120, holds=False, now="")], {}),
        ([record(work="blocked", state="resolved", now="old")], {"resolved": ["m"]}),
        ([record(work="resolved", state="resolved", now="old")], {}),
        ([record(known_at=120, before=None), record(work="linked", before=None)], {"resolved": ["m"]}),
        ([record(at=120, known_at=50, before="oldest"), record(at=150, known_at=120)], {"corrected": ["m"]}),
    ],
)
def test_a_memory_has_one_kind_of_change_or_none(records: Any, expected: dict[str, list[str]]) -> None:
    assert kinds(sort_changes([(Level.N1, records)], SINCE)) == expected
