"""The memories of the present whose vectors a search found, joined to their records.

Which record a vector belongs to hangs on the state of the graph, so it is kept for that (`Reads`); only what is
not known of the found is read.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import AFTER_ALL, Instant
from substrate.connection.kept_reads import GraphState, Reads
from substrate.connection.pool import Row
from substrate.graphs.graph import Graph, GraphTarget
from substrate.likeness import port as likeness
from substrate.likeness.elements import Near
from substrate.store.neighbours import kind_of
from substrate.store.search import FAVOURED_NEARER, NOW

_BYTES: Final = 500

type _Vector = tuple[str, str]


class _Joined(NamedTuple):
    """What a vector belongs to, as read at `at`; `name` is None where that is no record of the present."""

    at: Instant
    name: tuple[Any, ...] | None = None
    valid_at: Instant = 0
    invalid_at: Instant = 0
    speaker: str = ""


async def find_nearest(target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The memories nearest to what the parameter `near` searches, as the rows of `search.THIN`.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    graph = target.graph
    near = await likeness.nearest(graph.connection, graph.name, values["near"])
    joined = await _join(graph, target.reads, values, near)
    favoured = frozenset(values["favoured"])
    found: list[tuple[float, str, Row]] = []
    for one in near:
        _, name, valid_at, invalid_at, speaker = joined[one.owner, one.key]
        if name is not None and valid_at < values["valid_to"] and invalid_at > values["valid_from"]:
            nearer = FAVOURED_NEARER if speaker in favoured else 0.0
            found.append((one.distance - nearer, name[0], (0, f"{one.distance:.15g}", *name)))
    found.sort(key=lambda each: each[:2])
    return [row for _, _, row in found[: values["limit"]]]


async def _join(
    graph: Graph, reads: Reads, values: Mapping[str, Any], near: Sequence[Near]
) -> Mapping[_Vector, _Joined]:
    now, kind = values["valid_from"], kind_of("joined", values)
    joined = {} if kind is None else _find_kept(reads, kind, near, now)
    lacking = [(one.owner, one.key) for one in near if (one.owner, one.key) not in joined]
    if lacking:
        shared = {name: value for name, value in values.items() if name not in ("near", "embedding")}
        ids = list(dict.fromkeys(owner for owner, _ in lacking))
        rows = await graph.read(NOW.nearest, **shared, **{"from": now, "until": AFTER_ALL, "ids": ids})
        found = {_vector(row): _joined(row, now) for row in rows if row[0] == "near"}
        same = reads.state == GraphState.from_values({row[1]: row[2] for row in rows if row[0] == "seen"})
        for vector in lacking:
            joined[vector] = found.get(vector, _Joined(now))
            if same and kind is not None:
                reads.keep((kind, vector[1]), joined[vector], _BYTES, about=vector[0])
    return joined


def _find_kept(reads: Reads, kind: Hashable, near: Sequence[Near], now: Instant) -> dict[_Vector, _Joined]:
    kept = ((one, reads.get((kind, one.key), about=one.owner)) for one in near)
    return {(one.owner, one.key): joined for one, joined in kept if joined is not None and joined.at <= now}


def _vector(row: Row) -> _Vector:
    return row[4], row[1] or ""


def _joined(row: Row, now: Instant) -> _Joined:
    _, _, valid_at, invalid_at, *name, speaker = row
    return _Joined(now, tuple(name), valid_at, invalid_at, speaker)
