"""Wave retrieval in the store: one statement finds candidates and scores them by each channel (000, 002).

The number of candidates is bounded, whatever the size of the graph. Candidates are: memories linked to the nodes
of the signal or asserting one of its relations, the nearest in meaning and in emotion, memories with words of the
signal, the best of the newest, and the pools of plurality if it is requested.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched, starmap
from typing import Any, Final, NamedTuple

from schemas.intention import Filters
from schemas.memory import GraphKey
from schemas.temporal import AFTER_ALL, Instant, Scope
from schemas.wave_signal import Channel, Resonance
from substrate.connection.pool import Row
from substrate.cypher.fragments import (
    degree_now,
    felt_alike,
    fits,
    found_columns,
    found_now,
    is_statement,
    records_of,
    visible,
)
from substrate.cypher.query import Query, QueryPair
from substrate.graphs.graph import GraphTarget
from substrate.language.text import name_key
from substrate.store.rows import node as node_of_row
from substrate.store.state_reads import NodeRange, find_newest
from substrate.store.surroundings import links_of

MAX_MEMORY_LINKS: Final = 500
"""The links of a memory with more links than this are not read; it is scored without them."""
MAX_ASSERTED: Final = 64
"""At most this many links that one memory asserts are compared with the signal."""
DAY: Final = 86_400_000_000.0

TERMS: Final[Mapping[Channel, str]] = {
    "nodes": (
        "CASE WHEN $of_memory THEN CASE WHEN size(around) = 0 THEN 0.0 "
        "ELSE 1.0 * size([x IN around WHERE x IN $ids]) / size(around) END "
        "WHEN size($groups) = 0 THEN 0.0 "
        "ELSE 1.0 * size([g IN $groups WHERE any(x IN g WHERE x IN linked)]) / size($groups) END"
    ),
    "relations": (
        "CASE WHEN size($triples) = 0 THEN 0.0 ELSE 1.0 * size([r IN $triples WHERE any(t IN held WHERE "
        "t[0] = r[0] AND (size(r[1]) = 0 OR t[1] IN r[1]) AND (size(r[2]) = 0 OR t[2] IN r[2]))]) "
        "/ size($triples) END"
    ),
    "emotion": (
        "CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 "
        "WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END"
    ),
    "result": "CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END",
    "likeness": "CASE WHEN alike > 1.0 THEN 1.0 WHEN alike > 0.0 THEN alike ELSE 0.0 END",
    "importance": (
        "CASE WHEN coalesce(m.importance, 0.0) > $importance_floor THEN m.importance ELSE $importance_floor END"
    ),
    "recency": (
        f"1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * {DAY}))"
    ),
}
"""The score of each channel, in [0, 1]. Its weight is the parameter `w_` followed by its name."""

_ABOUT: Final = (
    "(CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations AND nodes >= likeness THEN nodes "
    "WHEN relations >= likeness THEN relations ELSE likeness END)"
)
COUNTED: Final[Mapping[Channel, str]] = {"emotion": f"emotion * {_ABOUT}", "result": f"result * {_ABOUT}"}
"""Where a signal has words, a feeling and a result lift a memory only as far as it is about them."""

_OF_THE_RECORD: Final[tuple[Channel, ...]] = ("emotion", "result", "importance", "recency")
"""Channels that need only the record itself; the best of the newest memories are chosen by them."""

JUST_NOW: Final = 0.2
"""The factor on a memory of this moment; it rises to 1 within a day (002)."""
SHOWN_LATELY: Final = "coalesce(head([shown IN $shown WHERE shown[0] = m.id | shown[1]]), 1.0)"
LIVED_LATELY: Final = (
    f"CASE WHEN $suppress_recent AND m.valid_at > $moment - {int(DAY)} "
    f"THEN {JUST_NOW} + {1 - JUST_NOW} * ($moment - m.valid_at) / {DAY} ELSE 1.0 END"
)
"""By the age of the memory itself, in valid time: what an import tells of long ago is no echo of the present."""
SUPPRESSION: Final = "CASE WHEN lived_lately < shown_lately THEN lived_lately ELSE shown_lately END"
BOOST: Final = "CASE m.abstraction WHEN 'L1' THEN 1.05 WHEN 'L2' THEN 1.1 WHEN 'L3' THEN 1.15 ELSE 1.0 END"
"""A higher level of abstraction raises the score a little (002)."""


def _weighted(names: Mapping[Channel, str]) -> str:
    return " + ".join(f"$w_{channel} * ({term})" for channel, term in names.items())


def _may_answer(name: str) -> str:
    """The condition that a record may resonate; a bare name or a session does only where the signal names it."""
    tells = f"NOT toLower({name}.node_type) IN $names OR (coalesce({name}.description, '') <> ''"
    return (
        f"coalesce({name}.abstraction, 'L0') <= $max_level AND {fits(name)} AND {is_statement(name)} "
        f"AND ({tells} AND {name}.node_type <> 'Session') OR {name}.id IN $ids)"
    )


_QUICK: Final = _weighted({channel: TERMS[channel] for channel in _OF_THE_RECORD})


_READ: Final = (
    "WITH near UNWIND near AS one WITH one[0] AS s, one[1] AS e, one[2] AS i "
    f"WHERE {visible('e')} "
)  # fmt: skip


def _asserted(link: str) -> str:
    """The links of the signal's nodes by the memory that asserts them: [memory id, [[type, source, target] …]]."""
    return (
        f"{links_of('$ids', link)} WITH collect([s, e, i]) AS near "
        f"CALL {{ {_READ} AND e.episode_id IS NOT NULL WITH DISTINCT e "
        "WITH e.episode_id AS episode, collect([e.relation_type, startNode(e).id, endNode(e).id]) AS said "
        "MATCH (w:ConsciousnessNode {id: episode}) "
        "WITH episode, said, any(t IN said WHERE t[0] IN $types) AS sought "
        "ORDER BY sought DESC, size(said) DESC, episode LIMIT $pool "
        f"RETURN collect([episode, said[..{MAX_ASSERTED}]]) "
        "AS asserted } "
    )


