"""A judgement says one thing: a new importance, or to leave the memory as it is."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestration.features.revaluation.values import DrawRequest, Judgement


@pytest.mark.parametrize("said", [{"importance": 0.0}, {"importance": 1.0, "version": 3}, {"leave": True}])
def test_a_judgement_says_one_thing(said: dict[str, Any]) -> None:
    assert Judgement.model_validate({"id": "m", **said}).id == "m"


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"leave": True, "importance": 0.5},
        {"importance": -0.1},
        {"importance": 1.1},
        {"importance": float("nan")},
        {"importance": 0.5, "version": 0},
        {"importance": 0.5, "id": ""},
        {"importance": 0.5, "energy": 1},
    ],
)
def test_any_other_judgement_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Judgement.model_validate({"id": "m", **said})


@pytest.mark.parametrize("said", [{"count": 0}, {"count": 1_000_000}, {"seed": -1}, {"seed": 2**60}])
def test_a_draw_is_bounded(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DrawRequest.model_validate(said)
