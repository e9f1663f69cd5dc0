"""Reads that go through a whole graph page by page, and the small writes that repair it.

Each page is a short read of its own: between two of them the engine and this process belong to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from schemas.memory import Source
from schemas.temporal import END_OF_TIME, Instant, Period
from substrate import stored_maps
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Row
from substrate.cypher import upkeep as cypher
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

MEMORIES_A_PAGE: Final = 200
LINKS_A_PAGE: Final = 200
"""Rows of a page: about a millisecond in the engine, and a few in this process."""
_ROOM: Final = 10 * LINKS_A_PAGE
"""Rows that a page may have when others have added to it since it was planned."""
CONTENTS_A_READ: Final = 50


class Written(NamedTuple):
    """A repair as its statement records it: what to keep of it, its moment, whose it is, and the key."""

    receipt: Mapping[str, Any]
    at: Instant
    source: Source
    key_id: str | None


class MemoryRow(NamedTuple):
    """A memory as a page shows it; all values as the engine gave them, times and version unchecked.

    `deep` has the maps that may be nested too deeply, as they are stored.
    """

    place: int
    felt_as_numbers: bool
    embedding: str
    links_in: int
    links_out: int
    past_links_out: int
    past_versions: int
    fields: Mapping[str, Any]
    deep: Mapping[str, str] = MappingProxyType({})


class End(NamedTuple):
    """How the memory at one end of a link stands."""

    id: str
    place: int
    expired_at: Any
    invalid_at: Any
    reason: str | None


class LinkRow(NamedTuple):
    """A link as a page shows it; all values as the engine gave them. `deep` as of a memory."""

    source: End
    target: End
    felt_as_numbers: bool
    fields: Mapping[str, Any]
    deep: Mapping[str, str] = MappingProxyType({})


class RecordRow(NamedTuple):
    """One record of an identity on both time axes; `carried` when it is the latest, and lies in the present."""

    identity: str
    version: Any
    valid: Period
    known: Period
    carried: bool


class Content(NamedTuple):
    """The whole text of a memory, and when it holds."""

    id: str
    name: str
    description: str
    speaker: str | None
    node_type: str
    version: int
    valid: Period
    known: Period


class Part(NamedTuple):
    """A share of a page's links or versions: the memories `[first, beyond)`, from row `skip` on."""

    first: int
    beyond: int
    skip: int
    rows: int


async def memories(graph: Graph, after: int, most: int = MEMORIES_A_PAGE) -> list[MemoryRow]:
    """The next memories behind the internal id `after`, in its order, at most `most`; empty at the end."""
    rows = await _page(graph, cypher.MEMORY_PAGE, after=after, rows=min(most, MEMORIES_A_PAGE))
    page: list[MemoryRow] = []
    for row in rows:
        if page and row[0] == page[-1].place:
            continue  # a second trace of the same memory
        fields = dict(zip((*cypher.MEMORY_FIELDS, *cypher.LONG_FIELDS), row[8:], strict=True))
        page.append(MemoryRow._make((row[0], row[1] == "true", *row[2:7], fields, _deep(row[7:8]))))
    return page


def parts(degrees: Sequence[tuple[int, int]]) -> Iterator[Part]:
    """A page cut into shares of at most `LINKS_A_PAGE` rows. `degrees`: (internal id, rows), ascending. Pure."""
    first, last, held = -1, -1, 0
    for place, degree in degrees:
        if not degree:
            continue
        if held and held + degree > LINKS_A_PAGE:
            yield Part(first, last + 1, 0, _ROOM)
            held = 0
        if degree > LINKS_A_PAGE:
            yield from (Part(place, place + 1, skip, LINKS_A_PAGE) for skip in range(0, degree, LINKS_A_PAGE))
            continue
        first, last, held = place if not held else first, place, held + degree
    if held:
        yield Part(first, last + 1, 0, _ROOM)