_IS_WANTED: Final = f"{visible('s')} AND {_may_answer('s')}"
_NEAREST_NOW: Final = f"{found_now(_IS_WANTED)} WITH s AS i, score ORDER BY score, i.id LIMIT $pool RETURN i "
_NEAREST_THEN: Final = (
    "UNWIND $near AS one MATCH (i:ConsciousnessNode {id: one[0]}) "
    "WITH i, min(one[2]) AS score ORDER BY score, i.id LIMIT $pool RETURN i "
)


def _felt_most(label: str, ends: str) -> str:
    """The records whose emotions are nearest to that of the signal."""
    return (
        f"{felt_alike(label, '$felt_names', '$feeling', _IS_WANTED)} "
        f"ORDER BY score, s.id, s.version LIMIT $pool {ends} RETURN i "
    )


def _nearest_fitting(label: str, ends: str) -> str:
    """The nearest of the records that pass the filters, compared one by one: a search would filter too late."""
    return (
        f"UNWIND $embeddings AS v MATCH (s:{label}) WHERE {_IS_WANTED} "
        "WITH v, s MATCH (s)-[:HAS_TRACE]->(t) WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score "
        f"ORDER BY score, s.id, s.version LIMIT $pool {ends} RETURN i "
    )


def _with_words(label: str, ends: str, *, now: bool) -> str:
    condition = f"WHERE {visible('s')} AND {_may_answer('s')} "
    return (
        f"CALL db.idx.fulltext.queryNodes('{label}', $words) YIELD node AS s, score WITH s, score {condition} "
        f"WITH s, score ORDER BY score DESC, s.id LIMIT $pool {'WITH s AS i' if now else ends} RETURN i "
    )


_NEWEST: Final = (
    "MATCH (m:ConsciousnessNode) WHERE id(m) >= $newest "
    f"WITH m WHERE {visible('m')} AND {_may_answer('m')} "
    f"WITH m, {_QUICK} AS quick ORDER BY quick DESC, m.valid_at DESC, m.id LIMIT $pool RETURN m AS i "
)


