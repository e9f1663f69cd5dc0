"""Reading a whole graph generically, and writing one: every label and property as it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import uuid4

from schemas.errors import Fault
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection, Row
from substrate.cypher import transfer as cypher
from substrate.cypher.query import TRACE_LABELS, Query, trace_role
from substrate.engine.append_log import delete_graph
from substrate.graphs.graph import Graph
from substrate.store.halves import in_halves
from substrate.store.upkeep import Part, parts

ROWS_A_PAGE: Final = 200
DRAFT_IDLE_SECONDS: Final = 600
_BESIDE: Final = (*TRACE_LABELS, "PastVersion", "SubstrateMeta")


class Stored(NamedTuple):
    """A node as a page shows it: its internal id, labels, properties, and how many rows lie beside it."""

    place: int
    labels: Sequence[str]
    properties: Mapping[str, Any] | None
    records: int
    links: int
    past_links: int


class Trace(NamedTuple):
    """A trace: its internal id, its label, its properties; the vectors only when they were asked for."""

    place: int
    label: str
    properties: dict[str, Any]


class PastRecord(NamedTuple):
    """A past record of the memory at `of`."""

    of: int
    properties: dict[str, Any]
    trace: Trace | None


def carried(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties that are there."""
    return {name: value for name, value in properties.items() if value is not None}


async def stamp(graph: Graph) -> dict[str, Any]:
    """Every property of the graph's stamp."""
    rows = await graph.read_typed(cypher.CARRIED_STAMP)
    return carried(rows[0][0])


async def held(graph: Graph) -> tuple[dict[str, int], dict[str, int]]:
    """How many nodes of each label, and links of each type, the graph holds."""
    [(labels, types)] = await graph.read_typed(cypher.HELD)
    return _some(labels), _some(types)


def _some(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}


async def check_known(graph: Graph) -> None:
    """Raises Fault when the graph holds a label or a type of link that would be left behind."""
    labels, types = await held(graph)
    strange = sorted((labels.keys() - cypher.KNOWN_LABELS) | (types.keys() - cypher.KNOWN_TYPES))
    if strange:
        raise Fault(
            f"graph {graph.name} holds what an export does not carry: {', '.join(strange)}",
            remedy="Export with the release of Substrate that wrote it.",
        )


async def page(graph: Graph, after: int) -> list[Stored]:
    """The next nodes behind the internal id `after`; empty at the end."""
    values = {"after": after, "rows": ROWS_A_PAGE, "beside": list(_BESIDE)}
    return [Stored._make(row) for row in await graph.read_typed(cypher.PAGE, **values)]


async def tags(graph: Graph, span: Sequence[int]) -> list[Row]:
    """Of each memory with internal id in `[span[0], span[1])`: internal id, name and properties of each tag."""
    return await graph.read_typed(cypher.TAGS, **_span(span))


async def traces(graph: Graph, span: Sequence[int], *, whole: bool) -> dict[int, Trace]:
    """The trace of each memory of the span by its internal id; of several the first. `whole`: with vectors."""
    query = cypher.TRACES_WHOLE if whole else cypher.TRACES
    rows = await graph.read_typed(query, **_span(span))
    return {row[0]: _trace(*row[1:]) for row in sorted(rows, key=lambda row: -row[1])}


def _span(span: Sequence[int]) -> dict[str, int]:
    return {"first": span[0], "beyond": span[1]}


def _trace(place: int, labels: Sequence[str], properties: Mapping[str, Any]) -> Trace:
    return Trace(place, trace_role(labels[0]), carried(properties))


async def past_records(graph: Graph, nodes: Sequence[Stored], *, whole: bool) -> list[PastRecord]:
    """The past records of the memories. `whole`: with the vectors of their traces."""
    query = cypher.RECORDS_WHOLE if whole else cypher.RECORDS
    found: dict[int, PastRecord] = {}
    for part in parts([(node.place, node.records) for node in nodes]):
        for of, place, properties, *trace in await _share(graph, query, part):
            found.setdefault(place, PastRecord(of, properties, _trace(*trace) if trace[0] is not None else None))
    return list(found.values())


async def links(graph: Graph, nodes: Sequence[Stored], *, past: bool) -> list[Row]:
    """The links that begin at the memories, open or past: id of source, id of target, properties."""
    query = cypher.PAST_LINKS if past else cypher.LINKS
    degrees = [(node.place, node.past_links if past else node.links) for node in nodes]
    return [row for part in parts(degrees) for row in await _share(graph, query, part)]


async def _share(graph: Graph, query: Query, part: Part) -> list[Row]:
    return await graph.read_typed(query, **part._asdict())


async def put(graph: Graph, query: Query, rows: Sequence[Mapping[str, Any]]) -> int:
    """Write rows by one of the `PUT_` queries; returns how many were written."""

    async def send(part: Sequence[Mapping[str, Any]]) -> int:
        reply = await graph.write(query, rows=list(part))
        return int(reply[0][0])

    return sum(await in_halves(rows, send))


async def put_stamp(graph: Graph, properties: Mapping[str, Any]) -> None:
    """Give the stamp of a graph these properties; what else it has stays."""
    await graph.write(cypher.PUT_STAMP, properties=dict(properties))


def draft_of(graph: str) -> str:
    """Under which name a graph is built up; the braces keep both names in one slot of a cluster."""
    return f"{{{graph}}}import-{uuid4().hex[:8]}"


async def drafts(graph: Graph) -> list[str]:
    """Names of the drafts of a graph: under way, or left behind by an import that was killed."""
    names: Sequence[str] = await graph.connection.command("GRAPH.LIST")
    return [name for name in names if name.startswith(f"{{{graph.name}}}import-")]


async def drop_left_drafts(graph: Graph) -> None:
    """Remove drafts of a graph that nobody has written to for a while."""
    for name in await drafts(graph):
        if await graph.connection.command("OBJECT", "IDLETIME", name) > DRAFT_IDLE_SECONDS:
            await delete_graph(graph.connection, name)


async def holds_nothing(graph: Graph) -> bool:
    """Whether the graph does not exist, or has no node but its stamp."""
    try:
        labels, _ = await held(graph)
    except GraphMissing:
        return True
    return not labels.keys() - {"SubstrateMeta"}


async def settle(connection: Connection, draft: str, graph: str) -> bool:
    """Give the draft its name; an empty graph of that name makes way. False when the name is taken."""
    if not await holds_nothing(Graph(connection, graph)):
        return False
    await delete_graph(connection, graph)
    return bool(await connection.command("RENAMENX", draft, graph))
