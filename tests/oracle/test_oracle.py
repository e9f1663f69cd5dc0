"""Random histories in the real engine and in the oracle: not one difference, whatever is asked."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.runtime import Runtime
from tests.oracle.life import Life

LONG = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=25, deadline=None, suppress_health_check=LONG)
@given(st.randoms(use_true_random=False))
async def test_the_engine_tells_what_the_oracle_tells(runtime: Runtime, chance: Random) -> None:
    life = Life(runtime)
    await life.whole(chance, commands=60, asked=60)
    assert life.tally.differences == []