def _latest_of(label: str, ends: str) -> str:
    """The newest memories at another moment, among the nodes that were near the end of the graph then."""
    return (
        f"MATCH (m:{label}) WHERE id(m) >= $newest AND id(m) < $until "
        f"WITH m WHERE {visible('m')} AND {_may_answer('m')} "
        f"WITH m ORDER BY m.valid_at DESC, m.id LIMIT $pool {ends} RETURN i "
    )


_ITS_IDENTITY: Final = "WITH s MATCH (i:ConsciousnessNode)-[:HAD]->(s) WITH i"


def _candidates(*, now: bool, filtered: bool) -> str:
    sides = (("ConsciousnessNode", "WITH s AS i"), ("PastVersion", _ITS_IDENTITY))[: 1 if now else 2]
    branches = [
        "WITH asserted UNWIND asserted AS one WITH one[0] AS episode "
        "MATCH (i:ConsciousnessNode {id: episode}) RETURN i ",
        "MATCH (i:ConsciousnessNode) WHERE i.id IN $plural RETURN i ",
        f"{_READ} {f'AND {_may_answer("i")} ' if now else ''}WITH i, count(DISTINCT s) AS hits "
        "ORDER BY hits DESC, i.valid_at DESC, i.id LIMIT $pool RETURN i ",
        _with_words("ConsciousnessNode", "WITH s AS i", now=now),
    ]
    if filtered:
        branches += starmap(_nearest_fitting, sides)
    else:
        branches.append(_NEAREST_NOW if now else _NEAREST_THEN)
    branches += starmap(_felt_most, sides)
    if now:
        branches.append(_NEWEST)
    else:
        branches.append(_with_words("PastVersion", _ITS_IDENTITY, now=now))
        branches.append(_latest_of("ConsciousnessNode", "WITH m AS i"))
        branches.append(_latest_of("PastVersion", "WITH m AS s " + _ITS_IDENTITY))
    return f"CALL {{ {' UNION ALL '.join(branches)} }} WITH DISTINCT i, asserted "


def _with_links(link: str) -> str:
    """The links `e` of each `i` with their other ends `o`, all followed at once: OPTIONAL MATCH would follow those
    of each memory by itself. A row without a link keeps each memory."""
    taken = "WITH candidates UNWIND candidates AS one WITH one[0] AS i, one[1] AS m, one[2] AS said"
    return (
        "WITH collect([i, m, said]) AS candidates "
        f"CALL {{ {taken} RETURN i, m, said, null AS e, null AS o UNION ALL {taken} "
        f"WHERE {degree_now('i')} <= {MAX_MEMORY_LINKS} MATCH (i)-[e:{link}]-(o) WHERE {visible('e')} "
        "RETURN i, m, said, e, o } "
    )


def _statement(*, now: bool, filtered: bool = False) -> str:
    link = "LINK" if now else "LINK|PAST_LINK"
    record = f"WITH i, i AS m, asserted WHERE {visible('m')} AND " if now else "WITH i, m, asserted WHERE "
    asserted_links = "coalesce(head([one IN asserted WHERE one[0] = m.id | one[1]]), [])"
    channels = ", ".join(f"{term} AS {channel}" for channel, term in TERMS.items())
    total = _weighted({channel: COUNTED.get(channel, channel) for channel in TERMS})
    return (
        f"{_asserted(link)} {_candidates(now=now, filtered=filtered)} "
        f"{'' if now else records_of('i', 'm', 'asserted')} {record} {_may_answer('m')} "
        f"WITH i, m, {asserted_links} AS said {_with_links(link)}"
        "WITH i, m, said, collect(DISTINCT o.id) AS others, "
        "collect(DISTINCT CASE WHEN o.name_key IS NULL THEN null ELSE o.id END) AS around, "
        "collect(DISTINCT CASE WHEN e IS NULL THEN null "
        "ELSE [e.relation_type, startNode(e).id, endNode(e).id] END) AS own "
        "OPTIONAL MATCH (m)-[:HAS_TRACE]->(t) "
        "WITH m, around, others + [a IN said | a[1]] + [a IN said | a[2]] AS linked, "
        "own + said AS held, 1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike "
        f"WITH m, around, held, {channels}, {SHOWN_LATELY} AS shown_lately, {LIVED_LATELY} AS lived_lately, "
        f"{BOOST} AS boost "
        f"WITH m, around, held, {SUPPRESSION} AS suppression, boost, {', '.join(TERMS)}, {total} AS total "
        "WITH *, total / $all_weights * suppression * boost AS resonance "
        "ORDER BY resonance DESC, m.id, m.version LIMIT $limit "
        f"RETURN resonance, total, suppression, boost, {', '.join(TERMS)}, "
        f"string.join(around, '|'), string.join([h IN held[..{MAX_ASSERTED}] | string.join(h, '|')], '|'), "
        f"{found_columns('m')} "
        "ORDER BY resonance DESC, m.id, m.version"
    )


