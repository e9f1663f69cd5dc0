"""A citizen's own state: the record that it carries, one `CitizenState`, and the past ones, each a `PastState`.

Nothing leads from one to the other: a graph has one citizen, so its labels find them. No memory, list, count or
sweep goes over these labels.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import columns_of, visible
from substrate.cypher.query import Query
from substrate.cypher.write import CLOCK

STATE_COLUMNS: Final = (
    "version", "valid_at", "invalid_at", "created_at", "expired_at",
    "energy", "emotion_vector", "goal", "drives", "last_stream_id",
)  # fmt: skip
"""What is read of a record; what its content lacks was never set."""
REPEATED_TEXTS: Final = ("emotion_vector", "goal", "drives")
"""Texts that go from record to record; the engine keeps one copy of each."""

READ_STATE: Final = Query("read_state", f"MATCH (s:CitizenState) RETURN {columns_of('s', STATE_COLUMNS)} LIMIT 1")

READ_STATE_THEN: Final = Query(
    "read_state_then",
    f"MATCH (s:CitizenState) WHERE {visible('s')} RETURN {columns_of('s', STATE_COLUMNS)} "
    "UNION ALL "
    f"MATCH (s:PastState) WHERE s.cell IN $cells AND {visible('s')} RETURN {columns_of('s', STATE_COLUMNS)}",
)
"""The record of one moment. `cells`: where a record that holds at that moment can lie."""

STATES_BETWEEN: Final = Query(
    "states_between",
    "MATCH (s:PastState) WHERE s.valid_at > $after AND s.valid_at < $before AND s.expired_at = $open "
    f"RETURN {columns_of('s', STATE_COLUMNS)} LIMIT $rows",
)
"""Open records on the past side that begin between two moments."""

STATE_PAGE: Final = Query(
    "state_page",
    "MATCH (s:PastState) WHERE s.version >= $first AND s.version < $beyond "
    f"RETURN {columns_of('s', STATE_COLUMNS)} "
    "UNION ALL "
    "MATCH (s:CitizenState) WHERE s.version >= $first AND s.version < $beyond "
    f"RETURN {columns_of('s', STATE_COLUMNS)}",
)

_INTERNED: Final = ", ".join(f"{name}: intern(n.{name})" for name in REPEATED_TEXTS)

CHANGE_STATE: Final = Query(
    "change_state",
    f"{CLOCK} OPTIONAL MATCH (s:CitizenState) WITH m, at, s WHERE coalesce(s.version, 0) = $seen "
    "OPTIONAL MATCH (o:PastState) WHERE o.version IN $closing WITH m, at, s, collect(o) AS past "
    "FOREACH (k IN $kept | CREATE (n:PastState) "
    "SET n = coalesce(properties([x IN past + [s] WHERE x.version = k.of][0]), {}) "
    f"SET n += k.change SET n += {{created_at: at, {_INTERNED}}}) "
    "FOREACH (k IN $latest | CREATE (n:CitizenState) SET n = coalesce(properties(s), {}) "
    f"SET n += k SET n += {{created_at: at, {_INTERNED}}}) "
    "FOREACH (o IN past | SET o.expired_at = at) "
    "FOREACH (o IN CASE WHEN s IS NULL THEN [] ELSE [s] END | SET o.expired_at = at, "
    "o.cell = [w IN $widths WHERE w >= at - o.created_at | "
    "'known/' + toString(w) + '/' + toString(o.created_at / w)][0] "
    "REMOVE o:CitizenState SET o:PastState) "
    "SET m.clock = at RETURN at",
)
"""Close open records and open others. `kept` lie on the past side, each the record `of` a version with some
`change`. No row comes back when another writer was first: the record carried is then not the one `seen`."""
