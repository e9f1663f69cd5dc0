"""The lots of plurality hang on the question and on the memories: what else a graph gets moves none of them."""

from __future__ import annotations

from orchestration.dependencies import Deps
from schemas.intention import Plurality
from schemas.memory import Level
from substrate.cypher.query import Query
from substrate.graphs.names import graph_name
from tests.integration.store import ask, day, ids, moment, remember, stored

NOTES = Query(
    "test_notes", "UNWIND range(1, $count) AS number CREATE (:StreamNote {number: number}) RETURN 1 LIMIT 1"
)


async def test_notes_that_are_stored_meanwhile_move_no_lot(deps: Deps, fresh_citizen: str) -> None:
    memories = [
        remember(fresh_citizen, f"m{number}", name=f"note {number}", valid_at=moment(1)) for number in range(120)
    ]
    await stored(deps, *memories, now=day(1))
    plurality = Plurality(recent=1, matching=1, chance=9)

    async def drawn() -> list[str]:
        stream = await ask(
            deps, fresh_citizen, "a harbour", now=day(300), plurality=plurality, max_results_per_level=100
        )
        return sorted(ids(stream.levels["n1_personal"].graph_results))

    before = await drawn()
    for count in (1, 200, 2_000):
        await deps.graph(graph_name(Level.N1, fresh_citizen)).write(NOTES, count=count)
        assert await drawn() == before
