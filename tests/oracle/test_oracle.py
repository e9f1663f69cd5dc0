"""Random histories in the real engine and in the oracle: not one difference, whatever is asked."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from api.runtime.runtime import Runtime
from tests.oracle.life import LONG, Life


@settings(max_examples=10, suppress_health_check=LONG)
@given(st.randoms(use_true_random=False))
async def test_the_engine_answers_as_the_oracle(runtime: Runtime, chance: Random) -> None:
    life = Life(runtime)
    await life.through(chance, commands=50, asked=40)
    assert life.tally.differences == []


@settings(max_examples=2, suppress_health_check=LONG)
@given(st.randoms(use_true_random=False))
async def test_it_does_so_by_an_index_too(indexed_runtime: Runtime, chance: Random) -> None:
    life = Life(indexed_runtime)
    await life.through(chance, commands=50, asked=40)
    assert life.tally.differences == []
