"""The report on calls of a language model and on the facts that it found."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from schemas.language_model import FactsReport, ModelCall, Supersession

CALL = ModelCall(purpose="facts", model="m", milliseconds=3.5, requests=2)


def test_tokens_and_cost_that_nobody_counted_are_absent_and_not_zero() -> None:
    assert (CALL.input_tokens, CALL.output_tokens, CALL.cost, CALL.failure) == (None, None, None, None)


def test_a_report_is_read_as_it_was_written() -> None:
    ended = Supersession(
        ended="l1", by="l2", effective_at=datetime(2026, 1, 1, tzinfo=UTC), applied=False, reason="r"
    )
    report = FactsReport(links=("l2",), known=1, supersessions=(ended,), model_calls=(CALL,))
    assert FactsReport.model_validate_json(report.model_dump_json()) == report


def test_a_call_has_one_of_three_purposes() -> None:
    with pytest.raises(ValidationError):
        ModelCall.model_validate({**CALL.model_dump(), "purpose": "chat"})
