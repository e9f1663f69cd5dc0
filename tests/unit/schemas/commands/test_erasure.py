"""Commands that erase, and their report."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from schemas.commands.erasure import EraseCitizen, EraseEpisode, EraseMemory, ErasureReport, Removed


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (EraseMemory, {"citizen_id": "ada"}),
        (EraseMemory, {"citizen_id": "ada", "id": ""}),
        (EraseEpisode, {"citizen_id": "ada"}),
        (EraseEpisode, {"episode_id": "e"}),
        (EraseCitizen, {}),
        (EraseCitizen, {"citizen_id": "no one"}),
    ],
)
def test_a_command_that_does_not_name_what_it_erases_is_refused(
    kind: type[BaseModel], fields: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        kind.model_validate(fields)


def test_a_report_says_what_was_removed_and_whether_the_log_was_rewritten() -> None:
    report = ErasureReport(
        command_id="c", erased="memory", erased_at=datetime(2026, 1, 1, tzinfo=UTC), removed=Removed(memories=1),
        log_rewritten=True,
    )  # fmt: skip
    assert ErasureReport.model_validate_json(report.model_dump_json()) == report
    assert sum(report.removed.model_dump().values()) == 1
    assert not report.duplicate
