"""What of a citizen's window and senses is kept."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.mind.state import StateChange


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"window": [{"id": f"m{number}"} for number in range(1_000)]}, "at most 64 items"),
        ({"window": ["x" * 11_000, "y" * 11_000]}, "more than 20000 characters"),
        ({"window": [{"id": "a|b"}]}, "an id is one line"),
        ({"window": [{}]}, "has an id, a text, or both"),
        ({"focus": "x" * 1_001}, "at most 1000 characters"),
        ({"senses": {"pain": 1.5}}, "less than or equal to 1"),
        ({"senses": {"pain": True}}, "pain"),
        ({"senses": {f"s{number}": 1 for number in range(33)}}, "at most 32 items"),
        ({"drives": {"rest": {"satisfaction": -0.1}}}, "greater than or equal to 0"),
        ({"last_cycle_at": "2026-01-01T00:00:00Z"}, "last_cycle_at"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_words(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        StateChange.model_validate(fields)
