"""Asks a citizen again how much its memories matter, and takes its judgements (004, option B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from orchestration.dependencies import Deps, Rest, no_rest
from orchestration.feature import Feature
from orchestration.features.revaluation import queries as store
from orchestration.features.revaluation import rules
from orchestration.features.revaluation.rules import correction
from orchestration.features.revaluation.values import (
    Draw,
    DrawnMemory,
    DrawRequest,
    Judgement,
    JudgementOutcome,
    JudgementsAnswer,
)
from orchestration.insertion import apply
from orchestration.upkeep.job import Job, JobContext, Page
from schemas.base import CitizenId
from schemas.commands import Command, Correct
from schemas.memory import ConsciousnessNode, Level, Source
from schemas.temporal import Instant, Scope, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.registry import read_stamp
from substrate.inference.language import LanguageModel, ModelRequest
from substrate.store import reader, rows
from substrate.store.kept import Kept

MOST_READ: Final = 50_000
"""This many memories of low importance are read for a draw: in a graph with more, those from a place that the seed
chooses, and on from the beginning."""
MODEL_SECONDS: Final = 10.0
"""What a language model may take for one memory."""

type Prepare = Callable[[Correct], Command]
"""Says whose command it is: source and writer."""


async def draw_memories(
    citizen_id: str, deps: Deps, now: Instant, *, seed: str, count: int, rest: Rest = no_rest
) -> list[tuple[ConsciousnessNode, store.LastAsking | None]]:
    """Draw memories of low or no importance, each with what the citizen was asked about it before.

    None for a citizen without a graph. `rest` is awaited between the reads. Raises Unavailable when the engine
    does not answer.
    """
    graph = await deps.graph_if_any(Level.N1, citizen_id)
    if graph is None:
        return []
    try:
        asked = await store.read_asked(graph)
        low = await _read_low(graph, now, seed, rest)
        chosen = rules.draw(low, asked, seed=seed, count=count)
        seen = [await reader.read_memory(graph, memory.id, Scope.current(now)) for memory in chosen]
    except GraphMissing:
        return []
    nodes = [rows.node(each.row, Level.N1) for each in seen if each.row is not None]
    return [(node, asked.get(node.node_id)) for node in nodes]


async def _read_low(graph: Graph, now: Instant, seed: str, rest: Rest) -> list[store.LowMemory]:
    places = (await reader.count_nodes(graph))["nodes"]  # about the highest internal id
    begin = rules.first_place(seed, places)
    low: list[store.LowMemory] = []
    for after, last in ((begin, 2**53), (-1, begin)):
        while len(low) < MOST_READ:
            page = await store.read_low(graph, after, last, now, below=rules.LOW, things=list(rules.THINGS))
            if not page:
                break
            low += page
            after = page[-1].internal_id
            await rest()
    return low


async def draw_for(citizen_id: CitizenId, query: DrawRequest, deps: Deps, now: Instant) -> Draw:
    """Memories of low or no importance to judge anew: those that upkeep offered, then the least recently asked.

    The same seed draws the same until one of them is judged or offered. Nothing is changed.
    """
    drawn = await draw_memories(citizen_id, deps, now, seed=str(query.seed), count=query.count)
    memories: list[DrawnMemory] = []
    for node, asked in drawn:
        names = {"version", "node_type", "name", "speaker", "valid_at", "importance"}
        fields = {"id": node.node_id, **node.model_dump(include=names)}
        fields["description"] = node.description[: store.TEXT_READ]
        if asked is not None:
            fields["asked_at"] = to_datetime(asked.asked_at)
        if asked is not None and asked.waiting:
            fields |= {"offered": True, "proposed_importance": asked.proposed, "because": asked.because}
        memories.append(DrawnMemory(**fields))
    return Draw(citizen_id=citizen_id, seed=query.seed, memories=tuple(memories))


async def judge(
    citizen_id: str, judgements: Sequence[Judgement], deps: Deps, now: Instant, *, prepare: Prepare
) -> JudgementsAnswer:
    """Apply the judgements in order, each on its own: a new importance is a correction, in history and undoable.

    Name and description stay, so it is no change of belief. Whoever judged is not asked again soon. Raises
    Unavailable when the engine does not answer; the same judgements can then be sent again.
    """
    graph = await deps.graph_if_any(Level.N1, citizen_id)
    outcomes = []
    for at, each in enumerate(judgements, start=now):
        outcomes.append(await _judge_one(each, graph, deps, at, citizen_id=citizen_id, prepare=prepare))
    judged = [store.Stamp(outcome.id) for outcome in outcomes if outcome.status != "refused"]
    if judged and graph is not None:
        await store.stamp(graph, judged, now)
    tally = Counter(outcome.status for outcome in outcomes)
    counts = {status: tally[status] for status in ("revalued", "left", "refused")}
    return JudgementsAnswer(citizen_id=citizen_id, outcomes=tuple(outcomes), **counts)


async def _judge_one(
    judgement: Judgement, graph: Graph | None, deps: Deps, now: Instant, *, citizen_id: str, prepare: Prepare
) -> JudgementOutcome:
    seen = None
    with suppress(GraphMissing):
        seen = None if graph is None else await reader.read_memory(graph, judgement.id, Scope.current(now))
    node = None if seen is None or seen.row is None else rows.node(seen.row, Level.N1)
    if node is None:
        detail = f"there is no memory {judgement.id} of {citizen_id} that holds now"
        return JudgementOutcome(id=judgement.id, status="refused", problem="not-found", detail=detail)
    stale = judgement.version is not None and judgement.version != node.version
    if judgement.importance is None and not stale:
        return JudgementOutcome(id=judgement.id, status="left")
    if judgement.importance is None:
        detail = f"{judgement.id} has version {node.version}, not {judgement.version}"
        return JudgementOutcome(id=judgement.id, status="refused", problem="conflict", detail=detail)
    if judgement.importance == node.importance and not stale:
        return JudgementOutcome(id=judgement.id, status="left", detail="it has this importance already")
    version = judgement.version or node.version
    correction = rules.correction(judgement.id, version, judgement.importance, citizen_id=citizen_id)
    [receipt] = await apply([prepare(correction)], deps, now)
    if receipt.status == "refused":
        told = {"problem": receipt.problem, "detail": "; ".join(receipt.faults)}
        return JudgementOutcome(id=judgement.id, status="refused", receipt=receipt, **told)
    return JudgementOutcome(id=judgement.id, status="revalued", receipt=receipt)


async def propose(node: ConsciousnessNode, model: LanguageModel) -> store.Stamp:
    """What the language model proposes for a memory; nothing where it gives no usable answer in time.

    It is refused when it has another form than requested, quotes words that the memory has not, or the memory
    talks to whoever judges it.
    """
    text = node.description or node.name
    if not rules.may_be_judged(text):
        return store.Stamp(node.node_id)
    request = ModelRequest("revaluation", rules.build_prompt(text), MODEL_SECONDS)
    rating, _call = await model.ask(request, rules.Rating)
    if rating is None or not rules.is_supported(rating, text):
        return store.Stamp(node.node_id)
    return store.Stamp(node.node_id, rating.importance, rating.because)


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
        model = context.deps.language_model
        own = {"citizen_id": context.citizen_id, "source": Source.UPKEEP}
        commands: list[Correct] = []
        offered: list[store.Stamp] = []
        for node, _ in drawn:
            stamp = store.Stamp(node.node_id) if model is None else await propose(node, model)
            if stamp.proposed is not None and node.source is Source.UPKEEP:
                commands.append(correction(node.node_id, node.version, stamp.proposed, **own))
            else:
                offered.append(stamp)
        shown = tuple(f"offer {stamp.memory_id}" for stamp in offered)
        return Page(len(drawn), commands=tuple(commands), beside=tuple(offered), shown=shown)

    async def keep(self, context: JobContext, page: Page) -> int:
        """Offer the memories, once for each run; earlier offers wait no longer."""
        stamps = [each for each in page.beside if isinstance(each, store.Stamp)]
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


FEATURE: Final = Feature(
    "revaluation", kept=(Kept("Revaluation", forget=store.forget_stamps),), jobs=(RevaluationJob(),)
)
