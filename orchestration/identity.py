"""Identity: no module and no configuration, a query over accumulated experience (000)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from orchestration.citizen import read_state
from orchestration.deps import Deps
from schemas.identity import AttachedRule, Identity, IdentityEntity, WhoIs
from schemas.memory import Level
from schemas.temporal import Instant, Scope, to_datetime
from substrate.connection import Row, parameters
from substrate.cypher.identity import IDENTITY_NOW, IDENTITY_THEN
from substrate.graph_schema import graph_name

MIN_POOL: Final = 64
"""So many memories with the most links are counted at least; links that are over make up the difference."""
MAX_RULES: Final = 20


async def identity(asked: WhoIs, deps: Deps, now: Instant) -> Identity:
    """Who the citizen is, or was. A citizen with nothing has no entities, and a note says so."""
    scope = Scope.at_times(asked.as_of_time, asked.known_at, now)
    graph = graph_name(Level.N1, asked.citizen_id)
    past = asked.as_of_time is not None or asked.known_at is not None
    entities: tuple[IdentityEntity, ...] = ()
    notes = asked.notes
    if await deps.graphs.for_reading(graph):
        values = {**scope.bounds(), "limit": asked.limit, "pool": max(MIN_POOL, 4 * asked.limit)}
        query = IDENTITY_THEN if past else IDENTITY_NOW
        entities = read_entities(await deps.connection.read(graph, query, parameters(values)))
    if not entities:
        notes = (*notes, f"citizen {asked.citizen_id} had no memory that pointed to another at that moment")
    state = await read_state(asked.citizen_id, deps, scope)
    if state.updated_at is None:
        notes = (*notes, f"citizen {asked.citizen_id} had no state at that moment: the default one is told")
    return Identity(
        citizen_id=asked.citizen_id,
        as_of_time=to_datetime(scope.valid.start),
        known_at=to_datetime(scope.known.start if past else now),
        entities=entities,
        state=state,
        notes=notes,
    )


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
