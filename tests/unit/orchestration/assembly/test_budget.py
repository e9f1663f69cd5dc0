"""How many tokens a memory costs."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.assembly.budget import Budget
from substrate.inference.tokens import counter
from tests.builders import a_node


@pytest.mark.parametrize(
    ("fields", "read"),
    [
        ({"name": "", "description": ""}, ": "),
        ({"name": "abcd", "description": "efgh"}, "abcd: efgh"),
        ({"name": "abcd", "description": "efgh", "speaker": "x"}, "x: efgh"),
    ],
)
def test_a_memory_costs_what_is_read_of_it(fields: dict[str, Any], read: str) -> None:
    assert Budget(9, len).cost(a_node(**fields)) == len(read)
    assert Budget(9, lambda text: 7 if text == read else 0).cost(a_node(**fields)) == 7


@pytest.mark.parametrize(("text", "count"), [("", 0), ("the", 1), (" the" * 1000, 1000), ("<|endoftext|>", 1)])
def test_tokens_are_counted_as_a_model_would(text: str, count: int) -> None:
    assert counter()(text) == count
