"""Collectives: the graphs that a question and a command name."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.collectives import GraphRequest, owner_of
from schemas.commands import Remember
from schemas.intention import RetrievalIntention
from schemas.keys import grants
from schemas.memory import Level


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


def test_a_collective_alone_means_its_graph_of_n2() -> None:
    assert GraphRequest(collective="atlas").graph_key == "N2:atlas"
    assert Remember(name="n", collective="atlas", citizen_id="ada").level is Level.N2
    assert GraphRequest(citizen_id="ada").graph_key == "N1"
    for level in ("N1", "N3"):
        with pytest.raises(ValidationError, match=f"a collective is on level N2, not on {level}"):
            GraphRequest(level=level, citizen_id="ada", collective="atlas")


def test_a_graph_is_called_by_its_owner() -> None:
    assert owner_of("N2:atlas", "ada") == "collective atlas"
    assert (owner_of(Level.N1, "ada"), owner_of(Level.N3, None)) == ("ada", "N3")


def test_the_collectives_that_scopes_name_one_by_one_are_in_their_order() -> None:
    scopes = ["collective:b:read", "collective:a:*", "collective:c:write", "collective:*:read", "N2:read"]
    assert grants(scopes).named_collectives("read") == ["a", "b"]
    assert grants(["admin"]).named_collectives("read") == []
