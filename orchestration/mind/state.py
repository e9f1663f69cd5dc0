"""A citizen's own state, and its energy after a stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from random import random
from typing import Any, Final

import orjson

from orchestration.dependencies import Deps
from orchestration.mind.energy import apply_energy_feedback
from schemas.citizen import (
    CitizenState,
    Felt,
    StateChange,
    StateHistory,
    StateRecord,
)
from schemas.errors import Conflict, NotFound
from schemas.memory import Level
from schemas.paging import Paged, cursor_of, parts_of
from schemas.stream import ConsciousnessStream, EnergyFeedback
from schemas.temporal import Instant, Period, Scope, open_end, to_datetime, to_instant
from substrate.bitemporal import Record
from substrate.graphs.names import graph_name
from substrate.store import rows, states
from substrate.store.states import Content

_TRIES: Final = 64
"""One writer of those that come at once goes first each time."""
_WAIT_S: Final = 0.002
_LONGEST_WAIT: Final = 8
_AS_JSON: Final = frozenset(("emotion_vector", "drives"))


async def read_state(citizen_id: str, deps: Deps, scope: Scope) -> CitizenState:
    """The state of the moment that the scope names; the default one where none was set."""
    graph = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(graph):
        return CitizenState(citizen_id=citizen_id)
    record = await states.held_at(deps.graph(graph), scope)
    if record is None:
        return CitizenState(citizen_id=citizen_id)
    return CitizenState(
        citizen_id=citizen_id,
        valid_at=to_datetime(record.valid.start),
        updated_at=to_datetime(record.known.start),
        **state_fields(record.content),
    )


def state_fields(content: Content) -> dict[str, Any]:
    """The fields of `Felt`, of the content of a record."""
    return {name: orjson.loads(value) if name in _AS_JSON else value for name, value in content.items()}


async def state_history(citizen_id: str, asked: Paged, deps: Deps) -> StateHistory:
    """A page of all records of the state, as they were known when the first page was read.

    Raises NotFound for a citizen that has no graph, InvalidRequest for what is no cursor.
    """
    kept = None if asked.cursor is None else parts_of(asked.cursor, int, int, int)
    graph = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(graph):
        raise NotFound(f"nothing was remembered for {citizen_id} yet")
    if kept is None:
        latest = await states.carried(deps.graph(graph))
        kept = (1, 0, 0) if latest is None else (1, latest.version, latest.known.start)
    first, last, known = kept
    beyond = min(first + asked.limit, last + 1)
    found = await states.page(deps.graph(graph), first, beyond)
    return StateHistory(
        citizen_id=citizen_id,
        records=tuple(state_record(_known(record, known)) for record in found),
        next=cursor_of(beyond, last, known) if beyond <= last else None,
    )


def _known(record: Record, at: Instant) -> Record:
    """The record as it was known then: what closed it later is not told."""
    return replace(record, known=Period(record.known.start)) if record.known.end > at else record


def state_record(record: Record) -> StateRecord:
    """A record as it is told."""
    return StateRecord(
        version=record.version,
        valid_at=to_datetime(record.valid.start),
        invalid_at=open_end(record.valid.end),
        created_at=to_datetime(record.known.start),
        expired_at=open_end(record.known.end),
        **state_fields(record.content),
    )


async def change_state(citizen_id: str, change: StateChange, deps: Deps, now: Instant) -> CitizenState:
    """Set what the change names, and give back the whole state of the moment from which it holds.

    Raises InvalidRequest when that moment lies too many changes back, Conflict when others change it all the time.
    """
    said = change.model_dump(exclude_unset=True, exclude={"valid_at"})
    for kept_as_json in said.keys() & _AS_JSON:
        said[kept_as_json] = rows.json_text(said[kept_as_json])
    valid_at = now if change.valid_at is None else to_instant(change.valid_at)
    if said:
        await _change(citizen_id, lambda _: said, deps, (valid_at, now))
    return await read_state(citizen_id, deps, Scope.current(valid_at))


async def _change(
    citizen_id: str, saying: Callable[[Content], Content], deps: Deps, when: tuple[Instant, Instant]
) -> Content:
    """Set what `saying` makes of the content that is held from `when[0]` on; `when[1]` is now.

    Returns the content that held at `when[0]` before.
    """
    valid_at, now = when
    graph = graph_name(Level.N1, citizen_id)
    await deps.graphs.for_writing(graph, now)
    for tried in range(_TRIES):
        latest = await states.carried(deps.graph(graph))
        held = [] if latest is None else await states.held_from(deps.graph(graph), latest, valid_at)
        found = states.opened(held, valid_at, saying)
        if not found or await states.change(deps.graph(graph), held, found, now) is not None:
            return held[0].content if held and held[0].valid.start <= valid_at else {}
        await asyncio.sleep(random() * _WAIT_S * min(tried + 1, _LONGEST_WAIT))
    raise Conflict(f"the state of {citizen_id} is being changed by others", remedy="Try again in a moment.")


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

    def fed(held: Content) -> EnergyFeedback:
        before = Felt(**state_fields(held)).energy if energy is None else energy
        after = apply_energy_feedback(before, stream.energy_feedback_potential)
        return EnergyFeedback(before=before, after=after)

    def saying(held: Content) -> Content:
        return {"energy": fed(held).after, "last_stream_id": stream.intention_id}

    held = await _change(stream.citizen_id, saying, deps, (now, now))
    return stream.model_copy(update={"energy_feedback": fed(held)})
