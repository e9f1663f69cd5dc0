"""What is parsed is bounded in its length first: a text without end is refused unread, whatever it begins with."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from orchestration.ingestion.formats import File, FileSet, parse
from orchestration.ingestion.written_times import parse_time
from orchestration.question.time_expressions import MAX_PHRASES, read_times
from orchestration.writing.restatements import readings
from schemas.commands import Remember
from schemas.errors import InvalidRequest
from schemas.temporal import Moment
from tests.acceptance.conftest import Service, problem_in

ONES = "1." * 100_000
LONG = "a time has at most 64 characters"
YEARS_OF_A_DATE = 26


@pytest.mark.parametrize(
    "text", [ONES, "2026-01-01T00:00:00." + "0" * 100_000, ":11.1111111" * 10_000, " " * 100_000]
)
def test_a_time_is_not_looked_into_when_it_is_longer_than_any_time(text: str) -> None:
    with pytest.raises(ValidationError, match=LONG):
        TypeAdapter(Moment).validate_python(text)
    with pytest.raises(ValueError, match=LONG):
        parse_time(text)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("memories", {"name": "n", "valid_at": ONES}),
        ("memories/N1/m/retract", {"effective_at": ONES}),
        ("retrieve", {"query_text": "x", "temporal_mode": "point_in_time", "as_of_time": ONES}),
        ("resonate", {"window": [{"text": "x", "shown_at": ONES}]}),
        ("episodes", {"messages": [{"speaker": "Ada", "text": "Hello.", "time": ONES}]}),
        ("episodes", {"messages": [{"speaker": "Ada", "text": "Hello.", "timestamp": ONES}]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_body_brings_in_a_time_without_end(service: Service, route: str, body: dict[str, Any]) -> None:
    said = problem_in(service.http.post(f"/v1/{route}", json={"citizen_id": "c", **body}), 422)
    assert LONG in said["detail"]


@pytest.mark.parametrize("path", ["citizens/c/state", "memories", "memories/N1/m", "citizens/c/export"])
def test_no_address_brings_in_a_time_without_end(service: Service, path: str) -> None:
    whose = {} if path.startswith("citizens") else {"citizen_id": "c"}
    said = problem_in(service.http.get(f"/v1/{path}", params={**whose, "known_at": ONES[:9000]}), 422)
    assert LONG in said["detail"]


def test_a_tag_with_a_version_of_thousands_of_digits_is_no_tag(service: Service, citizen: str) -> None:
    service.remember(citizen, id="m", name="n")
    real = service.http.get("/v1/memories/N1/m", params={"citizen_id": citizen}).headers["ETag"]
    tag = real.replace('"1-', f'"{"1" * 5000}-')
    body = {"citizen_id": citizen, "name": "other"}
    answer = service.http.post("/v1/memories/N1/m/correct", json=body, headers={"If-Match": tag})
    assert "names no tag" in problem_in(answer, 412)["detail"]


def test_numbers_that_are_sent_as_texts_are_not_parsed(service: Service) -> None:
    body = {"citizen_id": "c", "query_embedding": [ONES]}
    said = problem_in(service.http.post("/v1/resonate", json=body), 422)
    assert "query_embedding.0: Input should be a valid number" in said["faults"]


def test_a_question_may_name_all_days_of_a_year_and_is_asked_of_some() -> None:
    days = " ".join(f"{day} {month}" for month in ("may", "june", "july") for day in range(1, 31))
    assert 0 < len(read_times(days, datetime(2026, 1, 1, tzinfo=UTC)).periods) <= MAX_PHRASES * YEARS_OF_A_DATE
    dates = " ".join(f"20{year:02}-01-01" for year in range(90))
    assert len(read_times(dates, datetime(2026, 1, 1, tzinfo=UTC)).periods) == MAX_PHRASES
    often = read_times("yesterday " * 2_000, datetime(2026, 1, 1, tzinfo=UTC))
    assert (len(often.periods), often.alone) == (1, True)


def test_a_text_made_for_repeated_scans_is_scanned_once() -> None:
    """Where each sign was a place to begin anew, a line of these lengths took from minutes to days."""
    heading = File("heading.md", "Words.\n# a" + " " * 100_000 + "b")
    with pytest.raises(InvalidRequest, match="line 2, heading: has 100,002 characters"):
        parse("markdown", FileSet("notes", (heading,), "c"))
    note = "---\nother: x" + " " * 90_000 + "y\n---\n[[a" + "a" * 90_000
    parse("markdown", FileSet("notes", (File("note.md", note),), "c"))
    again = Remember(citizen_id="c", name="n", description="[a] " + " (" * 49_000)
    assert len(readings(again)) == 0


def test_the_fault_of_a_long_time_is_short() -> None:
    said = {"speaker": "Ada", "text": "Hello.", "time": ONES}
    with pytest.raises(InvalidRequest) as refused:
        parse("messages", FileSet("talk", (File("talk", json.dumps([said])),), "c"))
    assert len(refused.value.detail) < 400
