"""Commands that erase, and their report."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from schemas.commands import EraseCitizen, EraseEpisode, EraseMemory


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
