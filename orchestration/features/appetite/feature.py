"""Reads what a citizen has to wake for, and asks the stream that follows: 003's autonomous intention (003, S6)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import Final

from orchestration.assembly import fitting
from orchestration.assembly.budget import budget_of
from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.appetite import queries as store
from orchestration.features.appetite import readings
from orchestration.graph_queries.existing_graphs import open_plain_view
from orchestration.mind.state import felt_state
from orchestration.mind.stream_notes import read_last_stream
from orchestration.question.reading import ASKING, ROLES
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.base import CitizenId
from schemas.errors import Fault, StoreTimeout
from schemas.intention import find_zone
from schemas.memory import Level
from schemas.mind.appetite import Appetite, AppetiteRequest, Decision, IntendRequest, LastAsked
from schemas.mind.state import CitizenState
from schemas.operation import Method, Operation, citizen_may, group
from schemas.responses import Intended, SentIntended, expand_intended
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, Scope, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import GraphTarget
from substrate.store.state_reads import holds_still
from substrate.store.surroundings import read_surroundings


async def send_intended(citizen_id: CitizenId, request: IntendRequest, deps: Deps, now: Instant) -> bytes:
    """Decide what the appetite leads to, and ask it: 003's autonomous intention, a waking, or nothing."""
    return fitting.send_intended(await intend(citizen_id, request, deps, now), request, budget_of(request))


async def intend(citizen_id: str, request: IntendRequest, deps: Deps, now: Instant) -> Intended:
    """The appetite of a citizen, what follows from it, and with `run` the stream.

    Raises as `read_appetite` and `retrieve_consciousness_context` do.
    """
    appetite = await read_appetite(citizen_id, request, deps, now)
    decision = readings.decide(appetite, request)
    if not request.run or decision.kind == "nothing":
        return Intended(citizen_id=citizen_id, appetite=appetite, decision=decision)
    stream = await _ask(decision, deps, now)
    # A stream is dark that brings at most one thing to mind beside what asked for it, in however many versions.
    asking = {source.id for source in appetite.reading("unresolved_tension").sources[:1]}
    found = set() if stream is None else {node.node_id for node in stream.activation_tiers.focus} - asking
    wider = readings.ask_wider(decision) if stream is not None and len(found) < 2 else None
    if wider is not None:
        decision, stream = wider, await _ask(wider, deps, now)
    return Intended(citizen_id=citizen_id, appetite=appetite, decision=decision, stream=stream)


async def _ask(decision: Decision, deps: Deps, now: Instant) -> ConsciousnessStream | None:
    if decision.intention is not None:
        return await retrieve_consciousness_context(decision.intention, deps, now)
    if decision.state is not None:
        return await retrieve_consciousness_context_from_state(decision.state, deps, now)
    return None


OTHERS: Final = sorted(ROLES - ASKING)
"""Speakers whose words are not the citizen's."""
PLAN_BYTES: Final = 1_000
"""What a plan takes that is kept."""
NAMED_BY: Final = 12
"""What this many of its newest memories name is what a citizen is busy with."""


