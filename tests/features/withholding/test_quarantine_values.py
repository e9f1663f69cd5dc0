"""A quarantine names what it hides, in one graph."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.features.withholding.values import QuarantineRequest
from schemas.collectives import GraphRequest


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"citizen_id": "ada"}, "name what to quarantine"),
        ({"source": "tool"}, "level N1 is personal"),
        ({"citizen_id": "ada", "source": "nobody"}, "source"),
        ({"citizen_id": "ada", "since": "2026-01-02", "until": "2026-01-01"}, "until must lie after since"),
    ],
)
def test_a_quarantine_of_nothing_of_nobody_or_of_no_time_is_refused(fields: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        QuarantineRequest.model_validate(fields)


def test_a_shared_level_needs_no_citizen() -> None:
    assert GraphRequest.model_validate({"level": "N2"}).citizen_id is None
