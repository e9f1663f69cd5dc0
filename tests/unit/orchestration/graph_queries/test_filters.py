"""What filters mean in a graph: how few can pass, and which values nobody has."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.graph_queries.filters import Fewest, describe_unknown, find_fewest, unknown_values
from schemas.intention import Filters
from substrate.store.held_values import MANY


def filters(**fields: Any) -> Filters:
    return Filters.model_validate(fields)


@pytest.mark.parametrize(
    ("asked", "counts", "fewest"),
    [
        ({"tags": ["sea", "wind"]}, {"tags": {"sea": 9, "wind": 4}}, Fewest(4, "#wind")),
        ({"tags": ["gone"], "speakers": ["Ada"]}, {"speakers": {"Ada": 3}}, Fewest(0, "#gone")),
        ({"buckets": ["home"], "speakers": ["Ada"]}, {"buckets": {"home": 9}, "speakers": {"Ada": 3}}, Fewest(3)),
        ({"speakers": ["Ada", "Luca"]}, {"speakers": {"Ada": 3, "Luca": 5}}, Fewest(8)),
        ({"speakers": ["Ada"]}, {"speakers": {"Ada": MANY + 1}}, None),
        ({"valid_from": "2026-01-01"}, {}, None),
    ],
)
def test_the_rarest_condition_bounds_how_many_pass(
    asked: dict[str, Any], counts: dict[str, dict[str, int]], fewest: Fewest | None
) -> None:
    assert find_fewest(filters(**asked), counts) == fewest


def test_a_value_is_unknown_when_no_graph_has_it() -> None:
    asked = filters(speakers=["Ada", "Luca"], tags=["sea", "old"])
    counts = [{"speakers": {"Ada": 2}}, {"tags": {"old": 0}}]
    assert unknown_values(asked, counts) == [("tags", "sea"), ("speakers", "Luca")]


@pytest.mark.parametrize(
    ("name", "value", "known", "said"),
    [
        ("speakers", "ana", ["Luca", "Anna"], "no memory has the speaker 'ana': did you mean 'Anna'?"),
        ("tags", "harbor", ["harbour"], "no memory has the tag 'harbor': did you mean 'harbour'?"),
        ("node_types", "Car", ["Turn", "Memory"], "no memory has the type 'Car'; there are 'Turn', 'Memory'"),
        ("sources", "tool", ["citizen"], "no memory has the source 'tool'; there is 'citizen'"),
        ("episodes", "x", ["monday"], "no memory has the episode 'x'"),
        ("speakers", "x", [], "no memory has the speaker 'x'"),
    ],
)
def test_a_note_on_an_unknown_value_says_what_there_is(name: str, value: str, known: list[str], said: str) -> None:
    assert describe_unknown(name, value, known) == said
