"""The single statement of a transaction: it writes all rows of a list of commands in one compare-and-set.

Not `MULTI`: `EXEC` runs its queries on the engine's main thread, after another writer's query has read and before
it writes; the compare-and-set of that query misses the change (measured: every second update was lost).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from substrate.cypher.fragments import CLOCK, LINK_COLUMNS, NODE_COLUMNS, REPEATED, note_lately
from substrate.cypher.query import Query

TOUCHED: Final = (
    "coalesce({0}.touched, CASE WHEN {0}.expired_at = $open THEN {0}.created_at ELSE {0}.expired_at END)"
)
"""The last change of a memory. Older versions stored no `touched`; then the times of the record give it."""


def _as_moved(moment: str) -> str:
    """A moment before `$at` stays; from `$at` on, `later` is added, because the clock of the graph was ahead."""
    return f"CASE WHEN {moment} < $at OR {moment} = $open THEN {moment} ELSE {moment} + later END"


def _set_marks(name: str, row: str) -> str:
    """Set the properties of the record itself (`marks`), such as its times; the content is set elsewhere."""
    return (
        f"SET {name} += {row}.marks, {name}.created_at = {_as_moved(f'{row}.marks.created_at')}, "
        f"{name}.expired_at = {_as_moved(f'{row}.marks.expired_at')} "
    )


def _set_interned(name: str, row: str, columns: tuple[str, ...]) -> str:
    interned = ", ".join(f"{column}: intern({row}.{column})" for column in columns if column in REPEATED)
    return f"SET {name} += {{{interned}}} "


_SET_EMBEDDING: Final = (
    "SET {0} += CASE WHEN {1}.embedding IS NULL THEN {{}} "
    "ELSE {{embedding: vecf32({1}.embedding), digest: {1}.digest}} END "
)
_SET_EMOTION: Final = "SET {0}.emotion = vecf32({1}.emotion) "

_EXPECTED_MEMORIES: Final = (
    f"{CLOCK} WITH m, at, at - $at AS later "
    "OPTIONAL MATCH (c:Receipt) WHERE c.command_id IN $commands WITH m, at, later, count(c) AS applied "
    "OPTIONAL MATCH (n:ConsciousnessNode) WHERE n.id IN $ids "
    "WITH m, at, later, applied, collect(n) AS found "
    f"WITH m, at, later, applied, [n IN found | [n.id, n.version, {TOUCHED.format('n')}]] AS found "
    "WITH m, at, later WHERE applied = 0 AND size(found) = size($seen) AND all(one IN $seen WHERE one IN found) "
)
"""Goes on only if no expected memory has changed and no command was applied. `later`: how many microseconds the
transaction time is later than `$at`."""

_EXPECTED_LINKS: Final = (
    "CALL { UNWIND $held AS l MATCH (a:ConsciousnessNode {id: l.source_id}) "
    "MATCH (b:ConsciousnessNode {id: l.target_id}) WITH l, a, b "
    "OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = l.id WITH l, a, b, collect(e) AS carried "
    "OPTIONAL MATCH (a)-[h:PAST_LINK]->(b) WHERE h.id = l.id WITH l, carried, collect(h) AS past "
    "WITH l, size(past) AS held, size([h IN past WHERE h.expired_at = $open]) AS still, "
    "[e IN carried | coalesce(e.version, 1)] AS versions "
    "WHERE versions = l.carried AND held = l.past AND still = l.still RETURN count(l) AS same } "
    "WITH m, at, later WHERE same = size($held) "
)

_FREE_HANDLES: Final = (
    "CALL { UNWIND $handles AS handle MATCH ()-[e:LINK {handle: handle}]->() RETURN count(e) AS taken } "
    "CALL { UNWIND $handles AS handle MATCH ()-[e:PAST_LINK {handle: handle}]->() RETURN count(e) AS former } "
    "WITH m, at, later WHERE taken + former = 0 "
)
"""Goes on only if no link has one of the handles. A match of both types would look at every link of the graph."""

_ADD_NEW: Final = (
    "FOREACH (r IN $new | CREATE (n:ConsciousnessNode)-[:HAS_TRACE]->(t:Trace) "
    f"SET n = r.content {_set_interned('n', 'r.content', NODE_COLUMNS)} {_set_marks('n', 'r')} "
    f"{_SET_EMBEDDING.format('t', 'r')} {_SET_EMOTION.format('t', 'r')}) "
)

_ADD_PAST: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $past AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH later, r, n OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) "
    "WITH later, r, n, CASE WHEN r.of = n.version THEN [n] ELSE [] END AS now, collect(t) AS nows "
    "OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion) WHERE s.version = r.of "
    "OPTIONAL MATCH (s)-[:HAS_TRACE]->(st) "
    "WITH later, r, n, now, nows, collect(s) AS before, collect(st) AS befores "
    "WITH later, r, n, now + before AS bases, CASE WHEN size(now) = 1 THEN nows ELSE befores END AS traces "
    "CREATE (p:PastTrace) "
    "SET p = CASE WHEN r.of = 0 OR size(traces) = 0 THEN {} ELSE properties(traces[0]) END "
    f"{_SET_EMBEDDING.format('p', 'r')} "
    "SET p += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END "
    "FOREACH (one IN r.records | CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(p) "
    "SET q = CASE WHEN r.of = 0 THEN {} ELSE properties(bases[0]) END "
    f"SET q += r.content {_set_marks('q', 'one')}) "
    "RETURN count(r) AS opened } "
)
"""Creates past records: each copies the content of version `of` (0: nothing) and sets what differs."""

_CLOSE_PAST: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $closing AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH later, r, n MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.version = r.version "
    f"{_set_marks('p', 'r')} RETURN count(r) AS closed }} "
)

_REWRITE_CARRIED: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $carried AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH later, r, n OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion) WHERE s.version = r.of "
    "WITH later, r, n, s LIMIT 1000 OPTIONAL MATCH (s)-[:HAS_TRACE]->(st) "
    "WITH later, r, n, s, st LIMIT 1000 OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) "
    "WITH later, r, n, s, st, t LIMIT 1000 "
    "SET n = CASE WHEN r.of = 0 THEN {id: r.id} WHEN s IS NULL THEN properties(n) ELSE properties(s) END "
    f"SET n += r.content {_set_marks('n', 'r')} "
    "SET t = CASE WHEN r.of = 0 THEN {} WHEN st IS NULL THEN properties(t) ELSE properties(st) END "
    f"{_SET_EMBEDDING.format('t', 'r')} "
    "SET t += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END "
    "RETURN count(r) AS changed } "
    "WITH m, at, later CALL { UNWIND $carried AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH n MATCH (n)-[:HAS_OTHER_TRACE]->(o) DELETE o RETURN count(n) AS stale } "
)

_REMOVE_MOVED: Final = (
    "WITH m, at, later CALL { UNWIND $moved AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH r, n MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.version = r.version "
    "WITH p LIMIT 1000 OPTIONAL MATCH (p)-[:HAS_TRACE]->(t) WHERE indegree(t, 'HAS_TRACE') = 1 "
    "OPTIONAL MATCH (p)-[:HAS_OTHER_TRACE]->(o) WHERE indegree(o, 'HAS_OTHER_TRACE') = 1 "
    "DELETE t, o, p RETURN count(p) AS moved } "
)
"""Deletes a past record when its identity carries it again."""

_TOUCH: Final = (
    "WITH m, at, later CALL { WITH at UNWIND $touched AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "SET n.touched = at, n.versions = r.versions RETURN count(n) AS touched } "
)

_WITHDRAW: Final = (
    "WITH m, at, later CALL { UNWIND $withdrawn AS id MATCH (n:ConsciousnessNode {id: id}) "
    "WITH n MATCH (n)-[:HAS_TRACE]->(t:Trace) REMOVE t:Trace SET t:PastTrace RETURN count(n) AS withdrawn } "
)
"""Moves the vectors of a memory that is retracted now to the past side."""

_RESTORE: Final = (
    "WITH m, at, later CALL { UNWIND $restored AS id MATCH (n:ConsciousnessNode {id: id}) "
    "WITH n MATCH (n)-[:HAS_TRACE]->(t:PastTrace) REMOVE t:PastTrace SET t:Trace RETURN count(n) AS restored } "
)

_RETAG: Final = (
    "WITH m, at, later CALL { UNWIND $tagged AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "WITH n MATCH (n)-[g:TAGGED]->(:Tag) DELETE g RETURN count(g) AS untagged } "
    "WITH m, at, later CALL { UNWIND $tagged AS r MATCH (n:ConsciousnessNode {id: r.id}) "
    "FOREACH (tag IN r.tags | MERGE (x:Tag {name: tag}) CREATE (n)-[:TAGGED]->(x)) RETURN count(r) AS tagged } "
)


def _open_links(side: str) -> str:
    return (
        "FOREACH (k IN r.opened | "
        f"FOREACH (_ IN CASE WHEN k.type = '{side}' THEN [1] ELSE [] END | CREATE (a)-[l:{side}]->(b) "
        "SET l = CASE WHEN k.of = 0 THEN {} "
        "ELSE properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) END "
        f"SET l += k.content {_set_interned('l', 'l', LINK_COLUMNS)} {_set_marks('l', 'k')})) "
    )


_WRITE_LINKS: Final = (
    "WITH m, at, later CALL { WITH later UNWIND $links AS r MATCH (a:ConsciousnessNode {id: r.source_id}) "
    "MATCH (b:ConsciousnessNode {id: r.target_id}) WITH later, r, a, b "
    "OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = r.id WITH later, r, a, b, collect(e) AS carried "
    "OPTIONAL MATCH (a)-[h:PAST_LINK]->(b) WHERE h.id = r.id "
    "WITH later, r, a, b, carried, collect(h) AS past "
    f"{_open_links('PAST_LINK')} {_open_links('LINK')} "
    "FOREACH (k IN r.closing | FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) = k.version] | "
    f"{_set_marks('h', 'k')})) "
    "FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) IN r.carried_again] | DELETE h) "
    "FOREACH (e IN CASE WHEN r.moved THEN carried ELSE [] END | DELETE e) RETURN count(r) AS related } "
)

_WRITE_RECEIPTS: Final = (
    "WITH m, at, later FOREACH (r IN $receipts | CREATE (c:Receipt {command_id: r.command_id}) "
    f"SET c += r, c.created_at = {_as_moved('r.created_at')}) "
    f"WITH m, at, later, {_as_moved('$changes_until')} AS changes_until "
    f"SET {note_lately('coalesce(m.clock, 0)', 'at')} "
    "SET m.clock = at, m.pending_until = CASE WHEN coalesce(m.pending_until, 0) < $pending_until "
    "THEN $pending_until ELSE m.pending_until END, m.changes_until = CASE WHEN m.changes_until < changes_until "
    "THEN changes_until ELSE m.changes_until END RETURN later"
)

_PARTS: Final[Mapping[str, str]] = {
    "held": _EXPECTED_LINKS,
    "handles": _FREE_HANDLES,
    "new": _ADD_NEW,
    "past": _ADD_PAST,
    "closing": _CLOSE_PAST,
    "carried": _REWRITE_CARRIED,
    "moved": _REMOVE_MOVED,
    "touched": _TOUCH,
    "withdrawn": _WITHDRAW,
    "restored": _RESTORE,
    "tagged": _RETAG,
    "links": _WRITE_LINKS,
}
"""The parts of the statement in their order, by the name of the list that each part reads."""


@cache
def transaction(lists: frozenset[str]) -> Query:
    """The statement for a transaction in which only these lists have rows; the other parts are left out. It
    changes nothing and returns no row when the graph is no longer as expected."""
    parts = (part for name, part in _PARTS.items() if name in lists)
    return Query("transaction", " ".join((_EXPECTED_MEMORIES, *parts, _WRITE_RECEIPTS)))
