"""The records that a search found: those that this process keeps, and in one query those that it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from substrate.connection.kept import Record, RecordName, name_of
from substrate.connection.pool import Row
from substrate.connection.together import together
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


async def read_memories(target: GraphTarget, names: Iterable[RecordName]) -> Mapping[RecordName, Record]:
    """The records of these memories. One that was closed since its name was read is as it is now; an erased one
    is not there.
    """
    graph, columns, wanted = target.graph, target.columns, dict.fromkeys(names)
    found = graph.records.find(wanted)
    for name in wanted:
        if columns is not None and name not in found and (packed := columns.row(name)) is not None:
            found[name] = graph.records.keep(name, packed)
    if len(found) < len(wanted):
        lacking = [name for name in wanted if name not in found]
        rows = await graph.read(MEMORIES, ids=[name.id for name in lacking])
        found.update(_by_version(graph, lacking, rows))
        gone = [name for name in lacking if name not in found]
        if gone:
            rows = await graph.read(FORMER, wanted=[[name.id, name.version] for name in gone])
            found.update(_by_version(graph, gone, rows))
    return found


async def read_whole_memories(target: GraphTarget, names: Iterable[RecordName]) -> Mapping[RecordName, Record]:
    """The same with the whole of long texts."""
    graph = target.graph
    wanted = list(dict.fromkeys(names))
    found = dict(await read_memories(target, [name for name in wanted if not name.cut]))
    long = [name for name in wanted if name.cut]
    if long:
        rows = await graph.read(WHOLE_MEMORIES, ids=[name.id for name in long])
        rows += await graph.read(WHOLE_FORMER, wanted=[[name.id, name.version] for name in long])
        records = {(row[0], row[_VERSION]): Record(row) for row in rows}
        found.update({name: records[name.id, name.version] for name in long if (name.id, name.version) in records})
    return found


def _by_version(graph: Graph, names: Iterable[RecordName], rows: Iterable[Row]) -> dict[RecordName, Record]:
    kept = graph.records
    records = {(row[0], row[_VERSION]): kept.take("memory", row) for row in rows}
    return {name: record for name in names if (record := records.get((name.id, name.version))) is not None}


async def read_links(
    target: GraphTarget, ends: Mapping[RecordName, tuple[str, str]]
) -> Mapping[RecordName, Record]:
    """The records of these links, given with the ids of their ends, without what was closed or erased since."""
    graph, columns = target.graph, target.columns
    found = graph.records.find(ends)
    for name, pair in ends.items():
        if columns is not None and name not in found and (packed := columns.link_row(name, *pair)) is not None:
            found[name] = graph.records.keep(name, packed)
    if len(found) < len(ends):
        wanted = [[*pair, name.id] for name, pair in ends.items() if name not in found]
        for row in await graph.read(LINKS, wanted=wanted):
            name = name_of("link", row)
            if name in ends and name not in found:
                found[name] = graph.records.take("link", row)
    return found


async def read_both(
    target: GraphTarget, memories: Iterable[RecordName], ends: Mapping[RecordName, tuple[str, str]]
) -> tuple[Mapping[RecordName, Record], Mapping[RecordName, Record]]:
    """The records of memories and links, read at once, with what is said of either."""
    return await together(read_memories(target, memories), read_links(target, ends))
