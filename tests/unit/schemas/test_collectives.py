"""Collectives: the graphs that a question and a command name."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.intention import RetrievalIntention


@pytest.mark.parametrize(
    ("fields", "graphs"),
    [
        ({}, ("N1", "N2", "N3")),
        ({"collectives": ["atlas", "borea", "atlas"]}, ("N1", "N2", "N2:atlas", "N2:borea", "N3")),
        ({"collectives": []}, ("N1", "N2", "N3")),
        ({"query_levels": ["N1"], "collectives": ["atlas"]}, ("N1", "N2:atlas")),
        ({"query_levels": ["N2", "N1"], "collectives": ["atlas"]}, ("N2", "N2:atlas", "N1")),
    ],
)
def test_a_question_asks_its_levels_and_further_collectives_after_the_default_one(
    fields: dict[str, Any], graphs: tuple[str, ...]
) -> None:
    assert RetrievalIntention(query_text="t", citizen_id="ada", **fields).graphs == graphs


@pytest.mark.parametrize("collectives", [["a", "b", "c", "d", "e"], ["n2"], ["../x"], ["a:b"], ["*"], [""]])
def test_a_question_takes_at_most_four_ids_of_collectives(collectives: list[str]) -> None:
    with pytest.raises(ValidationError):
        RetrievalIntention(query_text="t", citizen_id="ada", collectives=collectives)
