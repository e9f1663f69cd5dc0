"""Reads who a citizen is from its memories; no profile is stored (000)."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.features.identity.changes import compare_identities
from orchestration.features.identity.declared_self import DeclaredSelf, read_self
from orchestration.features.identity.queries import EntityPosition, read_entities
from orchestration.features.identity.values import (
    Between,
    Identity,
    IdentityDiff,
    IdentityEntity,
    IdentityPage,
    WhoIs,
)
from orchestration.graph_queries.existing_graphs import open_view
from orchestration.mind.state import felt_state
from orchestration.question.reading import ROLES
from schemas.base import CitizenId
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.paging import decode_cursor, encode_cursor
from schemas.temporal import Instant, Scope, to_datetime
from substrate.store import records

MIN_COUNTED: Final = 64
"""At least this many of the most linked memories are examined: some of their links may have ended."""

MOST_COMPARED: Final = 100
"""This many entities and people of each moment are compared."""


class _IdentityPage(NamedTuple):
    """The entity after which a page begins, how many entities earlier pages showed, and the first page's scope."""

    after: EntityPosition
    shown: int
    scope: Scope


async def who(citizen_id: CitizenId, query: IdentityPage, deps: Deps, now: Instant) -> Identity:
    """The most connected entities of a citizen's memories, their emotions, and the rules attached (000)."""
    whose = WhoIs(citizen_id=citizen_id, **query.model_dump())
    for note in query.notes:  # times in the dump have a zone, so that validating it makes no notes
        whose = whose.with_note(note)
    return await read_identity(whose, deps, now)


async def read_identity(request: WhoIs, deps: Deps, now: Instant) -> Identity:
    """The identity of a citizen at a moment: the entities that most memories point to, and its state.

    Without such entities the answer has a note. Raises InvalidRequest for an invalid cursor.
    """
    page = _page_start(request, now)
    if request.cursor is not None:
        return await _read_page(request, page, deps, now)
    identity, calibration = await asyncio.gather(
        _read_page(request, page, deps, now),
        deps.features.read("calibration", request.citizen_id, deps, page.scope),
    )
    return identity.model_copy(update={"calibration": calibration})


async def _read_page(request: WhoIs, page: _IdentityPage, deps: Deps, now: Instant) -> Identity:
    scope = page.scope
    view = await open_view(request.citizen_id, (Level.N1,), scope, deps, now=now)
    entities: tuple[IdentityEntity, ...] = ()
    own = DeclaredSelf()
    notes, next_cursor = (*request.notes, *(view.notes if view.targets else ())), None
    target = view.targets.get(Level.N1)
    if target is not None:
        known_at = min(scope.known.start, await records.read_clock(target.graph, now))
        pool = max(MIN_COUNTED, 4 * (page.shown + request.limit))
        ranked = await read_entities(
            target, scope, page.after, roles=sorted(ROLES), limit=request.limit + 1, pool=pool
        )
        entities = tuple(ranked[: request.limit])
        if request.cursor is None:
            own = await read_self(request.citizen_id, target, scope, limit=request.limit)
        if len(ranked) > request.limit:
            last = entities[-1]
            position = EntityPosition(last.appearances, last.name, last.node_id)
            next_cursor = encode_cursor(*position, page.shown + len(entities), scope.valid.start, known_at)
    if not entities and request.cursor is None:
        notes = (*notes, f"citizen {request.citizen_id} had no memory that pointed to another at that moment")
    state = await felt_state(request.citizen_id, deps, scope, now, target=target)
    if state.updated_at is None:
        shown = "one derived from its memories" if state.derived else "the default state"
        notes = (*notes, f"citizen {request.citizen_id} had no state at that moment: {shown} is shown")
    return Identity(
        citizen_id=request.citizen_id,
        as_of_time=to_datetime(scope.valid.start),
        known_at=to_datetime(now if scope.is_present else scope.known.start),
        name=own.name,
        role=own.role,
        self_entity=own.self_entity,
        people=own.people,
        values=own.values,
        temperament=own.temperament,
        entities=entities,
        state=state,
        next=next_cursor,
        notes=notes,
    )


async def read_identity_diff(citizen_id: CitizenId, asked: Between, deps: Deps, now: Instant) -> IdentityDiff:
    """What changed in a citizen between `from` and `to`: name, role, people, attachments, values, temperament.

    Raises InvalidRequest when the first is after the second.
    """
    end = to_datetime(now) if asked.to_time is None else asked.to_time
    if asked.from_time > end:
        raise InvalidRequest(
            f"`from` ({asked.from_time:%Y-%m-%d %H:%M}) is after `to` ({end:%Y-%m-%d %H:%M})",
            remedy="Send the earlier moment as `from`.",
        )
    moments = (asked.from_time, asked.to_time)
    questions = [
        WhoIs(citizen_id=citizen_id, as_of_time=moment, known_at=asked.known_at, limit=MOST_COMPARED)
        for moment in moments
    ]
    before, after = await asyncio.gather(
        *(_read_page(question, _page_start(question, now), deps, now) for question in questions)
    )
    notes = [*asked.notes, *(f"at `from`: {note}" for note in before.notes)]
    notes += [f"at `to`: {note}" for note in after.notes]
    full = any(len(one.entities) == MOST_COMPARED or len(one.values) == MOST_COMPARED for one in (before, after))
    notes += [f"only the first {MOST_COMPARED} entities and rules of each moment are compared"] if full else []
    return compare_identities(before, after).model_copy(update={"notes": tuple(notes)})


def _page_start(request: WhoIs, now: Instant) -> _IdentityPage:
    if request.cursor is None:
        scope = request.scope(now)
        return _IdentityPage(EntityPosition(), 0, scope)
    appearances, name, node_id, shown, valid, known = decode_cursor(request.cursor, int, str, str, int, int, int)
    return _IdentityPage(EntityPosition(appearances, name, node_id), shown, Scope.at(valid, known))
