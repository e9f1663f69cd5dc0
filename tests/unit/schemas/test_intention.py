"""What a citizen may ask, and what is answered with a refusal."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.intention import RetrievalIntention

ASKED: dict[str, Any] = {"query_text": "What did Ada say?", "citizen_id": "ada"}
THEN = "2025-06-29T13:45:00Z"


def refusal(**fields: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        RetrievalIntention.model_validate({**ASKED, **fields})
    return str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query_text", ""),
        ("query_text", "   \n\t "),
        ("query_text", "x" * 20_001),
        ("query_text", "x" * 2_000_000),
        ("query_text", "a\x00b"),
        ("query_text", "a\x1bb"),
        ("query_text", "\ud800"),
        ("query_text", None),
        ("query_text", 7),
        ("citizen_id", None),
        ("citizen_id", "../ada"),
        ("citizen_id", "collective n2"),
        ("temporal_mode", "now"),
        ("temporal_mode", None),
        ("query_levels", ["N4"]),
        ("query_levels", ["n1"]),
        ("query_levels", []),
        ("query_levels", "N1"),
        ("max_results_per_level", 0),
        ("max_results_per_level", 101),
        ("max_results_per_level", 2.5),
        ("min_energy", 1.2),
        ("min_energy", math.nan),
        ("min_confidence", -0.1),
        ("min_confidence", math.inf),
        ("required_emotions", ["joy"] * 17),
        ("required_emotions", "joy"),
        ("required_emotions", ["jo\x00y"]),
        ("max_tokens", 0),
        ("max_tokens", -5),
        ("as_of_time", "yesterday"),
        ("time_range_start", "2400-01-01T00:00:00Z"),
        ("unknown_field", 1),
    ],
)
def test_a_bad_field_is_refused_and_named(field: str, value: Any) -> None:
    assert field in refusal(**{field: value})


@pytest.mark.parametrize("time", ["as_of_time", "known_at"])
def test_a_time_makes_the_mode_point_in_time(time: str) -> None:
    asked = RetrievalIntention.model_validate({"citizen_id": "a", "query_text": "tea", time: THEN})
    assert asked.temporal_mode == "point_in_time"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"temporal_mode": "point_in_time"}, "point_in_time needs as_of_time or known_at"),
        ({"as_of_time": THEN, "temporal_mode": "current"}, "need temporal_mode point_in_time"),
        ({"known_at": THEN, "temporal_mode": "evolution"}, "need temporal_mode point_in_time"),
        (
            {"temporal_mode": "evolution", "time_range_start": THEN, "time_range_end": THEN},
            "time_range_end must lie after",
        ),
    ],
)
def test_times_that_do_not_fit_the_mode_are_refused(fields: dict[str, Any], said: str) -> None:
    assert said in refusal(**fields)
