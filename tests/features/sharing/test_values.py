"""Requests of the shared world."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestration.features.sharing.values import ContestedQuery, ContestRequest, Share

SHARE: dict[str, Any] = {"citizen_id": "ada", "id": "home", "level": "N2"}


def test_a_share_names_where_a_memory_stands_and_where_it_goes() -> None:
    assert Share(**SHARE).stands_in == "N1"
    assert Share(**SHARE, collective="atlas").goes_to == "N2:atlas"
    up = Share(**{**SHARE, "level": "N3"}, from_level="N2", from_collective="atlas")
    assert (up.stands_in, up.goes_to) == ("N2:atlas", "N3")


@pytest.mark.parametrize(
    "fields",
    [{"level": "N1"}, {"from_level": "N2"}, {"from_level": "N3", "level": "N3"}, {"to": "N2"},
     {"level": "N3", "collective": "atlas"}, {"from_collective": "atlas"}, {"collective": "n2"}],
)  # fmt: skip
def test_a_share_goes_up_alone(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Share(**{**SHARE, **fields})


@pytest.mark.parametrize("fields", [{"level": "N1"}, {"reason": " "}, {"level": "N3", "collective": "atlas"}])
def test_a_contest_is_about_a_shared_memory_and_has_a_reason(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ContestRequest(**{"citizen_id": "ada", "id": "m", "level": "N2", "reason": "No.", **fields})


def test_a_list_is_of_one_graph() -> None:
    assert ContestedQuery(collective="atlas").graph_key == "N2:atlas"
    with pytest.raises(ValidationError):
        ContestedQuery(level="N3", collective="atlas")
