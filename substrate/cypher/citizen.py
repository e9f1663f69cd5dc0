"""A citizen's own state, one node in its graph."""

from __future__ import annotations

from typing import Final

from substrate.cypher.query import Query

READ_STATE: Final = Query(
    "read_state",
    "MATCH (s:CitizenState) "
    "RETURN s.energy, s.emotion_vector, s.goal, s.last_stream_id, s.updated_at, s.drives LIMIT 1",
)
WRITE_STATE: Final = Query(
    "write_state",
    "MERGE (s:CitizenState {key: 'state'}) SET s += $state RETURN s.energy",
)
"""Set some of the state; a null removes."""
