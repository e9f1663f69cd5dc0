"""Queries of state-based retrieval, for the present and for another moment (003, component 1).

Rows have the columns of `substrate.store.search`. Rows of hop 0 are possible answers of the mode; their score is
used only to order them. A row of hop -1 is a past record of a resolved blockage, from when it was still blocked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from schemas.memory import SOLVING
from substrate.connection.pool import Row
from substrate.cypher.fragments import (
    HUB,
    felt,
    felt_alike,
    fits,
    found_columns,
    found_now,
    found_then,
    is_statement,
    link_columns,
    past_of,
    records_of,
    thin_columns,
    uncrowded_now,
    uncrowded_then,
    visible,
)
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget
from substrate.store.search import GIVEN, MAX_LINKS_READ
from substrate.store.state_reads import NEWEST, read_for_state, state_query

MAX_RESOLUTION_LINKS: Final = 1000
"""No steps are searched from a resolution with this many links: it is linked to everything."""

_IS_STEP: Final = f"(j.node_type IN {list(SOLVING)} OR j.node_type = 'Turn' AND j.step IN {list(SOLVING)})"
"""The memory `j` is a step by its type; a turn by what it tells."""

_IN_ANY_STATE: Final = (
    "s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy "
    f"AND {visible('s')} AND {fits('s')} AND {is_statement('s')}"
)
"""Possible answers of a mode: records in the scope and the filters, recent enough, with an energy in the range."""

_IN_STATE: Final = f"s.resolution_state IN $states AND {_IN_ANY_STATE}"
"""The same, with one of the requested resolution states. Few records have a state, and an index finds them."""

_WANTED: Final = f"(size($states) = 0 OR s.resolution_state IN $states) AND {_IN_ANY_STATE}"
"""The same, with one of the requested states if there are any. Used for records that are near."""

_BESIDE: Final = (
    "m.valid_at >= $beside_since AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)"
)
"""Memories linked to an answer that may be shown with it."""

_WEIGHT: Final = (
    "(1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END "
    "/ $half_life))"
)
"""How much a record counts by its last change: 1 from `$recent_from` on, before it half for each `$half_life`."""

_LATE: Final = f"CALL db.meta.stats() YIELD nodeCount WITH nodeCount - {NEWEST} AS first "


def _record_searches(wanted: str, before: str = "") -> tuple[str, str]:
    return (
        f"{before} MATCH (s:ConsciousnessNode) WHERE {wanted} WITH s, s AS i ",
        f"{before} MATCH (s:PastVersion) WHERE {wanted} WITH s MATCH (i:ConsciousnessNode)-[:HAD]->(s) WITH s, i ",
    )


_GIVEN: Final = (
    "(s.unset IS NULL OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector' "
    "AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))"
)
"""The writer gave a state, a feeling or a goal. What was told in plain words has searches of its own
(`substrate.store.told`); only by its goal or in the vector index is it found here."""

_GIVEN_PRESENT: Final = (
    f"MATCH (s:ConsciousnessNode) WHERE s.resolution_state IN $states AND {visible('s')} AND {_GIVEN}"
)
_RECORDS: Final = _record_searches(_IN_STATE)
_GIVEN_RECORDS: Final = _record_searches(f"{_IN_STATE} AND {_GIVEN}")
_NEW_RECORDS: Final = _record_searches(f"id(s) >= first AND {_IN_ANY_STATE}", _LATE)


class _Time(NamedTuple):
    """The parts of a query that differ between the present and other moments. `thin`: only names are returned of
    what is found; what is around it is read by `substrate.store.neighbours`."""

    records: tuple[str, ...]
    given: tuple[str, ...]
    new_records: tuple[str, ...]
    near_in_emotion: tuple[str, ...]
    near_in_meaning: tuple[str, ...]
    link: str
    there: str
    record: str
    uncrowded: Callable[[str, str, int], str]
    thin: bool = False


def _scans(wanted: str, column: str, k: str, vector: str) -> tuple[str, ...]:
    """The this many nearest of the wanted records, compared one by one."""
    nearest = (
        f"MATCH (s)-[:HAS_TRACE]->(t) WITH s, i, vec.cosineDistance(t.{column}, vecf32({vector})) AS score "
        f"ORDER BY score, s.id, s.version LIMIT {k} WITH s, i, score "
    )
    return tuple(f"{search} {nearest}" for search in _record_searches(wanted))


_ALL_RECORDS: Final = _record_searches(_IN_ANY_STATE)
_MEANING_FITTING: Final = _scans(_WANTED, "embedding", "$nearest", "$goal_embedding")
"""With filters no search takes its nearest or newest before it filters."""

_NEAREST_FELT: Final = "ORDER BY score, s.id, s.version LIMIT $k"
_EMOTION: Final = (
    f"{felt_alike('ConsciousnessNode', '$felt_names', '$emotion', _WANTED)} {_NEAREST_FELT} "
    "WITH s, s AS i, score ",
    f"{felt_alike('PastVersion', '$felt_names', '$emotion', _WANTED)} {_NEAREST_FELT} "
    "MATCH (i:ConsciousnessNode)-[:HAD]->(s) WITH s, i, score ",
)
_MEANING_NOW: Final = f"{found_now(_WANTED)} WITH s, s AS i, score "
_MEANING_THEN: Final = found_then(_WANTED)

_NOW: Final = _Time(
    _RECORDS[:1], _GIVEN_RECORDS[:1], _NEW_RECORDS[:1], _EMOTION[:1], (_MEANING_NOW,), "LINK", visible("j"),
    f"WITH hop, e, j AS m WHERE {visible('m')} AND {fits('m')}", uncrowded_now,
)  # fmt: skip
_THEN: Final = _Time(
    _RECORDS, _GIVEN_RECORDS, _NEW_RECORDS, _EMOTION, (_MEANING_THEN,), "LINK|PAST_LINK", "j.id IS NOT NULL",
    f"{records_of('j', 'm', 'hop, e')}WHERE {felt('m')}", uncrowded_then,
)  # fmt: skip
_FITTING_NOW: Final = _NOW._replace(new_records=_ALL_RECORDS[:1], near_in_meaning=_MEANING_FITTING[:1])
_FITTING_THEN: Final = _THEN._replace(new_records=_ALL_RECORDS, near_in_meaning=_MEANING_FITTING)


def _union(searches: tuple[str, ...], rest: str) -> str:
    branches = " UNION ALL ".join(f"{search} {rest} RETURN s, i, score " for search in searches)
    return f"CALL {{ {branches} }} WITH s, i, score "


def _strongest(start: str, link: str, other: str, cap: str) -> str:
    """Keep at most `cap` links of each `start`, the strongest; one row for each link."""
    return (
        f"WITH {start}, {link}, {other} "
        f"ORDER BY {link}.energy * {link}.confidence DESC, {link}.valid_at DESC, {link}.id "
        f"WITH {start}, collect({link})[..{cap}] AS links, collect({other})[..{cap}] AS others "
        f"UNWIND range(0, size(links) - 1) AS place "
        f"WITH {start}, links[place] AS {link}, others[place] AS {other} "
    )


def _keep_held(time: _Time, carried: str, other: str) -> str:
    """Keep the rows whose memory `other` has a record in the scope; the present has seen to that by `there`. What
    has none must not take the place of another among the strongest."""
    if time.link == "LINK":
        return ""
    return (
        f"{past_of(other, carried)}WHERE {visible('p')} "
        f"WITH {carried}, {other}, count(p) AS records WHERE records > 0 OR {visible(other)} "
    )


def _strongest_held(time: _Time, start: str, link: str, other: str) -> str:
    """At most `$first_hop` links of each `start` to memories that have a record in the scope, the strongest."""
    held = _keep_held(time, f"{start}, {link}", other)
    first = _strongest(start, link, other, MAX_LINKS_READ) if held else ""
    return f"{first}{held}{_strongest(start, link, other, '$first_hop')}"


_STARTS: Final = (
    "WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores "
    "CALL { WITH starts, scores UNWIND range(0, size(starts) - 1) AS place "
    "RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m "
)

_ROW: Final = f"}} RETURN hop, score, startNode(e).id, endNode(e).id, {link_columns('e')}, {found_columns('m')}"


def _with_neighbours(time: _Time) -> str:
    """Return the starts as rows, and for the first `$expanded` of them their strongest links."""
    if time.thin:
        return f"RETURN 0 AS hop, score, {thin_columns('s')}"
    return (
        f"{_STARTS} UNION ALL WITH identities UNWIND identities[..$expanded] AS i WITH DISTINCT i "
        f"MATCH (i)-[e:{time.link}]-(j:ConsciousnessNode) WHERE {visible('e')} AND {time.there} "
        f"{_strongest_held(time, 'i', 'e', 'j')} WITH 1 AS hop, e, j {time.record} AND {_BESIDE} "
        f"RETURN hop, null AS score, e, m {_ROW}"
    )


_MEASURED: Final = (
    "MATCH (s)-[:HAS_TRACE]->(t) WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score "
)


def _felt(time: _Time, searches: tuple[str, ...], measured: str = "") -> str:
    order = f"ORDER BY (2.0 - score) * {_WEIGHT} DESC, s.valid_at DESC, s.id, s.version LIMIT $limit"
    return f"{_union(searches, measured + 'WHERE score <= $felt_far ')} {order} {_with_neighbours(time)}"


_UNDER_THE_GOAL: Final = (
    "WITH s.goal AS stored, collect(s) AS records, collect(i) AS places "
    "WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal "
    "WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal "
    "OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words "
    "UNWIND range(0, size(records) - 1) AS place WITH records[place] AS s, places[place] AS i, 2.0 AS score "
)
"""Keeps records whose goal equals `$goal`, contains it, is part of it, or shares words with it.

