"""The records that a search found: those that this process keeps, and in one query those that it does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from substrate.connection.graph_columns import GraphColumns, LinkVersion, Version
from substrate.connection.kept import Record
from substrate.connection.pool import Row
from substrate.cypher.fragments import NODE_COLUMNS, found_columns, link_columns, node_columns
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph, GraphTarget

MEMORIES: Final = Query(
    "found_memories", f"MATCH (m:ConsciousnessNode) WHERE m.id IN $ids RETURN {found_columns('m')}"
)
FORMER: Final = Query(
    "found_former",
    "UNWIND $wanted AS one MATCH (n:ConsciousnessNode {id: one[0]}) WITH one, n "
    f"MATCH (n)-[:HAD]->(m:PastVersion) WHERE m.version = one[1] RETURN {found_columns('m')}",
)
"""Records that their memories do not carry any more."""
WHOLE_MEMORIES: Final = Query(
    "whole_memories", f"MATCH (m:ConsciousnessNode) WHERE m.id IN $ids RETURN {node_columns('m')}"
)
WHOLE_FORMER: Final = Query(
    "whole_former",
    "UNWIND $wanted AS one MATCH (n:ConsciousnessNode {id: one[0]}) WITH one, n "
    f"MATCH (n)-[:HAD]->(m:PastVersion) WHERE m.version = one[1] RETURN {node_columns('m')}",
)
"""The same with the whole of a long text, which is not kept."""
LINKS: Final = Query(
    "found_links",
    "UNWIND $wanted AS one MATCH (a:ConsciousnessNode {id: one[0]}) MATCH (b:ConsciousnessNode {id: one[1]}) "
    f"WITH one, a, b MATCH (a)-[e:LINK]->(b) WHERE e.id = one[2] RETURN {link_columns('e')}",
)
_VERSION: Final = NODE_COLUMNS.index("version")


async def read_memories(
    graph: Graph, columns: GraphColumns, versions: Sequence[Version]
) -> Sequence[Record | None]:
    """The records of these versions of memories, in their order. One that was closed since it was found is as it
    is now; None for one that was erased.
    """
    found: list[Record | None] = []
    lacking: set[tuple[str, int]] = set()
    for version in versions:
        found.append(columns.record(*version))
        if found[-1] is None:
            lacking.add((columns.ids[version[0]], version[1]))
    graph.connection.columns.count(len(versions), len(lacking))
    if not lacking:
        return found
    read: dict[tuple[str, int], Record] = {}
    for row in await graph.read(MEMORIES, ids=[name for name, _ in lacking]):
        columns.hold_row(row)
        read[row[0], row[_VERSION]] = columns.take(row)
    gone = lacking - read.keys()
    for row in await graph.read(FORMER, wanted=[*map(list, gone)]) if gone else ():
        read[row[0], row[_VERSION]] = Record(row)
    for place, (slot, number, *_) in enumerate(versions):
        found[place] = found[place] or read.get((columns.ids[slot], number))
    return found


async def read_whole_memories(target: GraphTarget, thin_rows: Iterable[Row]) -> Sequence[Record | None]:
    """The same of memories given by their `thin_columns`, with the whole of long texts."""
    graph, columns = target.graph, target.columns or GraphColumns()
    versions: list[Version] = []
    long: dict[tuple[str, int], Version] = {}
    for name, version, created_at, expired_at, is_cut in thin_rows:
        versions.append((columns.slot(name), version, created_at, expired_at))
        if is_cut:
            long[name, version] = versions[-1]
    found: dict[Version, Record | None] = dict.fromkeys(long.values())
    short = [version for version in versions if version not in found]
    found.update(zip(short, await read_memories(graph, columns, short), strict=True))
    if long:
        rows = await graph.read(WHOLE_MEMORIES, ids=[name for name, _ in long])
        for row in (*rows, *await graph.read(WHOLE_FORMER, wanted=[*map(list, long)])):
            if (row[0], row[_VERSION]) in long:
                found[long[row[0], row[_VERSION]]] = Record(row)
    return [found[version] for version in versions]


async def read_links(graph: Graph, columns: GraphColumns, places: Collection[int]) -> Mapping[int, Record]:
    """The records of the links at these places, without what was closed or erased since."""
    records = columns.link_records
    lacking: dict[LinkVersion, int] = {}
    wanted: list[Sequence[str]] = []
    for place in places:
        if not records.holds(place):
            version = columns.link_version(place)
            lacking[version] = place
            wanted.append([*columns.ends(place), version.id])
    graph.connection.columns.count(len(places), len(lacking))
    if lacking:
        for row in await graph.read(LINKS, wanted=wanted):
            held = lacking.get(LinkVersion.of(row))
            if held is not None:
                records.hold(held, row)
    return {place: record for place in places if (record := records.find(place)) is not None}