RESONATE: Final = QueryPair.of("resonate", _statement(now=True), _statement(now=False))
RESONATE_FITTING: Final = QueryPair.of(
    "resonate_fitting", _statement(now=True, filtered=True), _statement(now=False, filtered=True)
)
"""For a signal with filters."""

RESOLVE: Final = Query(
    "resolve_names",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $names RETURN 'id' AS kind, n.id AS key, n.id AS id "
    "UNION ALL MATCH (n:ConsciousnessNode) WHERE n.name_key IN $keys WITH n ORDER BY n.id LIMIT 256 "
    "RETURN 'name' AS kind, n.name_key AS key, n.id AS id "
    "UNION ALL MATCH (p:PastVersion) WHERE p.name_key IN $keys WITH p ORDER BY p.id LIMIT 256 "
    "RETURN DISTINCT 'name' AS kind, p.name_key AS key, p.id AS id",
)
"""The memories that have, or had once, one of these ids or names."""


class ResolvedNames(NamedTuple):
    """The memories of one graph by the names or ids of a signal, and the node numbers of its newest memories."""

    target: GraphTarget
    ids: Mapping[str, Sequence[str]]
    newest: NodeRange


async def resolve_names(
    target: GraphTarget, names: Sequence[str], scope: Scope, filters: Filters | None = None
) -> ResolvedNames:
    """The memories that have, or had once, these names or ids, ordered by id."""
    keys = [key for name in names if (key := name_key(name))]
    found, newest = await asyncio.gather(
        target.graph.read(RESOLVE, names=list(names), keys=keys), find_newest(target, scope, filters)
    )
    by_id = {key: memory_id for kind, key, memory_id in found if kind == "id"}
    by_name: defaultdict[str, set[str]] = defaultdict(set)
    for kind, key, memory_id in found:
        if kind == "name":
            by_name[key].add(memory_id)
    ids = {name: sorted({*by_name[name_key(name)], *filter(None, (by_id.get(name),))}) for name in names}
    return ResolvedNames(target, ids, newest)


class Triple(NamedTuple):
    """A link by its type and the ids of its ends."""

    relation_type: str
    source_id: str
    target_id: str


class ResonatingMemory(NamedTuple):
    """A memory with its scores, the ids of the entities around it, and the links that it has or states."""

    resonance: Resonance
    entity_ids: frozenset[str]
    links: tuple[Triple, ...]


def read_resonances(
    rows: Iterable[Row], graph: GraphKey, known_to: Instant = AFTER_ALL
) -> Iterator[ResonatingMemory]:
    """The memories in the rows of `RESONATE_*`, strongest first; scores are rounded to six digits."""
    for resonance, total, suppression, boost, *rest in rows:
        channel_scores, (around, held, *memory) = rest[: len(TERMS)], rest[len(TERMS) :]
        rounded = _rounded(resonance)
        node = node_of_row(memory, graph, known_to, retrieval_source="resonance", relevance_score=rounded)
        yield ResonatingMemory(
            Resonance(
                memory=node,
                resonance=rounded,
                total=_rounded(total),
                channels={
                    name: _rounded(min(1.0, float(score)))
                    for name, score in zip(TERMS, channel_scores, strict=True)
                },
                suppression=_rounded(suppression),
                level_boost=_rounded(boost),
            ),
            frozenset((around or "").split("|")) - {""},
            tuple(starmap(Triple, dict.fromkeys(batched(held.split("|") if held else (), 3)))),
        )


def _rounded(value: Any) -> float:
    return round(float(value), 6)
