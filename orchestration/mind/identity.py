"""Identity: no module and no configuration, a query over accumulated experience (000)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import open_view
from orchestration.mind.state import read_state
from schemas.identity import AttachedRule, Identity, IdentityEntity, WhoIs
from schemas.memory import Level
from schemas.paging import cursor_of, parts_of
from schemas.temporal import END_OF_TIME, Instant, Scope, to_datetime
from substrate.connection.pool import Row
from substrate.cypher.identity import IDENTITY_NOW, IDENTITY_THEN
from substrate.store import records

MIN_POOL: Final = 64
"""So many memories with the most links are counted at least; links that are over make up the difference."""
MAX_RULES: Final = 20


class _Place(NamedTuple):
    """Behind which entity a page begins, and how many came before."""

    fewer: int = END_OF_TIME
    behind: str = ""
    behind_id: str = ""
    shown: int = 0


async def identity(asked: WhoIs, deps: Deps, now: Instant) -> Identity:
    """Who the citizen is, or was. A citizen with nothing has no entities, and a note says so.

    Raises InvalidRequest for a strange cursor.
    """
    place, scope = _begun(asked, now)
    view = await open_view(asked.citizen_id, (Level.N1,), scope, deps, now=now)
    entities: tuple[IdentityEntity, ...] = ()
    notes, after = asked.notes, None
    for _, graph, past in view.targets.values():
        known = await records.clock(graph, now) if scope.is_present else scope.known.start
        query = IDENTITY_THEN if past else IDENTITY_NOW
        found = read_entities(await graph.read(query, **scope.bounds(), **_page(place, asked.limit)))
        entities = found[: asked.limit]
        if len(found) > asked.limit:
            after = cursor_of(*_behind(entities[-1], place.shown + len(entities)), scope.valid.start, known)
    if not entities and asked.cursor is None:
        notes = (*notes, f"citizen {asked.citizen_id} had no memory that pointed to another at that moment")
    state = await read_state(asked.citizen_id, deps, scope)
    if state.updated_at is None:
        notes = (*notes, f"citizen {asked.citizen_id} had no state at that moment: the default one is told")
    return Identity(
        citizen_id=asked.citizen_id,
        as_of_time=to_datetime(scope.valid.start),
        known_at=to_datetime(now if scope.is_present else scope.known.start),
        entities=entities,
        state=state,
        next=after,
        notes=notes,
    )


def _begun(asked: WhoIs, now: Instant) -> tuple[_Place, Scope]:
    """Where the page begins, and the moment of the first page."""
    if asked.cursor is not None:
        *place, valid, known = parts_of(asked.cursor, int, str, str, int, int, int)
        return _Place(*place), Scope.at(valid, known)
    return _Place(), Scope.at_times(asked.as_of_time, asked.known_at, now)


def _page(place: _Place, limit: int) -> dict[str, Any]:
    pool = max(MIN_POOL, 4 * (place.shown + limit))
    return {**place._asdict(), "limit": limit + 1, "pool": pool}


def _behind(entity: IdentityEntity, shown: int) -> _Place:
    return _Place(entity.appearances, entity.name, entity.node_id, shown)


def read_entities(rows: Sequence[Row]) -> tuple[IdentityEntity, ...]:
    """The entities in the rows of `IDENTITY_NOW`, in their order."""
    return tuple(_entity(list(told)) for _, told in groupby(rows, key=lambda row: row[0]))


def _entity(told: Sequence[Row]) -> IdentityEntity:
    node_id, name, node_type, appearances = told[0][:4]
    said = [(kind, what, times) for *_, kind, what, times in told]
    return IdentityEntity(
        node_id=node_id,
        name=name,
        node_type=node_type,
        appearances=appearances,
        emotions={what: times for kind, what, times in said if kind == "emotion"},
        rules=tuple(AttachedRule(rule=what, memories=times) for kind, what, times in said if kind == "rule")[
            :MAX_RULES
        ],
    )
