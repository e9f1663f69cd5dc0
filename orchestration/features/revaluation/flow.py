"""Asks a citizen again how much its memories matter, and takes its judgements (004, option B)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from orchestration.dependencies import Deps, Rest, no_rest
from orchestration.features.revaluation import queries as store
from orchestration.features.revaluation import rules
from orchestration.features.revaluation.queries import TEXT_READ, Asked, LowMemory, Place, Stamp
from orchestration.features.revaluation.rules import LOW, THINGS, judgement_id
from orchestration.features.revaluation.values import (
    Draw,
    DrawnMemory,
    Judgement,
    JudgementOutcome,
    JudgementsAnswer,
)
from orchestration.insertion import apply
from schemas.commands import Command, Correct
from schemas.memory import ConsciousnessNode, Level
from schemas.temporal import Instant, Scope, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.inference.language.model import LanguageModel, ModelRequest
from substrate.store import reader, rows

MOST_READ: Final = 50_000
"""This many memories of low importance are read for a draw: in a graph with more, those from a place that the seed
chooses, and on from the beginning."""
MODEL_SECONDS: Final = 10.0
"""What a language model may take for one memory."""

type Prepare = Callable[[Correct], Command]
"""Says whose command it is: source and writer."""


class Drawn(NamedTuple):
    """A drawn memory as it is now, and what the citizen was asked about it before."""

    node: ConsciousnessNode
    asked: Asked | None


async def draw_memories(
    citizen_id: str,
    deps: Deps,
    now: Instant,
    *,
    seed: str,
    count: int,
    rest: Rest = no_rest,
) -> list[Drawn]:
    """Draw memories of low or no importance; none for a citizen without a graph.

    `rest` is awaited between the reads. Raises Unavailable when the engine does not answer.
    """
    name = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(name):
        return []
    graph = deps.graph(name)
    try:
        asked = await store.read_asked(graph)
        low = await _read_low(graph, now, seed, rest)
        chosen = rules.draw(low, asked, seed=seed, count=count)
        seen = [await reader.read_memory(graph, memory.id, Scope.current(now)) for memory in chosen]
    except GraphMissing:
        return []
    nodes = [rows.node(each.row, Level.N1) for each in seen if each.row is not None]
    return [Drawn(node, asked.get(node.node_id)) for node in nodes]


async def _read_low(graph: Graph, now: Instant, seed: str, rest: Rest) -> list[LowMemory]:
    places = await store.count_places(graph)
    begin = rules.first_place(seed, places)
    low: list[LowMemory] = []
    for stretch in (Place(begin, 2**53), Place(-1, begin)):
        place = stretch
        while len(low) < MOST_READ:
            page = await store.read_low(graph, place, now, below=LOW, things=THINGS)
            if not page:
                break
            low += page
            place = place._replace(after=page[-1].internal_id)
            await rest()
    return low


async def draw_for(citizen_id: str, deps: Deps, now: Instant, *, seed: int, count: int) -> Draw:
    """The draw as an answer. It stamps nothing: the same seed draws the same until one is judged or offered."""
    drawn = await draw_memories(citizen_id, deps, now, seed=str(seed), count=count)
    return Draw(citizen_id=citizen_id, seed=seed, memories=tuple(_shown(*each) for each in drawn))


def _shown(node: ConsciousnessNode, asked: Asked | None) -> DrawnMemory:
    waiting = asked is not None and asked.waiting
    return DrawnMemory(
        id=node.node_id,
        version=node.version,
        node_type=node.node_type,
        name=node.name,
        description=node.description[:TEXT_READ],
        speaker=node.speaker,
        valid_at=node.valid_at,
        importance=node.importance,
        asked_at=None if asked is None else to_datetime(asked.asked_at),
        offered=waiting,
        proposed_importance=asked.proposed if asked is not None and waiting else None,
        because=asked.because if asked is not None and waiting else None,
    )


async def judge(
    citizen_id: str, judgements: Sequence[Judgement], deps: Deps, now: Instant, *, prepare: Prepare
) -> JudgementsAnswer:
    """Apply the judgements in order, each on its own: a new importance is a correction, in history and undoable.

    Name and description stay, so it is no change of belief. Whoever judged is not asked again soon. Raises
    Unavailable when the engine does not answer; the same judgements can then be sent again.
    """
    name = graph_name(Level.N1, citizen_id)
    exists = await deps.graphs.for_reading(name)
    graph = deps.graph(name) if exists else None
    outcomes = []
    for at, each in enumerate(judgements, start=now):
        outcomes.append(await _judge_one(each, graph, deps, at, citizen_id=citizen_id, prepare=prepare))
    judged = [Stamp(outcome.id) for outcome in outcomes if outcome.status != "refused"]
    if judged:
        await store.stamp(deps.graph(name), judged, now)
    tally = Counter(outcome.status for outcome in outcomes)
    return JudgementsAnswer(
        citizen_id=citizen_id,
        outcomes=tuple(outcomes),
        revalued=tally["revalued"],
        left=tally["left"],
        refused=tally["refused"],
    )


async def _judge_one(
    judgement: Judgement, graph: Graph | None, deps: Deps, now: Instant, *, citizen_id: str, prepare: Prepare
) -> JudgementOutcome:
    node = None if graph is None else await _read_now(graph, judgement.id, now)
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
    correction = {
        "citizen_id": citizen_id,
        "id": judgement.id,
        "importance": judgement.importance,
        "expected_version": version,
        "command_id": judgement_id(judgement.id, version, judgement.importance or 0.0),
    }
    [receipt] = await apply([prepare(Correct.model_validate(correction))], deps, now)
    if receipt.status == "refused":
        detail = "; ".join(receipt.faults)
        return JudgementOutcome(
            id=judgement.id, status="refused", problem=receipt.problem, detail=detail, receipt=receipt
        )
    return JudgementOutcome(id=judgement.id, status="revalued", receipt=receipt)


async def _read_now(graph: Graph, memory_id: str, now: Instant) -> ConsciousnessNode | None:
    try:
        seen = await reader.read_memory(graph, memory_id, Scope.current(now))
    except GraphMissing:
        return None
    return None if seen.row is None else rows.node(seen.row, Level.N1)


async def propose(node: ConsciousnessNode, model: LanguageModel) -> Stamp:
    """What the language model proposes for a memory; nothing where it gives no usable answer in time.

    It is refused when it has another form than requested, quotes words that the memory has not, or the memory
    talks to whoever judges it.
    """
    text = node.description or node.name
    if not rules.may_be_judged(text):
        return Stamp(node.node_id)
    request = ModelRequest("revaluation", rules.build_prompt(text), MODEL_SECONDS)
    rating, _call = await model.ask(request, rules.Rating)
    if rating is None or not rules.is_supported(rating, text):
        return Stamp(node.node_id)
    return Stamp(node.node_id, rating.importance, rating.because)
