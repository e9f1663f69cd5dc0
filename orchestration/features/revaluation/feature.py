"""The job `revaluation`: offers each citizen ten memories a month whose importance it may judge anew.

An offer is a stamp beside each memory and waits until the citizen says something, or the next one comes. Where a
language model is configured it proposes an importance; only in memories that upkeep itself wrote does it set one.
"""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.revaluation import queries as store
from orchestration.features.revaluation.flow import Drawn, draw_memories, propose
from orchestration.features.revaluation.queries import Stamp, forget_stamps
from orchestration.features.revaluation.rules import judgement_id
from orchestration.upkeep.job import Job, JobContext, Page
from schemas.commands import Correct
from schemas.memory import Level, Source
from substrate.connection.errors import GraphMissing
from substrate.graphs.registry import read_stamp
from substrate.store.kept import Kept

OFFERED: Final = 10
MONTH_S: Final = 30 * 86_400


class RevaluationJob(Job):
    """One offer to each citizen a month; what nobody judged yet is taken back by an undo."""

    name = "revaluation"
    levels = (Level.N1,)
    period_s = MONTH_S

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        """Draw by the run's id. `beside` has a stamp for each memory; commands are upkeep's own judgements."""
        if context.citizen_id is None:
            return Page(0)
        drawn = await draw_memories(
            context.citizen_id, context.deps, context.now, seed=context.run_id, count=OFFERED, rest=context.rest
        )
        stamps = [await _stamp(each, context) for each in drawn]
        commands = [
            _judgement(each, stamp.proposed, context)
            for each, stamp in zip(drawn, stamps, strict=True)
            if stamp.proposed is not None and each.node.source is Source.UPKEEP
        ]
        own = {command.id for command in commands}
        offered = tuple(stamp for stamp in stamps if stamp.memory_id not in own)
        return Page(
            len(drawn),
            commands=tuple(commands),
            beside=offered,
            shown=tuple(f"offer {stamp.memory_id}" for stamp in offered),
        )

    async def keep(self, context: JobContext, page: Page) -> int:
        """Offer the memories, once for each run; earlier offers wait no longer."""
        stamps = [each for each in page.beside if isinstance(each, Stamp)]
        if not stamps or await read_stamp(context.graph) is None:
            return 0
        try:
            if await store.was_offered(context.graph, context.run_id):
                return 0
        except GraphMissing:
            return 0  # erased since the page was planned
        offered = await store.stamp(context.graph, stamps, context.now, waiting=True, run=context.run_id)
        await store.end_offers(context.graph, context.run_id)
        return offered

    async def undo(self, context: JobContext) -> int:
        """Take the offer back, as far as nobody judged it."""
        return await store.undo_offer(context.graph, context.run_id)


async def _stamp(drawn: Drawn, context: JobContext) -> Stamp:
    model = context.deps.language_model
    return Stamp(drawn.node.node_id) if model is None else await propose(drawn.node, model)


def _judgement(drawn: Drawn, importance: float | None, context: JobContext) -> Correct:
    node = drawn.node
    return Correct.model_validate(
        {
            "citizen_id": context.citizen_id,
            "id": node.node_id,
            "importance": importance,
            "expected_version": node.version,
            "command_id": judgement_id(node.node_id, node.version, importance or 0.0),
            "source": Source.UPKEEP,
        }
    )


FEATURE: Final = Feature(
    "revaluation", kept=(Kept("Revaluation", forget=forget_stamps),), jobs=(RevaluationJob(),)
)
