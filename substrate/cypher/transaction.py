"""Many commands as one statement: what they close and open together, as lists of rows.

Not `MULTI`: `EXEC` runs its queries on the engine's main thread, between the reading and the writing of another
writer's query, whose compare-and-set then does not hold (measured: every second update was lost).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from substrate.cypher.fragments import (
    LINK_COLUMNS,
    NODE_COLUMNS,
    PROVENANCE,
    REPEATED,
    columns_of,
    link_columns,
    node_columns,
)
from substrate.cypher.query import Query
from substrate.cypher.write import CLOCK

TOUCHED: Final = (
    "coalesce({0}.touched, CASE WHEN {0}.expired_at = $open THEN {0}.created_at ELSE {0}.expired_at END)"
)
"""When a memory was changed last; `touched` is missing where only a build changed it that had no such mark."""

MEMORIES_OF: Final = Query(
    "memories_of",
    "UNWIND $wanted AS w MATCH (i:ConsciousnessNode {id: w.id}) "
    "WITH i, w, w.every OR (i.expired_at < $open AND w.since < $open) AS every "
    "CALL { WITH i RETURN i AS n UNION ALL WITH i, w, every WITH i, w, every WHERE every OR i.valid_at > w.since "
    "MATCH (i)-[:HAD]->(n:PastVersion) WHERE every OR n.expired_at = $open RETURN n } "
    f"RETURN n.fingerprint, i.version, coalesce(i.versions, i.version), {TOUCHED.format('i')}, "
    f"{node_columns('n')}, {columns_of('n', PROVENANCE)}",
)
"""The records that some identities carry, as of one moment; with `every`, or where none is open, also those of
the past, else the open ones among them where what is carried begins after `since`. In front of each: the
fingerprint of the command with which it began, the version that its identity carries, the highest that it had,
and when it was changed last."""

_LINK: Final = (
    "WHERE e.id = l.id RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, "
    f"{link_columns('e')}, {columns_of('e', PROVENANCE)}"
)

LINKS_OF: Final = Query(
    "links_of",
    "UNWIND $links AS l MATCH (a:ConsciousnessNode {id: l.source_id}) "
    f"MATCH (b:ConsciousnessNode {{id: l.target_id}}) WITH l, a, b MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK}",
)
"""All records of some links that are found through their ends. `versions` is the highest version that the link had
had when a record of it was written, where that one was never known."""

NAMED_LINKS_OF: Final = Query(
    "named_links_of",
    f"UNWIND $links AS l MATCH (a)-[e:LINK {{handle: l.handle}}]->(b) {_LINK} "
    f"UNION ALL UNWIND $links AS l MATCH (a)-[e:PAST_LINK {{handle: l.handle}}]->(b) {_LINK}",
)
"""The same for links with an id of their own."""


def _then(moment: str) -> str:
    """A moment as it was foreseen, or as much later as the clock of the graph wants it."""
    return f"CASE WHEN {moment} < $at OR {moment} = $open THEN {moment} ELSE {moment} + later END"


def _marked(name: str, row: str) -> str:
    """Give a record what it has of its own."""
    return (
        f"SET {name} += {row}.marks, {name}.created_at = {_then(f'{row}.marks.created_at')}, "
        f"{name}.expired_at = {_then(f'{row}.marks.expired_at')} "
    )


def _interned(name: str, row: str, columns: tuple[str, ...]) -> str:
    kept = ", ".join(f"{column}: intern({row}.{column})" for column in columns if column in REPEATED)
    return f"SET {name} += {{{kept}}} "


_TRACE: Final = (
    "SET {0} += CASE WHEN {1}.embedding IS NULL THEN {{}} ELSE {{embedding: vecf32({1}.embedding)}} END "
)
_FELT: Final = "SET {0}.emotion = vecf32({1}.emotion) "

_AS_SEEN: Final = (
    f"{CLOCK} WITH m, at, at - $at AS later "
    "OPTIONAL MATCH (c:Receipt) WHERE c.command_id IN $commands WITH m, at, later, count(c) AS applied "
    "OPTIONAL MATCH (n:ConsciousnessNode) WHERE n.id IN $ids "
    "WITH m, at, later, applied, collect(n) AS found "
    f"WITH m, at, later, applied, [n IN found | [n.id, n.version, {TOUCHED.format('n')}]] AS found "
    "WITH m, at, later WHERE applied = 0 AND size(found) = size($seen) AND all(one IN $seen WHERE one IN found) "
)
"""No memory that was seen has changed, and no command was applied. `later`: how much later than foreseen it is, in
microseconds."""

_LINKS_AS_SEEN: Final = (
    "CALL { UNWIND $held AS l MATCH (a:ConsciousnessNode {id: l.source_id}) "
    "MATCH (b:ConsciousnessNode {id: l.target_id}) WITH l, a, b "
    "OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = l.id WITH l, a, b, collect(e) AS carried "
    "OPTIONAL MATCH (a)-[h:PAST_LINK]->(b) WHERE h.id = l.id WITH l, carried, collect(h) AS past "
    "WITH l, size(past) AS held, size([h IN past WHERE h.expired_at = $open]) AS still, "
    "[e IN carried | coalesce(e.version, 1)] AS versions "
    "WHERE versions = l.carried AND held = l.past AND still = l.still RETURN count(l) AS same } "
    "WITH m, at, later WHERE same = size($held) "
)

_FREE: Final = (
    "CALL { UNWIND $handles AS handle MATCH ()-[e:LINK|PAST_LINK {handle: handle}]->() RETURN count(e) AS taken } "
    "WITH m, at, later WHERE taken = 0 "
)
"""No link has one of the handles."""

_NEW: Final = (
    "FOREACH (r IN $new | CREATE (n:ConsciousnessNode)-[:HAS_TRACE]->(t:Trace) "
    f"SET n = r.content {_interned('n', 'r.content', NODE_COLUMNS)} {_marked('n', 'r')} "
    f"{_TRACE.format('t', 'r')} {_FELT.format('t', 'r')}) "
)

_PAST: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $past AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH later, r, n OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) "
    "WITH later, r, n, CASE WHEN r.of = n.version THEN [n] ELSE [] END AS now, collect(t) AS nows "
    "OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion) WHERE s.version = r.of "
    "OPTIONAL MATCH (s)-[:HAS_TRACE]->(st) "
    "WITH later, r, n, now, nows, collect(s) AS before, collect(st) AS befores "
    "WITH later, r, n, now + before AS bases, CASE WHEN size(now) = 1 THEN nows ELSE befores END AS traces "
    "CREATE (p:PastTrace) "
    "SET p = CASE WHEN r.of = 0 OR size(traces) = 0 THEN {} ELSE properties(traces[0]) END "
    f"{_TRACE.format('p', 'r')} "
    "SET p += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END "
    "FOREACH (one IN r.records | CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(p) "
    "SET q = CASE WHEN r.of = 0 THEN {} ELSE properties(bases[0]) END "
    f"SET q += r.content {_marked('q', 'one')}) "
    "RETURN count(r) AS opened } "
)
"""Records for the past side, with the content of a record `of` a version and what differs from it."""

_CLOSED: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $closing AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH later, r, n MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.version = r.version "
    f"{_marked('p', 'r')} RETURN count(r) AS closed }} "
)

_CARRIED: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $carried AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH later, r, n OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion) WHERE s.version = r.of "
    "WITH later, r, n, s LIMIT 1000 OPTIONAL MATCH (s)-[:HAS_TRACE]->(st) "
    "WITH later, r, n, s, st LIMIT 1000 OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) "
    "WITH later, r, n, s, st, t LIMIT 1000 "
    "SET n = CASE WHEN r.of = 0 THEN {id: r.id} WHEN s IS NULL THEN properties(n) ELSE properties(s) END "
    f"SET n += r.content {_marked('n', 'r')} "
    "SET t = CASE WHEN r.of = 0 THEN {} WHEN st IS NULL THEN properties(t) ELSE properties(st) END "
    f"{_TRACE.format('t', 'r')} "
    "SET t += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END "
    "RETURN count(r) AS changed } "
    "WITH m, at, later CALL { UNWIND $carried AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH n MATCH (n)-[:HAS_OTHER_TRACE]->(o) DELETE o RETURN count(n) AS stale } "
)

_MOVED: Final = (
    "WITH m, at, later CALL { UNWIND $moved AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH r, n MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.version = r.version "
    "WITH p LIMIT 1000 OPTIONAL MATCH (p)-[:HAS_TRACE]->(t) WHERE indegree(t, 'HAS_TRACE') = 1 "
    "OPTIONAL MATCH (p)-[:HAS_OTHER_TRACE]->(o) WHERE indegree(o, 'HAS_OTHER_TRACE') = 1 "
    "DELETE t, o, p RETURN count(p) AS moved } "
)
"""A record of the past side that its identity carries again lies there alone."""

_TOUCHED: Final = (
    "WITH m, at, later CALL { WITH at UNWIND $touched AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "SET n.touched = at, n.versions = r.versions RETURN count(n) AS touched } "
)

_WITHDRAWN: Final = (
    "WITH m, at, later CALL { UNWIND $withdrawn AS id MATCH (n:ConsciousnessNode {id: id}) "
    "WITH n MATCH (n)-[:HAS_TRACE]->(t:Trace) REMOVE t:Trace SET t:PastTrace RETURN count(n) AS withdrawn } "
)
"""The trace of a memory that carries a closed record lies on the past side."""

_RESTORED: Final = (
    "WITH m, at, later CALL { UNWIND $restored AS id MATCH (n:ConsciousnessNode {id: id}) "
    "WITH n MATCH (n)-[:HAS_TRACE]->(t:PastTrace) REMOVE t:PastTrace SET t:Trace RETURN count(n) AS restored } "
)

_TAGS: Final = (
    "WITH m, at, later CALL { UNWIND $tagged AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH n MATCH (n)-[g:TAGGED]->(:Tag) DELETE g RETURN count(g) AS untagged } "
    "WITH m, at, later CALL { UNWIND $tagged AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "FOREACH (tag IN r.tags | MERGE (x:Tag {name: tag}) CREATE (n)-[:TAGGED]->(x)) RETURN count(r) AS tagged } "
)


def _opened(side: str) -> str:
    return (
        "FOREACH (k IN r.opened | "
        f"FOREACH (_ IN CASE WHEN k.type = '{side}' THEN [1] ELSE [] END | CREATE (a)-[l:{side}]->(b) "
        "SET l = CASE WHEN k.of = 0 THEN {} "
        "ELSE properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) END "
        f"SET l += k.content {_interned('l', 'l', LINK_COLUMNS)} {_marked('l', 'k')})) "
    )


_LINKS: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $links AS r MATCH (a:ConsciousnessNode {id: r.source_id}) "
    "MATCH (b:ConsciousnessNode {id: r.target_id}) WITH later, r, a, b "
    "OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = r.id WITH later, r, a, b, collect(e) AS carried "
    "OPTIONAL MATCH (a)-[h:PAST_LINK]->(b) WHERE h.id = r.id "
    "WITH later, r, a, b, carried, collect(h) AS past "
    f"{_opened('PAST_LINK')} {_opened('LINK')} "
    "FOREACH (k IN r.closing | FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) = k.version] | "
    f"{_marked('h', 'k')})) "
    "FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) IN r.carried_again] | DELETE h) "
    "FOREACH (e IN CASE WHEN r.moved THEN carried ELSE [] END | DELETE e) RETURN count(r) AS related } "
)

_RECEIPTS: Final = (
    "WITH m, at, later FOREACH (r IN $receipts | CREATE (c:Receipt {command_id: r.command_id}) "
    f"SET c += r, c.created_at = {_then('r.created_at')}) "
    "SET m.clock = at, m.pending_until = CASE WHEN coalesce(m.pending_until, 0) < $pending_until "
    "THEN $pending_until ELSE m.pending_until END RETURN later"
)

_PARTS: Final[Mapping[str, str]] = {
    "held": _LINKS_AS_SEEN,
    "handles": _FREE,
    "new": _NEW,
    "past": _PAST,
    "closing": _CLOSED,
    "carried": _CARRIED,
    "moved": _MOVED,
    "touched": _TOUCHED,
    "withdrawn": _WITHDRAWN,
    "restored": _RESTORED,
    "tagged": _TAGS,
    "links": _LINKS,
}
"""What a transaction may do, by the list of which it does so, in its order."""


@cache
def transaction(lists: frozenset[str]) -> Query:
    """Everything that the commands close and open, where these lists are not empty: each part takes its time.

    No row comes back, and nothing is changed, when what was seen is no more.
    """
    parts = (part for name, part in _PARTS.items() if name in lists)
    return Query("transaction", " ".join((_AS_SEEN, *parts, _RECEIPTS)))