All goals and words have a space on both sides, so that only whole words match. The score 2.0 marks a match by
words, which has no distance. Each distinct goal is compared once, because a citizen has few.
"""


def _under_goal(time: _Time, *, meant: bool = True) -> str:
    by_words = [f"{search} {_UNDER_THE_GOAL} RETURN s, i, score " for search in time.records]
    near = time.near_in_meaning if meant else ()
    by_meaning = [f"{search} WHERE score <= $far RETURN s, i, score " for search in near]
    return f"CALL {{ {'UNION ALL '.join(by_words + by_meaning)} }} WITH s, i, min(score) AS score "


def _unresolved(time: _Time, *, meant: bool = True) -> str:
    order = f"ORDER BY s.energy * {_WEIGHT} DESC, score, s.id, s.version LIMIT $limit"
    return f"{_under_goal(time, meant=meant)} {order} {_with_neighbours(time)}"


_WAS_BLOCKED: Final = (
    "MATCH (i)-[:HAD]->(p:PastVersion) WHERE p.resolution_state = 'blocked' "
    f"AND p.created_at < $known_to AND p.valid_at < $valid_to AND NOT ({visible('p')}) "
)
"""What holds in the scope is no earlier record, though it may have been closed since."""
_EACH_BLOCKAGE: Final = "WITH identities UNWIND identities AS i WITH DISTINCT i"


def _resolved(time: _Time, starts: str, order: str) -> str:
    """Resolved blockages that felt like now, their resolutions, and the steps within two hops of these."""
    resolved = f"{starts} {_resolved_by(time, 'e', 'r')} WITH s, i, score, count(e) AS ways"
    feelings = (
        f"OPTIONAL {_WAS_BLOCKED} WITH s, i, score, collect(p) AS once "
        "UNWIND (once + [s]) AS f MATCH (f)-[:HAS_TRACE]->(t) "
        "WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart"
    )
    nearest = f"WHERE apart <= $felt_far WITH s, i, score, apart ORDER BY {order}, s.id, s.version LIMIT $patterns"
    return _resolutions_of(time, f"{resolved} {feelings} {nearest}")


def _resolutions_of(time: _Time, nearest: str) -> str:
    """The blockages `s` that were chosen, with what resolved them and the steps around that."""
    resolution = (
        f"{_resolved_by(time, 'e', 'j')} {_strongest_held(time, 'i', 'e', 'j')} "
        f"WITH 1 AS hop, e, j {time.record} RETURN hop, null AS score, e, m"
    )
    was_blocked = f"{_WAS_BLOCKED} RETURN -1 AS hop, null AS score, null AS e, p AS m"
    branches = [
        f"UNION ALL {_EACH_BLOCKAGE} {branch}"
        for branch in (was_blocked, resolution, _first_steps(time), _second_steps(time))
    ]
    return " ".join((nearest, _STARTS, *branches, _ROW))


def _resolved_by(time: _Time, link: str, resolution: str) -> str:
    return (
        f"MATCH (i)-[{link}:{time.link}]->({resolution}:ConsciousnessNode) "
        f"WHERE {link}.relation_type = 'RESOLVED_BY' AND {link}.resolution_state = 'resolved' AND {visible(link)} "
    )


def _resolutions(time: _Time) -> str:
    """Each resolution once, without those that have `MAX_RESOLUTION_LINKS` links or more."""
    return f"{_resolved_by(time, 'x', 'r')} WITH DISTINCT r {time.uncrowded('r', 'r', MAX_RESOLUTION_LINKS)} "


def _onward(link: str, other: str) -> str:
    """The condition that a link does not lead to another blockage with the same resolution."""
    return f"NOT ({link}.relation_type = 'RESOLVED_BY' AND startNode({link}).id = {other}.id)"


def _first_steps(time: _Time) -> str:
    return (
        f"{_resolutions(time)} MATCH (r)-[e:{time.link}]-(j:ConsciousnessNode) "
        f"WHERE {visible('e')} AND {time.there} AND {_IS_STEP} AND {_onward('e', 'j')} "
        f"{_strongest_held(time, 'r', 'e', 'j')} WITH 2 AS hop, e, j {time.record} "
        "RETURN hop, null AS score, e, m "
    )


def _second_steps(time: _Time) -> str:
    """The steps two hops from a resolution, not over hubs: one row for the memory between, one for the step."""
    between = visible("b") if time.link == "LINK" else "b.id IS NOT NULL"
    return (
        f"{_resolutions(time)} MATCH (r)-[y:{time.link}]-(b:ConsciousnessNode) "
        f"WHERE {visible('y')} AND {between} AND {_onward('y', 'b')} "
        f"{time.uncrowded('b', 'r, y, b', HUB)} "
        f"{_strongest_held(time, 'r', 'y', 'b')} "
        f"MATCH (b)-[e:{time.link}]-(j:ConsciousnessNode) "
        f"WHERE {visible('e')} AND {time.there} AND j.id <> r.id AND {_IS_STEP} "
        f"{_keep_held(time, 'y, b, e', 'j')}"
        "WITH y, b, e, j ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id "
        "WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others "
        "UNWIND range(0, size(links) - 1) AS place UNWIND [[2, y, b], [3, links[place], others[place]]] AS row "
        f"WITH row[0] AS hop, row[1] AS e, row[2] AS j {time.record} RETURN hop, null AS score, e, m "
    )


class WakingQueries(NamedTuple):
    """The queries for the present, or for other moments.

    By emotion: `felt` scans the records with the requested resolution states, `felt_new` the newest records,
    `felt_near` the records with one of the emotions. By goal: `unresolved`; without a goal `like_in_energy`. By
    recency: `doing`. For resolution patterns: `resolved_by_*`, highest discovery energy first, and
    `resolved_alike`, nearest emotion first. Queries `by_words` need no embedding of the goal.
    """

    felt: Query
    felt_new: Query
    felt_near: Query
    unresolved: Query
    unresolved_by_words: Query
    like_in_energy: Query
    doing: Query
    resolved_by_goal: Query
    resolved_by_words: Query
    resolved_by_impact: Query
    resolved_alike: Query


def _queries(name: str, time: _Time) -> WakingQueries:
    everything = _union(time.given, "WITH s, i, 2.0 AS score ")
    around = _with_neighbours(time)
    energy = _union(time.given, "WITH s, i, abs(s.energy - $energy) AS score ")
    energy += f"ORDER BY (2.0 - score) * {_WEIGHT} DESC, s.energy DESC, s.id, s.version LIMIT $limit {around}"
    recent = "s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window))"
    doing = _union(time.given, f"WITH s, i, {recent} AS score ")
    doing += f"ORDER BY score DESC, s.id, s.version LIMIT $limit {around}"
    impact = f"coalesce(s.discovery_energy, 0.5) * {_WEIGHT} DESC"
    return WakingQueries(
        Query(f"felt_{name}", _felt(time, time.given, _MEASURED)),
        Query(f"felt_new_{name}", _felt(time, time.new_records, _MEASURED)),
        Query(f"felt_near_{name}", _felt(time, time.near_in_emotion)),
        Query(f"unresolved_{name}", _unresolved(time)),
        Query(f"unresolved_by_words_{name}", _unresolved(time, meant=False)),
        Query(f"like_in_energy_{name}", energy),
        Query(f"doing_{name}", doing),
        Query(f"resolved_by_goal_{name}", _resolved(time, _under_goal(time), impact)),
        Query(f"resolved_by_words_{name}", _resolved(time, _under_goal(time, meant=False), impact)),
        Query(f"resolved_by_impact_{name}", _resolved(time, everything, impact)),
        Query(f"resolved_alike_{name}", _resolved(time, everything, f"(2.0 - apart) * {_WEIGHT} DESC")),
    )


NOW: Final = _queries("now", _NOW._replace(thin=True))
THEN: Final = _queries("then", _THEN)
FITTING_NOW: Final = _queries("fitting_now", _FITTING_NOW)
FITTING_THEN: Final = _queries("fitting_then", _FITTING_THEN)
"""For a waking with filters."""
THIN: Final = frozenset(query.name for query in NOW if not query.name.startswith("resolved"))
"""Queries whose rows are as those of `search.THIN`."""
OF_GIVEN: Final = frozenset(
    query.name for query in (NOW.felt, NOW.like_in_energy, NOW.doing, NOW.resolved_by_impact, NOW.resolved_alike)
)
"""Queries that find only what a writer gave."""
GIVEN_COUNT: Final = state_query("given_count", f"{_GIVEN_PRESENT} WITH count(s) AS given", ("given",))


async def read_given(query: Query, target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The rows of one of `OF_GIVEN`, which is not sent where nobody gave anything in these states."""
    key = ("given_count", *values["states"])
    given = await read_for_state(target, key, GIVEN_COUNT, values, make=lambda rows: int(rows[0][0]))
    return await target.graph.read(query, **values) if given else []


_GIVEN_IN_PLACE: Final = f"{GIVEN}WITH s, i, score, place ORDER BY place"
GIVEN_FELT: Final = Query("given_felt", f"{_GIVEN_IN_PLACE} {_with_neighbours(_THEN)}")
GIVEN_RESOLVED: Final = Query("given_resolved", _resolutions_of(_THEN, _GIVEN_IN_PLACE))
"""Answers that were found before, read again as of another moment."""
