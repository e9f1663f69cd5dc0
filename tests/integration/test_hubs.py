"""What counts as a hub: links, not the versions or tags of a memory, and in the past the links of then."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.dependencies import Deps
from schemas.commands import Correct
from substrate.cypher.fragments import HUB
from tests.integration.store import ask, day, moment, relate, remember, stored


async def chain(deps: Deps, citizen: str) -> None:
    """Three memories in a row, the first named by the question, and twenty nearer to it than the others."""
    nearer = [remember(citizen, f"quay and quay {n}", valid_at=moment(1)) for n in range(20)]
    names = [remember(citizen, name, node_type="Place", valid_at=moment(1)) for name in ("quay", "rope", "anchor")]
    await stored(deps, *names, *nearer, now=day(1))
    await stored(deps, relate(citizen, "quay", "rope"), relate(citizen, "rope", "anchor"), now=day(1))


async def reached(deps: Deps, citizen: str, number: int, **fields: Any) -> set[str]:
    """What a question that names the quay reaches over links."""
    stream = await ask(deps, citizen, "quay", now=day(number), max_results_per_level=100, **fields)
    return {memory.node_id for memory in stream.levels["n1_personal"].graph_results}


async def test_a_memory_that_was_changed_often_is_no_hub(deps: Deps, fresh_citizen: str) -> None:
    await chain(deps, fresh_citizen)
    changes = [
        Correct.model_validate({"citizen_id": fresh_citizen, "id": "rope", "energy": n / (2 * HUB)})
        for n in range(HUB + 2)
    ]
    await stored(deps, *changes, now=day(2))
    assert "anchor" in await reached(deps, fresh_citizen, 3)


@pytest.mark.parametrize("hub", ["rope", "quay"], ids=["on the way", "at its start"])
async def test_links_made_later_make_no_hub_of_the_past(deps: Deps, fresh_citizen: str, hub: str) -> None:
    await chain(deps, fresh_citizen)
    crowd = [remember(fresh_citizen, f"c{n}", name="x") for n in range(HUB)]
    await stored(deps, *crowd, now=day(4))
    await stored(deps, *(relate(fresh_citizen, hub, f"c{n}", energy=0.1) for n in range(HUB)), now=day(4))
    assert "anchor" not in await reached(deps, fresh_citizen, 5)
    then = await reached(deps, fresh_citizen, 5, temporal_mode="point_in_time", as_of_time=moment(3))
    assert "anchor" in then
