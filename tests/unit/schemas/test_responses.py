"""Answers of the service besides streams and records."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from schemas.responses import Alive, EpisodeProgress, EpisodeReport, IngestReport, LinkPage, MemoryPage, Ready

NOBODY: dict[str, Any] = {"citizen_id": "ada", "episode_id": "e"}
ANSWERS: list[BaseModel] = [
    Alive(),
    Ready(engine="embedded", ping_ms=0.2, graphs=None, embedding="m", dimension=0),
    MemoryPage(memories=(), next="c"),
    LinkPage(links=(), degraded=("a link",)),
    EpisodeProgress(**NOBODY, done=1, total=2, report=EpisodeReport(**NOBODY, stored=2)),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_is_read_as_it_was_written(answer: BaseModel) -> None:
    assert type(answer).model_validate_json(answer.model_dump_json()) == answer


def test_a_report_of_nothing_counts_nothing() -> None:
    assert {value for value in IngestReport().model_dump().values() if value} == set()


def test_a_conversation_in_the_background_has_one_of_three_states() -> None:
    assert EpisodeProgress(**NOBODY).status == "running"
    with pytest.raises(ValidationError):
        EpisodeProgress.model_validate({**NOBODY, "status": "lost"})