async def read_appetite(citizen_id: CitizenId, request: AppetiteRequest, deps: Deps, now: Instant) -> Appetite:
    """What the citizen has to wake for: readings from 0 to 1, each with its reason and its memories.

    Nothing is changed, and nothing is asked: a stream that follows from it comes with `intend`.

    Raises StoreMisfit, Unavailable.
    """
    scope = Scope.current(now)
    graphs = tuple(dict.fromkeys((Level.N1, *request.graphs)))
    view, last, state = await asyncio.gather(
        open_plain_view(citizen_id, graphs, scope, deps, now=now),
        read_last_stream(citizen_id, deps),
        felt_state(citizen_id, deps, scope, now),
    )
    shared = [each for level, each in view.targets.items() if level is not Level.N1]
    target, since = view.targets.get(Level.N1), 0 if last is None else last.at
    notes, mentioned = (*request.notes, *view.notes), list[str]()
    try:
        own, fresh = await asyncio.gather(
            read_stirring(target, scope, deps),
            asyncio.gather(*(store.read_fresh(each, scope, since, citizen_id) for each in shared)),
        )
        newest = [each.id for each in own if each.kind == "said"][:NAMED_BY]
        if target is not None and newest:  # whom and what they name, without the roles of a chat
            named = await read_surroundings(target, scope, shown=newest, named=[])
            mentioned = [name for name in named.names if name.lower() not in ROLES]
    except (GraphMissing, StoreTimeout, Fault):
        own, fresh, mentioned = [], [], []
        notes = (*notes, "what may wake the citizen was not read in time")
    asked: LastAsked | None = None
    if last is not None:
        asked = LastAsked(stream_id=last.stream_id, at=to_datetime(last.at), goal=last.goal, levels=last.levels)
    facts = readings.Facts(
        citizen_id=citizen_id,
        now=now,
        zone=find_zone(request.time_zone),
        state=state,
        own=own,
        fresh=fresh,
        last=asked,
        noted=bool(deps.notes.days),
        half_lives=deps.half_lives,
        remembered=bool(own) or any(each.total for each in fresh),
        mentioned=mentioned,
        notes=notes,
    )
    return readings.read_readings(facts)


async def read_stirring(target: GraphTarget | None, scope: Scope, deps: Deps) -> list[store.Stirring]:
    """What may wake a citizen, of its own graph; nothing without one. Raises as `Graph.read`."""
    if target is None:
        return []
    return await store.read_own(target, scope, deps.half_lives, others=OTHERS)


async def pressure_now(
    state: CitizenState, target: GraphTarget | None, scope: Scope, *, zone: tzinfo = UTC
) -> float:
    """The reality pressure of the present (003, `get_current_pressure`): kept, else from what is due, else .5.

    What is not read in time is not due.
    """
    if state.reality_pressure is not None or target is None or not scope.is_present:
        return readings.pressure_of(state, ())[0]
    try:
        plans = await _read_plans(target, scope, zone)
    except (GraphMissing, StoreTimeout, Fault):
        plans = []
    return readings.pressure_of(state, readings.rate_plans(plans, scope.valid.start))[0]


type _KeptPlans = tuple[Instant, Sequence[readings.Plan]]
"""When it was read, and what memories plan."""


async def _read_plans(target: GraphTarget, scope: Scope, zone: tzinfo) -> Sequence[readings.Plan]:
    """What rules and late words plan.

    In a graph where nothing began, ended or was written since, the same memories plan the same all day;
    only what was said grows too old. So what was read is kept: reading the plans of many texts takes long.
    """
    moment = scope.valid.start
    day = to_datetime(moment).astimezone(zone).date()
    key = ("plans", str(zone), day.isoformat())
    is_still = not target.past and target.reads.state is not None
    kept: _KeptPlans | None = target.reads.get(key) if is_still else None
    if kept is None or not await holds_still(target, kept[0], moment):
        told = await store.read_due(target, scope, others=OTHERS)
        kept = (moment, readings.read_plans(told, moment, zone))
        if is_still:
            target.reads.keep(key, kept, PLAN_BYTES * (1 + len(kept[1])))
    return [each for each in kept[1] if each.memory.kind != "said" or store.is_late(each.memory, moment)]


ASKS: Final = citizen_may(
    "read",
    "citizen:ID:read; also :write with apply_feedback; LEVEL:read for N2 and N3",
    also="apply_feedback",
    narrows=True,
)
OPERATIONS: Final = group(
    "citizens",
    Operation("intend", "POST /v1/citizens/{citizen_id}/intend", "Decide what an appetite leads to, and ask it",
              ASKS, send_intended, gives=SentIntended,
              call=Method(says="Decide what the appetite leads to, and ask it; with `run=False` only the "
                               "decision is told.", once="apply_feedback", reads=expand_intended)),
    Operation("read_appetite", "GET /v1/citizens/{citizen_id}/appetite", "Read what a citizen has to wake for",
              ASKS, read_appetite, call=Method("appetite")),
)  # fmt: skip
FEATURE: Final = Feature("appetite", operations=OPERATIONS, sections={"pressure": pressure_now})
