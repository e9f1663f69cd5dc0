"""Reads and changes the state of a citizen, shows its history, and applies the energy feedback of a stream."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from random import random
from typing import Any, Final

import orjson

from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import open_plain_view
from orchestration.mind.derived_state import NOTHING_DERIVED, DerivedState, derive_state
from orchestration.mind.energy import Energy, energy_at, feed_back
from schemas.base import CitizenId
from schemas.errors import Conflict, Fault, NotFound, StoreTimeout
from schemas.memory import Level, Source
from schemas.mind.state import (
    CitizenState,
    EnergyPoint,
    EnergySeries,
    Felt,
    StateChange,
    StateHistory,
    StateRecord,
)
from schemas.paging import Paged, decode_cursor, encode_cursor
from schemas.stream import ConsciousnessStream, EnergyFeedback
from schemas.temporal import Instant, Period, Scope, open_end, to_datetime, to_instant
from substrate.bitemporal import Record
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import GraphTarget
from substrate.graphs.names import graph_name
from substrate.store import rows, states
from substrate.store.feelings import read_felt_lately
from substrate.store.states import Content

_MAX_TRIES: Final = 64
"""Of several writers at once, one succeeds in each round, so 64 writers need at most 64 tries."""
_WAIT_S: Final = 0.002
_MAX_WAITS: Final = 8
_DERIVED_FIELDS: Final = ("energy", "emotion_vector", "goal")
_OWN: Final = (Source.CITIZEN, Source.SYSTEM)
_JSON_FIELDS: Final = frozenset(("emotion_vector", "drives", "window", "senses", "writers"))
_MOMENT_FIELDS: Final = frozenset(("feedback_at", "last_cycle_at"))
_FEEDBACK_FIELDS: Final = ("baseline", "feedback_at")
"""What feedback keeps beside the energy; an energy that is declared removes it."""
_BESIDE: Final[Mapping[str, tuple[str, ...]]] = {"energy": _FEEDBACK_FIELDS, "window": ("last_cycle_at",)}
"""By field of a state, what is set and taken back with it."""

type Earlier = Callable[[Mapping[str, Any]], int | None]
"""By a stored `StateWriter`, the version in which the field still said something else; None where it stays."""


async def read_state(citizen_id: str, deps: Deps, scope: Scope) -> CitizenState:
    """The state at the moment of the scope, as it was set; the default state when none was set."""
    graph = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(graph):
        return CitizenState(citizen_id=citizen_id)
    record = await states.read_at(deps.graph(graph), scope)
    return _state(citizen_id, record, NOTHING_DERIVED)


async def felt_state(
    citizen_id: str, deps: Deps, scope: Scope, now: Instant, *, target: GraphTarget | None = None
) -> CitizenState:
    """The state at the moment of the scope; what was not set is derived from the memories of the days before.

    The energy has returned towards the ordinary one since feedback set it. Nothing is derived where the memories
    cannot be read in time. `target`: the citizen's own graph, where it was opened for the scope already. Raises
    StoreMisfit, Unavailable.
    """
    if target is None:
        view = await open_plain_view(citizen_id, (Level.N1,), scope, deps, now=now)
        target = view.targets.get(Level.N1)
    record, derived = await _read_felt(target, scope)
    state = _state(citizen_id, record, derived)
    content: Content = {} if record is None else record.content
    energy = _energy(content, derived.energy, scope.valid.start)  # that of the moment, not the stored one
    sources = state.sources
    if content.get("energy") is not None and _declared(content) is None:
        sources += tuple(source for source in derived.sources if source.field == "energy")
    told = {"energy": energy.now, "baseline": energy.ordinary, "sources": sources, "derived": bool(sources)}
    return state.model_copy(update=told)


async def _read_felt(target: GraphTarget | None, scope: Scope) -> tuple[Record | None, DerivedState]:
    """The kept record, and what the memories tell of the fields that it does not have."""
    if target is None:
        return None, NOTHING_DERIVED
    record = await states.read_at(target.graph, scope)
    if record is not None and None not in (_declared(record.content), *map(record.content.get, _DERIVED_FIELDS)):
        return record, NOTHING_DERIVED
    try:
        memories = await read_felt_lately(target, scope)
    except (GraphMissing, StoreTimeout, Fault):
        memories = []
    return record, derive_state(memories)


def _declared(content: Content) -> float | None:
    """The energy that the citizen declared, before any feedback."""
    declared: float | None = content.get("energy" if content.get("feedback_at") is None else "baseline")
    return declared


def _energy(content: Content, derived: float | None, moment: Instant) -> Energy:
    declared, fed_at = content.get("baseline"), content.get("feedback_at")
    return energy_at(content.get("energy"), declared, fed_at, moment, derived=derived)


def _state(citizen_id: str, record: Record | None, derived: DerivedState) -> CitizenState:
    """The kept record; a field that it does not have is the derived one, or has its default."""
    kept = {} if record is None else state_fields(record.content)
    for name in _FEEDBACK_FIELDS:
        kept.pop(name, None)
    writers = {}
    for name, by in kept.pop("writers", {}).items():
        if kept.get(name) is not None and by.get("source") is not None:
            writers[name] = by["source"]
    said = {"energy": derived.energy, "emotion_vector": derived.emotions or None, "goal": derived.goal}
    made = {name: value for name, value in said.items() if value is not None and kept.get(name) is None}
    sources = tuple(source for source in derived.sources if source.field in made)
    return CitizenState(
        citizen_id=citizen_id,
        valid_at=None if record is None else to_datetime(record.valid.start),
        updated_at=None if record is None else to_datetime(record.known.start),
        derived=bool(made),
        sources=sources,
        writers=writers,
        **{**kept, **made},
    )


def state_fields(content: Content) -> dict[str, Any]:
    """The fields of a `StateRecord` besides its times, from the stored content of a record."""
    fields: dict[str, Any] = {}
    for name, stored in content.items():
        if name in _JSON_FIELDS:
            fields[name] = orjson.loads(stored)
        else:
            fields[name] = to_datetime(stored) if name in _MOMENT_FIELDS else stored
    return fields


async def state_history(citizen_id: CitizenId, page: Paged, deps: Deps) -> StateHistory:
    """All records of the state, a page at a time, each with its valid time and its transaction time.

    Raises NotFound for a citizen without a graph, InvalidRequest for an invalid cursor.
    """
    records, following = await _read_page(citizen_id, page, deps)
    return StateHistory(citizen_id=citizen_id, records=tuple(map(state_record, records)), next=following)


async def energy_series(citizen_id: CitizenId, page: Paged, deps: Deps, now: Instant) -> EnergySeries:
    """The energy now, the ordinary one to which it returns, and a page of what set it: the citizen or a stream."""
    records, following = await _read_page(citizen_id, page, deps)
    felt = await felt_state(citizen_id, deps, Scope.current(now), now)
    points = tuple(energy_point(state_record(record)) for record in records)
    return EnergySeries(
        citizen_id=citizen_id, now=felt.energy, ordinary=felt.baseline, points=points, next=following
    )


def energy_point(record: StateRecord) -> EnergyPoint:
    """What a record says of the energy: nothing (null) where neither the citizen nor feedback set one."""
    was_set = "energy" in record.model_fields_set and record.energy is not None
    return EnergyPoint(
        **record.model_dump(include=EnergyPoint.model_fields.keys() - {"energy"}),
        energy=record.energy if was_set else None,
        stream_id=None if record.feedback_at is None else record.last_stream_id,
    )


async def _read_page(citizen_id: str, page: Paged, deps: Deps) -> tuple[list[Record], str | None]:
    """The records of the page as known when the first page was read, and the cursor of the next page."""
    position = None if page.cursor is None else decode_cursor(page.cursor, int, int, int)
    graph = graph_name(Level.N1, citizen_id)
    if not await deps.graphs.for_reading(graph):
        raise NotFound(f"nothing was remembered for {citizen_id} yet")
    if position is None:
        current = await states.read_current(deps.graph(graph))
        position = (1, 0, 0) if current is None else (1, current.version, current.known.start)
    first, last, known_at = position
    beyond = min(first + page.limit, last + 1)
    records = await states.read_versions(deps.graph(graph), first, beyond)
    following = encode_cursor(beyond, last, known_at) if beyond <= last else None
    for place, record in enumerate(records):
        if record.known.end > known_at:  # still open at that moment
            records[place] = replace(record, known=Period(record.known.start))
    return records, following


def state_record(record: Record) -> StateRecord:
    """A stored record as the response shows it."""
    return StateRecord(
        version=record.version,
        valid_at=to_datetime(record.valid.start),
        invalid_at=open_end(record.valid.end),
        created_at=to_datetime(record.known.start),
        expired_at=open_end(record.known.end),
        **state_fields(record.content),
    )


async def change_state(
    citizen_id: str, change: StateChange, deps: Deps, now: Instant, *, key_id: str | None = None
) -> CitizenState:
    """Set the fields of the change from its `valid_at` on (default: now); return the whole state at that moment.

    Each field that gets another value, or is the citizen's own word now, keeps who set it.

    Raises InvalidRequest when more than `states.MAX_CLOSED` changes came after that moment, Conflict when other
    writers were first `_MAX_TRIES` times.
    """
    valid_at = now if change.valid_at is None else to_instant(change.valid_at)
    fields = stored_fields(change, valid_at)
    word = {"source": change.source.value, "at": to_datetime(now).isoformat(), "key_id": key_id}

    async def make_change(content: Content, version: int) -> Content:
        set_by = _writers(content)
        for name in sorted(change.model_fields_set & Felt.model_fields.keys()):
            kept = Source(set_by.get(name, {}).get("source", Source.CITIZEN))
            if content.get(name) != fields[name] or (kept not in _OWN and change.source in _OWN):
                set_by[name] = {**word, "over": version}
        return {**fields, "writers": rows.json_text(set_by) if set_by else None}

    if fields:
        await _change(citizen_id, make_change, deps, valid_at=valid_at, now=now)
    return await felt_state(citizen_id, deps, Scope.current(valid_at), now)


def stored_fields(change: StateChange, valid_at: Instant) -> dict[str, Any]:
    """The fields that a change sets, as they are stored; None removes one.

    A window is the end of a cycle. What it shows was shown at `valid_at`, unless it says when.
    """
    fields = change.model_dump(exclude_unset=True, exclude={"valid_at", "source"})
    if "window" in fields:
        fields["last_cycle_at"] = None if fields["window"] is None else valid_at
        shown_at = to_datetime(valid_at)
        fields["window"] = [
            item.model_copy(update={"shown_at": item.shown_at or shown_at}).model_dump(exclude_none=True)
            for item in change.window or ()
        ]
    for name in fields.keys() & _JSON_FIELDS:
        fields[name] = rows.json_text(fields[name])
    if "energy" in fields:
        fields |= dict.fromkeys(_FEEDBACK_FIELDS)
    return fields


async def _change(
    citizen_id: str,
    make_change: Callable[[Content, int], Awaitable[Content]],
    deps: Deps,
    *,
    valid_at: Instant,
    now: Instant,
) -> Content:
    """Change the state from `valid_at` on. `make_change` returns the changed fields for the content of a version.

    Returns the content that held at `valid_at` before the change. Raises as `change_state` does.
    """
    name = graph_name(Level.N1, citizen_id)
    await deps.graphs.for_writing(name, now)
    graph = deps.graph(name)
    for attempt in range(1, _MAX_TRIES + 1):
        current = await states.read_current(graph)
        records = [] if current is None else await states.read_open_from(graph, current, valid_at)
        changes = {record.version: await make_change(record.content, record.version) for record in records}
        changes[0] = await make_change({}, 0)
        opened = states.plan_change(records, valid_at, changes)
        if not opened or await states.replace_records(graph, records, opened, now) is not None:
            return records[0].content if records and records[0].valid.start <= valid_at else {}
        await asyncio.sleep(random() * _WAIT_S * min(attempt, _MAX_WAITS))
    raise Conflict(f"other writers keep changing the state of {citizen_id}", remedy="Try again in a moment.")


async def with_feedback(
    stream: ConsciousnessStream, energy: float | None, deps: Deps, now: Instant
) -> ConsciousnessStream:
    """Apply the energy feedback of the stream to the citizen (003, 5c); return it with both energies.

    `energy`: the current energy from the request; with None it is the citizen's own at this moment. For a citizen
    without a graph only a note is added: a question must not create a graph.
    """
    if not await deps.graphs.for_reading(graph_name(Level.N1, stream.citizen_id)):
        note = f"energy was not changed: nothing was remembered for citizen {stream.citizen_id} yet"
        return stream.model_copy(update={"notes": (*stream.notes, note)})
    view = await open_plain_view(stream.citizen_id, (Level.N1,), Scope.current(now), deps, now=now)
    _, derived = await _read_felt(view.targets.get(Level.N1), view.scope)

    def feedback(content: Content) -> EnergyFeedback:
        own = _energy(content, derived.energy, now)
        before = own if energy is None else own._replace(now=energy)
        after = feed_back(before, stream.relative_potential)
        return EnergyFeedback(before=before.now, after=after, baseline=own.ordinary)

    async def make_change(content: Content, _version: int) -> Content:
        own = {"energy": feedback(content).after, "baseline": _declared(content)}
        return {**own, "feedback_at": now, "last_stream_id": stream.intention_id}

    content = await _change(stream.citizen_id, make_change, deps, valid_at=now, now=now)
    return stream.model_copy(update={"energy_feedback": feedback(content)})


def _writers(content: Content) -> dict[str, Mapping[str, Any]]:
    """Who set the fields of a state."""
    writers: dict[str, Mapping[str, Any]] = orjson.loads(content.get("writers") or "{}")
    return writers


async def restore_state(
    citizen_id: str, earlier: Earlier, deps: Deps, now: Instant, *, mark: str | None = None, dry_run: bool = False
) -> tuple[str, ...]:
    """Have each field for which `earlier` names a version say again, from now on, what it said there.

    `mark`: the quarantine that does so. Returns the names of these fields, which with `dry_run` stay as they are.
    """
    graph = deps.graph(graph_name(Level.N1, citizen_id))
    names: set[str] = set()

    async def make_change(content: Content, version: int) -> Content:
        set_by, change = _writers(content), dict[str, Any]()
        for name, by in [*set_by.items()]:
            found: Content | None = None
            while (older := earlier(by)) is not None:
                records = await states.read_versions(graph, older, older + 1)
                found = records[0].content if records else {}
                by = _writers(found).get(name, {})
            if found is not None:
                names.add(name)
                change |= {part: found.get(part) for part in (name, *_BESIDE.get(name, ()))}
                set_by[name] = {**by, **({} if mark is None else {"quarantine": mark, "held": version})}
        return {**change, "writers": rows.json_text(set_by)} if change else {}

    if dry_run:
        current = await states.read_current(graph)
        for record in [] if current is None else await states.read_open_from(graph, current, now):
            await make_change(record.content, record.version)
    else:
        await _change(citizen_id, make_change, deps, valid_at=now, now=now)
    return tuple(sorted(names))
