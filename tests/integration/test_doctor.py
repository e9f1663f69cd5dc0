"""What `doctor` counts in a graph: also maps that no answer can show, in past records too."""

from __future__ import annotations

import json
from typing import Any

from api.cli.doctor import _check_graph
from orchestration.dependencies import Deps
from schemas.base import DEEPEST
from schemas.commands import Correct, CorrectLink
from schemas.memory import Level
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from tests.integration.store import day, relate, remember, stored

SPOIL = (
    Query("test_spoil_memory", "MATCH (n:ConsciousnessNode {id: 'a'}) SET n.extra = $text RETURN 1"),
    Query("test_spoil_link", "MATCH ()-[e:LINK]->() SET e.sensory_details = $text RETURN 1"),
)


def nested(depth: int) -> str:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return json.dumps(value)


async def test_maps_that_cannot_be_shown_are_counted_in_past_records_too(deps: Deps, fresh_citizen: str) -> None:
    await stored(
        deps, remember(fresh_citizen, "a", extra={"b": [1] * 99}), remember(fresh_citizen, "b"), now=day(1)
    )
    await stored(deps, relate(fresh_citizen, "a", "b"), now=day(1))
    name = graph_name(Level.N1, fresh_citizen)

    async def said() -> tuple[bool, list[str]]:
        [check] = await _check_graph(deps.graphs, name, stamped=True)
        return not check.remedy, [part for part in check.detail.split("; ") if "shown" in part]

    assert await said() == (True, [])
    for spoil in SPOIL:
        await deps.graph(name).write(spoil, text=nested(DEEPEST + 9))
    assert await said() == (False, ["2 maps cannot be shown"])
    changes: list[Any] = [
        Correct(citizen_id=fresh_citizen, id="a", name="a", energy=0.1),
        CorrectLink(citizen_id=fresh_citizen, id="a|NEXT|b", energy=0.1),
    ]
    await stored(deps, *changes, now=day(2))
    assert (await said())[1][0] == "2 maps of past records cannot be shown, and stay as they are"
