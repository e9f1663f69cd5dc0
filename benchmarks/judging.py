"""Compares a graph with the acknowledged commands: lost, duplicated or half applied ones, and mute indexes."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from benchmarks.writers import Account
from schemas.temporal import END_OF_TIME
from substrate.cypher.fragments import found_now
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness.elements import Search

OF_A_WRITER: Final = re.compile(r"w\d+-c\d+")
"""The command ids of `benchmarks.writers`."""
PROBES: Final = 8
"""The number of memories that are searched in each index."""

MEMORIES = Query(
    "held_memories",
    "MATCH (n:ConsciousnessNode) OPTIONAL MATCH (n)-[:HAS_TRACE]->(t) "
    "RETURN n.id, n.version, n.name, n.command_id, n.valid_at, n.invalid_at, n.created_at, n.expired_at, count(t)",
)
VERSIONS = Query(
    "held_versions",
    "MATCH (n:ConsciousnessNode)-[:HAD]->(p:PastVersion) OPTIONAL MATCH (p)-[:HAS_TRACE]->(t) "
    "RETURN n.id, p.version, p.name, p.command_id, p.valid_at, p.invalid_at, p.created_at, p.expired_at, count(t)",
)
LINKS = Query("held_links", "MATCH (a)-[e:LINK]->(b) RETURN e.id, e.command_id, a.id, b.id")
RECEIPTS = Query("held_receipts", "MATCH (c:Receipt) RETURN c.command_id, c.id, c.version")
STRAYS = Query(
    "held_strays",
    "MATCH (n) WHERE (n:Trace OR n:PastTrace OR n:PastVersion) AND indegree(n) = 0 RETURN count(n)",
)
BY_WORD = Query(
    "found_by_word",
    "UNWIND $names AS name CALL db.idx.fulltext.queryNodes('ConsciousnessNode', name) YIELD node "
    "RETURN name, node.id",
)
BY_NAME = Query(
    "found_by_name",
    "UNWIND $names AS name MATCH (n:ConsciousnessNode) WHERE n.name_key = name RETURN name, n.id",
)
VECTOR = Query("vector_of", "MATCH (n:ConsciousnessNode {id: $id})-[:HAS_TRACE]->(t) RETURN t.embedding")
BY_LIKENESS = Query("found_by_likeness", f"{found_now('true')} RETURN s.id")


class Kept(NamedTuple):
    """A record of a memory, and the number of its traces."""

    id: str
    version: int
    name: str
    command_id: str
    valid_at: int
    invalid_at: int
    created_at: int
    expired_at: int
    traces: int


class Flaws(NamedTuple):
    """The flaws of a graph by kind; each names the command, memory or index it concerns."""

    lost: list[str]
    duplicated: list[str]
    half_applied: list[str]
    mute_indexes: list[str]


async def judge(graph: Graph, account: Account, dice: random.Random) -> Flaws:
    """Find the flaws of a graph."""

    async def read(query: Query, **values: Any) -> list[Sequence[Any]]:
        return list(await graph.read(query, **values))

    records: defaultdict[str, list[Kept]] = defaultdict(list)
    carried = [Kept._make(row) for row in await read(MEMORIES)]
    for record in (*carried, *(Kept._make(row) for row in await read(VERSIONS))):
        records[record.id].append(record)
    links = [(str(row[0]), str(row[1])) for row in await read(LINKS)]
    receipts = Counter(str(row[0]) for row in await read(RECEIPTS))
    identities = Counter([*(record.id for record in carried), *(of for of, _ in links)])
    effects = Counter(_effects(records)) + Counter(command_id for _, command_id in links)
    # What a job beside the writers does has ids of its own, one for many links, and may repeat a content.
    by_writers = {one: effects[one] for one in effects if OF_A_WRITER.fullmatch(one)}
    strays = (await read(STRAYS))[0][0]
    worded = [record for record in carried if OF_A_WRITER.fullmatch(record.command_id)]
    names = {record.name: record.id for record in dice.sample(worded, min(PROBES, len(worded)))}
    mute = [f"word {name}" for name, of in names.items() if [name, of] not in await read(BY_WORD, names=[name])]
    mute += [f"name {name}" for name, of in names.items() if [name, of] not in await read(BY_NAME, names=[name])]
    mute += [f"likeness {of}" for of in names.values() if not await _is_near_itself(graph, of)]
    return Flaws(
        lost=[one for one in account.acknowledged if not effects[one] or not receipts[one]],
        duplicated=[one for counts in (identities, receipts, by_writers) for one in counts if counts[one] > 1],
        half_applied=_half(records, account, (effects, receipts)) + ["stray"] * strays,
        mute_indexes=mute,
    )


async def _is_near_itself(graph: Graph, memory_id: str) -> bool:
    """Whether a search by the vector of a memory finds the memory."""
    [[vector]] = await graph.read_typed(VECTOR, id=memory_id)
    return [memory_id] in await graph.read(BY_LIKENESS, near=Search(vector, 3, open_only=True))


def _effects(records: Mapping[str, Sequence[Kept]]) -> Iterator[str]:
    """Yield the command of each content of each memory; a record that repeats a content adds none."""
    for history in records.values():
        command_by_content: dict[str, str] = {}
        for record in sorted(history, key=lambda record: record.version):
            command_by_content.setdefault(record.name, record.command_id)
        yield from command_by_content.values()


def _half(
    records: Mapping[str, Sequence[Kept]], account: Account, counts: tuple[Mapping[str, int], Mapping[str, int]]
) -> list[str]:
    effects, receipts = counts
    found = [
        f"{one.id} v{one.version}: {one.traces} traces"
        for those in records.values()
        for one in those
        if one.traces != 1
    ]
    own = [one for one in {**effects, **receipts} if OF_A_WRITER.fullmatch(one)]
    found += [f"{one}: effect without receipt" for one in own if not receipts[one]]
    found += [f"{one}: receipt without effect" for one in own if not effects[one]]
    found += [f"{one}: applied, but its receipt was denied" for one in account.absent if effects[one]]
    found += [f"{those[0]}: in part" for those in account.atomic if len({bool(effects[one]) for one in those}) > 1]
    return found + [f"{name}: {flaw}" for name, those in records.items() for flaw in chain_flaws(those)]


def chain_flaws(those: Sequence[Kept]) -> list[str]:
    """Describe gaps and overlaps of a memory's records, at each moment at which one of them became known."""
    flaws = []
    if [one.version for one in sorted(those, key=lambda one: one.version)] != list(range(1, len(those) + 1)):
        flaws.append("versions do not follow one another")
    begun = min(one.valid_at for one in those)
    for moment in {one.created_at for one in those}:
        known = sorted(
            (one for one in those if one.created_at <= moment < one.expired_at), key=lambda one: one.valid_at
        )
        spans = [(one.valid_at, one.invalid_at) for one in known]
        whole = bool(spans) and spans[0][0] == begun and spans[-1][1] == END_OF_TIME
        if not whole or any(end != start for (_, end), (start, _) in pairwise(spans)):
            flaws.append(f"a gap or an overlap at {moment}")
    return flaws
