"""What a read costs: as many rows as it shows, however much was changed before."""

from __future__ import annotations

import re
from typing import Any

import pytest

from orchestration.dependencies import Deps
from orchestration.identifiers import link_name
from schemas.commands import Correct, CorrectLink
from schemas.memory import Level
from schemas.temporal import AFTER_ALL, Scope
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from substrate.store import reader
from tests.integration.store import day, relate, remember, stored

CORRECTIONS = 60
NATURAL = "much|NEXT|once"


@pytest.fixture(scope="module")
async def graph(deps: Deps) -> str:
    """Two memories and three links, of which one memory and two links were corrected often."""
    citizen = "cost_of_reading"
    await stored(deps, remember(citizen, "once"), remember(citizen, "much"), now=day(1))
    links = [relate(citizen, "much", "once", **own) for own in ({}, {"id": "own"}, {"id": "lone"})]
    await stored(deps, *links, now=day(2))
    for number in range(CORRECTIONS):
        at = day(10 + number)
        await stored(deps, Correct(citizen_id=citizen, id="much", description=f"take {number}"), now=at)
        for link_id in (NATURAL, "own"):
            await stored(deps, CorrectLink(citizen_id=citizen, id=link_id, energy=number / 100), now=at)
    return graph_name(Level.N1, citizen)


async def produced(deps: Deps, graph: str, query: Query, values: dict[str, Any]) -> dict[str, int]:
    """How many records each step of a query made, the steps in their order."""
    plan = await deps.connection.command("GRAPH.PROFILE", graph, parameters(values) + query.for_generation(0))
    steps = [re.match(r"\s*(.+?) \| Records produced: (\d+)", line) for line in plan]
    return {f"{place} {step[1]}": int(step[2]) for place, step in enumerate(steps) if step}


def asked_of(link_id: str) -> tuple[Query, dict[str, Any]]:
    name = link_name(link_id)
    if name.ends is None:
        return reader.NAMED_LINK_SEEN, {"id": link_id, "handle": name.handle}
    return reader.LINK_SEEN, {"id": link_id, "source_id": name.ends[0], "target_id": name.ends[1]}


async def test_the_present_of_a_memory_costs_nothing_of_its_past(deps: Deps, graph: str) -> None:
    now = Scope.current(day(200)).bounds()
    much, once = [
        await produced(deps, graph, reader.MEMORY_SEEN, {"id": name, **now}) for name in ("much", "once")
    ]
    assert much == once


@pytest.mark.parametrize("link_id", [NATURAL, "own"])
async def test_the_present_of_a_link_costs_nothing_of_its_past(deps: Deps, graph: str, link_id: str) -> None:
    query, values = asked_of(link_id)
    steps = await produced(deps, graph, query, {**values, **Scope.current(day(200)).bounds()})
    assert sum(made for step, made in steps.items() if "PAST_LINK" in step) == 0
    assert max(steps.values()) <= 3


@pytest.mark.parametrize(("known", "said"), [(5, ""), (12.5, "take 2"), (200, f"take {CORRECTIONS - 1}")])
async def test_reading_a_past_record_takes_one_row_from_the_engine(
    deps: Deps, graph: str, known: float, said: str
) -> None:
    scope = Scope.at(day(300), day(known))
    seen = await reader.read_memory(deps.graph(graph), "much", scope)
    assert seen.row is not None
    assert seen.row[3] == said
    steps = await produced(deps, graph, reader.MEMORY_SEEN, {"id": "much", **scope.bounds()})
    assert max(made for step, made in steps.items() if "Traverse" not in step) == 1
    for link_id, energy in ((NATURAL, "0.02"), ("own", "0.02"), ("lone", "0.7")):
        link = await reader.read_link(deps.graph(graph), link_name(link_id), Scope.at(day(300), day(12.5)))
        assert link.row is not None
        assert (list(link.row[:3]), link.row[6]) == (["much", "once", link_id], energy)


async def test_a_page_of_a_history_reads_its_own_rows_alone(deps: Deps, graph: str) -> None:
    found: list[Any] = []
    wanted = reader.HistoryQuery(AFTER_ALL, 7, reader.HistoryPosition())
    while rows := await reader.history(deps.graph(graph), "much", wanted):
        assert len(rows) <= 7
        found += [row[8] for row in rows]
        wanted = wanted._replace(start=reader.HistoryPosition(rows[-1][6], rows[-1][4]))
    assert found == list(range(1, CORRECTIONS + 2))
    for link_id in (NATURAL, "own"):
        of_link = await reader.link_history(
            deps.graph(graph), link_name(link_id), reader.HistoryQuery(day(12.5), 100, reader.HistoryPosition())
        )
        assert [row[6] for row in of_link] == ["0.7", "0", "0.01", "0.02"]
