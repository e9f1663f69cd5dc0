"""How many tokens a memory costs, and which memories fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.assembly.budget import Budget, fit_budget
from orchestration.ranking.candidates import Key
from schemas.memory import ConsciousnessNode, Level
from substrate.inference.tokens import by_characters, counter
from tests.builders import a_node

N1 = Level.N1


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


@pytest.mark.parametrize("error", [ImportError, OSError, ValueError])
def test_without_a_vocabulary_four_characters_are_a_token(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def missing(name: str) -> Any:
        raise error(name)

    monkeypatch.setattr("substrate.inference.tokens.import_module", missing)
    count = counter.__wrapped__()
    assert [count("x" * length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3)), max_size=6), max_size=3),
    st.integers(1, 40),
)
def test_the_chosen_memories_fit_the_budget_and_the_omitted_ones_did_not(
    sizes: list[list[tuple[int, int]]], budget: int
) -> None:
    tiers: list[list[tuple[Key, ConsciousnessNode]]] = [
        [((N1, f"{tier}-{place}", 1), a_node(name="x" * size)) for place, (size, _) in enumerate(held)]
        for tier, held in enumerate(sizes)
    ]
    ranks = {
        key: float(rank)
        for tier, held in zip(tiers, sizes, strict=True)
        for (key, _), (_, rank) in zip(tier, held, strict=True)
        if rank
    }
    count = Budget(budget, by_characters)
    fitting = fit_budget(tiers, ranks, count)
    left = budget
    for tier in tiers:
        for key, memory in sorted(tier, key=lambda pair: (-ranks.get(pair[0], 0.0), pair[0])):
            assert (key in fitting) is (count.cost(memory) <= left)
            left -= count.cost(memory) if key in fitting else 0
    assert left >= 0
    assert fitting <= {key for tier in tiers for key, _ in tier}


def test_a_tier_is_filled_before_the_next_and_within_it_by_fused_rank() -> None:
    first, second, third = ((N1, name, 1) for name in ("first", "second", "third"))
    four = a_node(name="x" * 14)
    tiers = [[(first, four), (second, four)], [(third, four)]]
    ranks = {second: 0.02, first: 0.01, third: 0.9}
    assert fit_budget(tiers, ranks, Budget(3, by_characters)) == set()
    assert fit_budget(tiers, ranks, Budget(7, by_characters)) == {second}
    assert fit_budget(tiers, ranks, Budget(8, by_characters)) == {first, second}
    assert fit_budget(tiers, ranks, Budget(12, by_characters)) == {first, second, third}