async def links(graph: Graph, part: Part) -> list[LinkRow]:
    """The open link records of a share."""
    rows = await _page(graph, cypher.LINK_PAGE, **part._asdict())
    return [
        LinkRow(
            End(*row[:5]),
            End(*row[5:10]),
            row[10] == "true",
            dict(zip(cypher.LINK_FIELDS, row[13:], strict=True)),
            _deep(row[11:13]),
        )
        for row in rows
    ]


def _deep(texts: Row) -> dict[str, str]:
    """By column those that are there; of a memory there is one."""
    return {name: text for name, text in zip(stored_maps.COLUMNS, texts, strict=False) if isinstance(text, str)}


async def past_links(graph: Graph, part: Part) -> list[RecordRow]:
    """The closed link records of a share, by `link_identity`."""
    rows = await _page(graph, cypher.PAST_LINK_PAGE, **part._asdict())
    return _records((link_identity(row[0], row[2], row[1]), (None, *row[3:]), False) for row in rows)


def link_identity(source_id: str, link_id: str, target_id: str) -> str:
    """One text that names a link: two with the same id between other ends are not one."""
    return f"{source_id}\0{link_id}\0{target_id}"


async def versions(graph: Graph, part: Part) -> list[RecordRow]:
    """All records of the identities of a share that have a past; the carried one once each."""
    rows = await _page(graph, cypher.VERSION_PAGE, **part._asdict())
    width = 1 + len(cypher.RECORD_FIELDS)
    carried = {row[0]: row[1:width] for row in rows}
    past = ((row[0], row[width:], False) for row in rows)
    return _records(((identity, row, True) for identity, row in carried.items())) + _records(past)


def _records(found: Iterable[tuple[str, Row, bool]]) -> list[RecordRow]:
    """The records whose times are times; what others are is found elsewhere."""
    return [
        RecordRow(identity, row[0], Period(row[1], row[2]), Period(row[3], row[4]), carried)
        for identity, row, carried in found
        if isinstance(identity, str) and all(isinstance(time, int) for time in row[1:])
    ]


async def contents(graph: Graph, places: Sequence[int]) -> list[Content]:
    """The whole texts of the memories with these internal ids; what is gone is left out."""
    rows = await _page(graph, cypher.CONTENTS, places=list(places))
    return [
        Content._make((*row[:2], row[2] or "", *row[3:6], Period(row[6], row[7]), Period(row[8], row[9])))
        for row in rows
        if all(isinstance(value, int) for value in row[5:10])
    ]


async def _page(graph: Graph, query: Query, **values: Any) -> list[Row]:
    """The rows; none when the graph is gone."""
    try:
        return await graph.read(query, **values)
    except GraphMissing:
        return []


async def re_embed(
    graph: Graph,
    seen: tuple[str, int],
    vectors: tuple[list[float] | None, list[float] | None],
) -> bool:
    """Store the embedding and emotion of the memory `seen` (id, version). False when it has changed since."""
    values = {
        "id": seen[0],
        "seen": seen[1],
        "open": END_OF_TIME,
        "embedding": vectors[0],
        "emotion": vectors[1],
    }
    return bool(await graph.write(cypher.RE_EMBED, **values))


async def revise_link(
    graph: Graph, link: Mapping[str, Any], opened: Sequence[Mapping[str, Any]], by: Written
) -> bool:
    """Close a link's record and open others, each with some change. False when it is not there as it was seen.

    `link`: id, source_id, target_id, seen.
    """
    values = {**link, "opened": [dict(change) for change in opened], **_marks(by)}
    return bool(await graph.write(cypher.REVISE_LINK, **values))


async def close_record(graph: Graph, record: Mapping[str, Any], by: Written) -> bool:
    """Close a past version that was left open. `record`: id, version, seen, replaced_at."""
    return bool(await graph.write(cypher.CLOSE_RECORD, **record, **_marks(by)))


def _marks(by: Written) -> dict[str, Any]:
    by_whom = {"closed_source": by.source.value, "key_id": by.key_id}
    return {"receipt": dict(by.receipt), "at": by.at, **by_whom, "open": END_OF_TIME}
