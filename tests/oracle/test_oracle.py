"""Random histories in the real engine and in the oracle: not one difference, whatever is asked."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from api.runtime import Runtime
from tests.oracle.histories import Again, Question, Step, histories
from tests.oracle.life import Life

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@settings(max_examples=8, deadline=None, suppress_health_check=QUIET)
@given(histories(commands=40, asked=40))
async def test_the_engine_tells_what_the_oracle_tells(
    runtime: Runtime, history: tuple[list[Step | Again], list[Question]]
) -> None:
    life = Life(runtime)
    await life.begin()
    for step in history[0]:
        await life.live(step)
    for question in history[1]:
        await life.ask(question)
    await life.end()
    assert life.tally.differences == []
