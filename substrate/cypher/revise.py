"""What closes records and opens others. Each statement is atomic and comes from one command.

A statement is a compare-and-set: it names what was seen, and no row comes back when another writer was first.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.query import Query
from substrate.cypher.write import CLOCK

RECEIPT: Final = (
    "CREATE (c:Receipt {command_id: $receipt.command_id}) SET c += $receipt, c.created_at = at, m.clock = at "
)

_PENDING: Final = (
    "SET m.pending_until = CASE WHEN coalesce(m.pending_until, 0) < $pending_until THEN $pending_until "
    "ELSE m.pending_until END "
)
"""Set when a record on the past side stays true until a moment to come: until then the present is found on both
sides."""

_CLOSED: Final = (
    "expired_at = at, {0}.closed_reason = $reason, {0}.closed_by = $receipt.command_id, "
    "{0}.closed_source = $closed_source "
)


def _closing(name: str) -> str:
    return f"SET {name}.{_CLOSED.format(name)}"


_CARRIED: Final = (
    f"{CLOCK} MATCH (n:ConsciousnessNode {{id: $id}}) WHERE n.version = $seen AND n.expired_at = $seen_end "
    "WITH m, at, n LIMIT 1 OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) WITH m, at, n, t LIMIT 1 "
    "OPTIONAL MATCH (n)-[:HAS_OTHER_TRACE]->(o) DELETE o WITH DISTINCT m, at, n, t "
)
"""The record that a writer saw, with its trace. One of another model that is being made is made again."""

_TO_THE_PAST: Final = (
    "CREATE (n)-[:HAD]->(p:PastVersion)-[:HAS_TRACE]->(pt:PastTrace) SET p = properties(n), pt = properties(t) "
)

_RETAG: Final = (
    "WITH n, at OPTIONAL MATCH (n)-[g:TAGGED]->(:Tag) WHERE $retag DELETE g WITH DISTINCT n, at "
    "FOREACH (tag IN $tag_names | MERGE (x:Tag {name: tag}) CREATE (n)-[:TAGGED]->(x)) "
)

_OPEN_AGAIN: Final = (
    "{closed_by: null, closed_source: null, closed_reason: null, expired_at: $open, created_at: at}"
)

REVISE: Final = Query(
    "revise",
    f"{_CARRIED} {_TO_THE_PAST} {_closing('p')} "
    "FOREACH (k IN $kept | "
    "CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(pt) SET q = properties(n) SET q += k, q.created_at = at) "
    "SET n += $latest, n.created_at = at "
    "SET t += CASE WHEN $embedding IS NULL THEN {} ELSE {embedding: vecf32($embedding)} END "
    f"SET t.emotion = vecf32($emotion) {RECEIPT} {_PENDING} {_RETAG} RETURN at",
)
"""Close the open record of an identity and open the next."""

WITHDRAW: Final = Query(
    "withdraw",
    f"{_CARRIED} {_closing('n')} {RECEIPT} REMOVE t:Trace SET t:PastTrace RETURN at",
)
"""Close the open record of an identity and open none: it never held."""

_CLOSE_KEPT: Final = f"FOREACH (h IN [h IN past WHERE h.version IN $closing] | {_closing('h')}) "

REINSTATE: Final = Query(
    "reinstate",
    f"{_CARRIED} MATCH (n)-[:HAD]->(h:PastVersion) WITH m, at, n, t, collect(h) AS past "
    "MATCH (n)-[:HAD]->(s:PastVersion)-[:HAS_TRACE]->(st) WHERE s.version = $latest_from "
    "WITH m, at, n, t, past, s, st LIMIT 1 "
    "OPTIONAL MATCH (n)-[:HAD]->(k:PastVersion)-[:HAS_TRACE]->(kt) WHERE k.version = $kept_from "
    "WITH m, at, n, t, past, s, st, k, kt LIMIT 1 "
    f"{_TO_THE_PAST} {_closing('p')} {_CLOSE_KEPT} "
    "FOREACH (change IN $kept | CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(kt) "
    f"SET q = properties(k) SET q += {_OPEN_AGAIN} SET q += change) "
    f"SET n = properties(s) SET n += {_OPEN_AGAIN} SET n += $latest SET t = properties(st) "
    f"{RECEIPT} {_PENDING} {_RETAG} RETURN at",
)
"""Close what an undone command opened; what it had closed holds again, from its past versions and their traces."""

RESTORE: Final = Query(
    "restore",
    f"{_CARRIED} {_TO_THE_PAST} SET n += {_OPEN_AGAIN} SET n += $latest "
    f"{RECEIPT} REMOVE t:PastTrace SET t:Trace RETURN at",
)
"""A memory that was withdrawn holds again."""

REVISE_LINK: Final = Query(
    "revise_link",
    f"{CLOCK} MATCH (a:ConsciousnessNode {{id: $source_id}}) MATCH (b:ConsciousnessNode {{id: $target_id}}) "
    "WITH m, at, a, b LIMIT 1 "
    "OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = $id WITH m, at, a, b, collect(e) AS carried "
    "OPTIONAL MATCH (a)-[h:PAST_LINK]->(b) WHERE h.id = $id WITH m, at, a, b, carried, collect(h) AS past "
    "WITH m, at, a, b, carried, past "
    "WHERE [e IN carried | coalesce(e.version, 1)] = $seen AND size(past) = $past "
    f"{RECEIPT} {_PENDING} "
    "FOREACH (k IN $kept | CREATE (a)-[l:PAST_LINK]->(b) "
    "SET l = properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) "
    f"SET l += {_OPEN_AGAIN} SET l += k.change) "
    "FOREACH (k IN $latest | CREATE (a)-[l:LINK]->(b) "
    "SET l = properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) "
    f"SET l += {_OPEN_AGAIN} SET l += k.change) "
    f"{_CLOSE_KEPT} "
    f"FOREACH (e IN carried | CREATE (a)-[l:PAST_LINK]->(b) SET l = properties(e) {_closing('l')} DELETE e) "
    "RETURN at",
)
"""Close the open records of a link and open others: each is the record `of` a version with some `change`."""
