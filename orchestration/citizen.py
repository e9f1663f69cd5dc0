"""A citizen's own state, its energy after a stream, and its learning moments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from orchestration.deps import Deps
from orchestration.dissonance import detect_temporal_dissonances, recurring
from orchestration.energy import apply_energy_feedback
from schemas.citizen import CitizenState, LearningMoments, StateChange
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ConsciousnessStream, EnergyFeedback
from schemas.temporal import Instant, TemporalMode, to_datetime
from substrate import reader, rows
from substrate.connection import parameters
from substrate.cypher.citizen import READ_STATE, WRITE_STATE
from substrate.graph_schema import graph_name
from substrate.indexing import NOTHING

PAGE = 500
"""Identities read at a time: a long read and a write would stop the whole engine."""


async def read_state(citizen_id: str, deps: Deps) -> CitizenState:
    """The state that is kept; the default one for a citizen that has none."""
    graph = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(graph):
        return CitizenState(citizen_id=citizen_id)
    found = await deps.connection.read(graph, READ_STATE, NOTHING)
    if not found:
        return CitizenState(citizen_id=citizen_id)
    energy, emotions, goal, last, updated, drives = found[0]
    return CitizenState(
        citizen_id=citizen_id,
        energy=0.5 if energy is None else float(energy),
        emotion_vector=orjson.loads(emotions) if emotions else {},
        goal=goal,
        drives=orjson.loads(drives) if drives else {},
        last_stream_id=last,
        updated_at=None if updated is None else to_datetime(updated),
    )


async def change_state(citizen_id: str, change: StateChange, deps: Deps, now: Instant) -> CitizenState:
    """Set what the change names, and give back the whole state."""
    said = change.model_dump(exclude_unset=True)
    for kept_as_json in said.keys() & {"emotion_vector", "drives"}:
        said[kept_as_json] = orjson.dumps(said[kept_as_json] or {}).decode()
    await _write(citizen_id, said, deps, now)
    return await read_state(citizen_id, deps)


async def _write(citizen_id: str, said: dict[str, Any], deps: Deps, now: Instant) -> None:
    graph = graph_name(Level.N1, citizen_id)
    await deps.graphs.for_writing(graph, now)
    header = parameters({"state": {**said, "updated_at": now}})
    await deps.connection.write(graph, WRITE_STATE, header)


async def with_feedback(
    stream: ConsciousnessStream, energy: float | None, deps: Deps, now: Instant
) -> ConsciousnessStream:
    """Let the stream act on the citizen's energy, keep the result, and say what it was and is (003, 5c).

    `energy` is the current one as the request says it; left out, the one that is kept counts. A citizen that
    nothing was remembered for has no state to change: a question makes no graph.
    """
    if not await deps.graphs.for_reading(graph_name(Level.N1, stream.citizen_id)):
        note = f"no energy was fed back: nothing was remembered for citizen {stream.citizen_id} yet"
        return stream.model_copy(update={"notes": (*stream.notes, note)})
    before = (await read_state(stream.citizen_id, deps)).energy if energy is None else energy
    after = apply_energy_feedback(before, stream.energy_feedback_potential)
    await _write(stream.citizen_id, {"energy": after, "last_stream_id": stream.intention_id}, deps, now)
    return stream.model_copy(update={"energy_feedback": EnergyFeedback(before=before, after=after)})


async def learning_moments(citizen_id: str, deps: Deps) -> LearningMoments:
    """Every belief of the citizen that changed (003, component 2)."""
    graph = graph_name(Level.N1, citizen_id)
    records: list[ConsciousnessNode] = []
    if await deps.graphs.for_reading(graph):
        records = [rows.node(row, Level.N1) for row in await _all_changed(graph, deps)]
    found = detect_temporal_dissonances(records, TemporalMode.FULL_HISTORY)
    return LearningMoments(citizen_id=citizen_id, dissonances=tuple(found), recurring=tuple(recurring(found)))


async def _all_changed(graph: str, deps: Deps) -> list[Sequence[Any]]:
    found: list[Sequence[Any]] = []
    skip = 0
    while page := await reader.changed(deps.connection, graph, (skip, PAGE)):
        found += page
        skip += PAGE
    return found
