"""What goes through a whole graph page by page, and the small writes that repair it.

Memories are paged by the internal id: the scan begins behind it, goes up, and stops at the limit, so that a page
costs the same wherever it lies. An `ORDER BY` before the limit would sort the whole rest for each page; the one
behind it sorts a page, because an OPTIONAL MATCH puts the rows without a match last.
"""

from __future__ import annotations

from typing import Final

from schemas.base import DEEPEST
from schemas.validation import CONDITIONAL, IMPORTANT, REQUIRED
from substrate.cypher.query import Query
from substrate.cypher.write import CLOCK
from substrate.stored_maps import COLUMNS

TEXT_READ: Final = 2000
"""Characters of a long text that a page carries."""

MEMORY_FIELDS: Final = (
    "id", "node_type", "name", "speaker", "version", "energy", "confidence", "emotion_vector",
    "goal", "resolution_state", "unset", "valid_at", "invalid_at", "created_at", "expired_at",
)  # fmt: skip
LONG_FIELDS: Final = ("description", "felt_quality", "body_sensation")
METADATA: Final = (*REQUIRED, *IMPORTANT, *CONDITIONAL)
LINK_FIELDS: Final = (
    "id", "relation_type", "valid_at", "invalid_at", "created_at", "expired_at", *METADATA,
)  # fmt: skip
RECORD_FIELDS: Final = ("version", "valid_at", "invalid_at", "created_at", "expired_at")


def _deep(name: str, column: str) -> str:
    """The text of a map with brackets enough to be nested too deeply; null for any other."""
    brackets = " + ".join(f"size(split({name}.{column}, '{bracket}'))" for bracket in "{[")
    return f"CASE WHEN {brackets} > {DEEPEST + 2} THEN {name}.{column} ELSE null END"


def _columns(name: str, fields: tuple[str, ...]) -> str:
    return ", ".join(f"{name}.{field}" for field in fields)


def _beginnings(name: str, fields: tuple[str, ...]) -> str:
    return ", ".join(f"left(toStringOrNull({name}.{field}), {TEXT_READ})" for field in fields)


MEMORY_PAGE: Final = Query(
    "memory_page",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace) "
    "RETURN id(n), n.energy >= 0.0 AND n.confidence >= 0.0, "
    "typeOf(t.embedding), indegree(n, 'LINK'), outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK'), "
    f"outdegree(n, 'HAD'), {_deep('n', 'extra')}, {_columns('n', MEMORY_FIELDS)}, {_beginnings('n', LONG_FIELDS)} "
    "ORDER BY id(n)",
)
"""The next memories, with the kind of their embedding and how many links and past versions each has."""

_OF_PAGE: Final = "MATCH (n:ConsciousnessNode) WHERE id(n) >= $first AND id(n) < $beyond WITH n "

_NUMERIC: Final = " AND ".join(
    f"e.{field} >= 0.0" for field in ("energy", "confidence", "energy_transfer_coefficient")
)

LINK_PAGE: Final = Query(
    "link_page",
    f"{_OF_PAGE} MATCH (n)-[e:LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows "
    "RETURN n.id, id(n), n.expired_at, n.invalid_at, n.invalidation_reason, "
    f"m.id, id(m), m.expired_at, m.invalid_at, m.invalidation_reason, {_NUMERIC}, "
    f"{', '.join(_deep('e', column) for column in COLUMNS)}, {_columns('e', LINK_FIELDS)}",
)
"""The open link records that begin at the memories of a range, with how each end stands."""

PAST_LINK_PAGE: Final = Query(
    "past_link_page",
    f"{_OF_PAGE} MATCH (n)-[e:PAST_LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows "
    "RETURN n.id, m.id, e.id, e.valid_at, e.invalid_at, e.created_at, e.expired_at",
)
"""The closed link records that begin at the memories of a range."""

VERSION_PAGE: Final = Query(
    "version_page",
    f"{_OF_PAGE} MATCH (n)-[:HAD]->(p:PastVersion) WITH n, p SKIP $skip LIMIT $rows "
    f"RETURN n.id, {_columns('n', RECORD_FIELDS)}, {_columns('p', RECORD_FIELDS)}",
)
"""The past versions of the memories of a range, each beside the record that its identity carries."""

CONTENTS: Final = Query(
    "contents",
    "UNWIND $places AS place MATCH (n:ConsciousnessNode) WHERE id(n) = place "
    "RETURN n.id, n.name, toStringOrNull(n.description), toStringOrNull(n.speaker), n.node_type, n.version, "
    "n.valid_at, n.invalid_at, n.created_at, n.expired_at",
)
"""The whole texts of some memories by their internal ids."""

RE_EMBED: Final = Query(
    "re_embed",
    "MATCH (n:ConsciousnessNode {id: $id}) WHERE n.version = $seen AND n.expired_at = $open "
    "WITH n LIMIT 1 OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace) WITH n, collect(t) AS traces "
    "FOREACH (_ IN CASE WHEN size(traces) = 0 THEN [1] ELSE [] END | "
    "CREATE (n)-[:HAS_TRACE]->(:Trace {embedding: vecf32($embedding), emotion: vecf32($emotion)})) "
    "FOREACH (t IN traces | SET t.embedding = vecf32($embedding)) "
    "RETURN n.version",
)
"""Give the open record of an identity the embedding that it lacks. No row back: it has changed since."""

RECEIPT: Final = (
    "CREATE (c:Receipt {command_id: $receipt.command_id}) SET c += $receipt, c.created_at = at, m.clock = at "
)

REVISE_LINK: Final = Query(
    "revise_link",
    f"{CLOCK} MATCH (a:ConsciousnessNode {{id: $source_id}}) WITH m, at, a LIMIT 1 "
    "MATCH (a)-[e:LINK]->(b) "
    "WHERE b.id = $target_id AND e.id = $id AND e.created_at = $seen AND e.expired_at = $open "
    "WITH m, at, a, b, e LIMIT 1 OPTIONAL MATCH (a)-[q:PAST_LINK]->(b) WHERE q.id = $id "
    "WITH m, at, a, b, e, max(coalesce(q.version, 1)) AS before "
    "WITH m, at, a, b, e, CASE WHEN before > coalesce(e.version, 1) THEN before ELSE coalesce(e.version, 1) END "
    "AS highest CREATE (a)-[p:PAST_LINK]->(b) SET p = properties(e) "
    "SET p.expired_at = at, p.closed_by = $receipt.command_id, p.closed_reason = 'discovered_false', "
    "p.closed_source = $closed_source, p.closed_key = $key_id "
    "FOREACH (change IN $opened | CREATE (a)-[k:LINK]->(b) SET k = properties(e) SET k += change, "
    "k.created_at = at, k.version = highest + 1, k.command_id = $receipt.command_id, k.key_id = $key_id) "
    f"{RECEIPT} DELETE e RETURN at",
)
"""Close the open record of a link and open another with the changes, or none. No row back: it is not there."""

CLOSE_RECORD: Final = Query(
    "close_record",
    f"{CLOCK} MATCH (n:ConsciousnessNode {{id: $id}}) WITH m, at, n LIMIT 1 MATCH (n)-[:HAD]->(p:PastVersion) "
    "WHERE p.version = $version AND p.created_at = $seen AND p.expired_at = $open WITH m, at, n, p LIMIT 1 "
    "SET n.touched = at, p.expired_at = $replaced_at, p.closed_by = $receipt.command_id, "
    "p.closed_source = $closed_source, p.closed_key = $key_id "
    f"{RECEIPT} RETURN at",
)
"""Close a past version that was left open beside the record which replaced it, when that did so."""
