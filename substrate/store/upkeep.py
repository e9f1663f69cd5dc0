"""Reads that go through a whole graph page by page, and the small writes that repair it.

Each page is a short read of its own, so that the engine and this process can serve others between two pages.
Pages of memories follow the internal id: the scan begins after the last id, goes up, and stops at the limit, so
that a page costs the same wherever it begins. An `ORDER BY` before the limit would sort all remaining memories
for each page. The one after the limit sorts one page: an OPTIONAL MATCH puts rows without a match last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from schemas.base import DEEPEST
from schemas.memory import CONDITIONAL, IMPORTANT, REQUIRED, Source
from schemas.temporal import END_OF_TIME, Instant, Period
from substrate.bitemporal import changes_until
from substrate.connection.pool import Row
from substrate.cypher.fragments import CLOCK, NOTE_CHANGES, SHIFT, columns_of
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness import elements
from substrate.likeness import port as likeness
from substrate.store import rows

MEMORIES_A_PAGE: Final = 200
LINKS_A_PAGE: Final = 200
"""Rows of a page: about a millisecond in the engine, and a few in this process."""
_ROOM: Final = 10 * LINKS_A_PAGE
"""The limit of rows for a whole page: others may have added rows since the page was planned."""
CONTENTS_A_READ: Final = 50

TEXT_READ: Final = 2000
"""Characters of a long text that a page contains; a longer text is cut."""

MEMORY_FIELDS: Final = (
    "id", "node_type", "name", "speaker", "version", "energy", "confidence", "emotion_vector",
    "goal", "resolution_state", "unset", "valid_at", "invalid_at", "created_at", "expired_at",
)  # fmt: skip
LONG_FIELDS: Final = ("description", "felt_quality", "body_sensation")
METADATA: Final = (*REQUIRED, *IMPORTANT, *CONDITIONAL)
LINK_FIELDS: Final = (
    "id", "relation_type", "valid_at", "invalid_at", "created_at", "expired_at", *METADATA, "source", "unset",
)  # fmt: skip
RECORD_FIELDS: Final = ("version", "valid_at", "invalid_at", "created_at", "expired_at")


def _deep_text(name: str, column: str) -> str:
    """Expression: the text of a map that has enough brackets to be nested too deeply, else null."""
    brackets = " + ".join(f"size(split({name}.{column}, '{bracket}'))" for bracket in "{[")
    return f"CASE WHEN {brackets} > {DEEPEST + 2} THEN {name}.{column} ELSE null END"


_BEGINNINGS: Final = ", ".join(f"left(toStringOrNull(n.{field}), {TEXT_READ})" for field in LONG_FIELDS)

MEMORY_PAGE: Final = Query(
    "memory_page",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace) "
    "RETURN id(n), n.energy >= 0.0 AND n.confidence >= 0.0, "
    "typeOf(t.embedding), indegree(n, 'LINK'), outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK'), "
    f"outdegree(n, 'HAD'), {_deep_text('n', 'extra')}, "
    f"{columns_of('n', MEMORY_FIELDS)}, {_BEGINNINGS} "
    "ORDER BY id(n)",
)
"""The next memories, with the type of their embedding and the numbers of their links and past versions."""

_OF_PAGE: Final = "MATCH (n:ConsciousnessNode) WHERE id(n) >= $first AND id(n) < $beyond WITH n "

_NUMERIC: Final = " AND ".join(
    f"e.{field} >= 0.0" for field in ("energy", "confidence", "energy_transfer_coefficient")
)

LINK_PAGE: Final = Query(
    "link_page",
    f"{_OF_PAGE} MATCH (n)-[e:LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows "
    "RETURN n.id, id(n), n.expired_at, n.invalid_at, n.invalidation_reason, "
    f"m.id, id(m), m.expired_at, m.invalid_at, m.invalidation_reason, {_NUMERIC}, "
    f"{', '.join(_deep_text('e', column) for column in rows.MAP_COLUMNS)}, {columns_of('e', LINK_FIELDS)}",
)
"""The open link records that begin at the memories of a range, with the times of both ends."""

PAST_LINK_PAGE: Final = Query(
    "past_link_page",
    f"{_OF_PAGE} MATCH (n)-[e:PAST_LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows "
    "RETURN n.id, m.id, e.id, e.valid_at, e.invalid_at, e.created_at, e.expired_at",
)
"""The closed link records that begin at the memories of a range."""

VERSION_PAGE: Final = Query(
    "version_page",
    f"{_OF_PAGE} MATCH (n)-[:HAD]->(p:PastVersion) WITH n, p SKIP $skip LIMIT $rows "
    f"RETURN n.id, {columns_of('n', RECORD_FIELDS)}, {columns_of('p', RECORD_FIELDS)}",
)
"""The past versions of the memories of a range, each with the record that its identity carries."""


def deep_maps(record: str, past: int) -> str:
    """One row for each map of these records, named `r`, that may be nested too deeply."""
    texts = ", ".join(map(partial(_deep_text, "r"), rows.MAP_COLUMNS))
    return f"MATCH {record} UNWIND [{texts}] AS text WITH text WHERE text IS NOT NULL RETURN {past} AS past, text "


DEEP_MAPS: Final = Query(
    "deep_maps",
    f"{deep_maps('(r:ConsciousnessNode)', 0)}UNION ALL {deep_maps('()-[r:LINK]->()', 0)}UNION ALL "
    f"{deep_maps('(r:PastVersion)', 1)}UNION ALL {deep_maps('()-[r:PAST_LINK]->()', 1)}",
)
"""The maps of all records that may be nested too deeply, and whether it is a past record."""
CONTENTS: Final = Query(
    "contents",
    "UNWIND $places AS place MATCH (n:ConsciousnessNode) WHERE id(n) = place "
    "RETURN n.id, n.name, toStringOrNull(n.description), toStringOrNull(n.speaker), n.node_type, n.version, "
    "n.valid_at, n.invalid_at, n.created_at, n.expired_at",
)
"""The whole texts of some memories by their internal ids."""

RE_EMBED: Final = Query(
    "re_embed",
    f"{SHIFT} MATCH (n:ConsciousnessNode {{id: $id}}) WHERE n.version = $seen AND n.expired_at = $open "
    "WITH n LIMIT 1 OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace) WITH n, collect(t) AS traces "
    "FOREACH (_ IN CASE WHEN size(traces) = 0 THEN [1] ELSE [] END | "
    "CREATE (n)-[:HAS_TRACE]->"
    "(:Trace {embedding: vecf32($embedding), emotion: vecf32($emotion), digest: $digest})) "
    "FOREACH (t IN traces | SET t.embedding = vecf32($embedding), t.digest = $digest) "
    "RETURN n.version",
)
"""Adds the missing embedding to the open record of an identity; returns no row when it has changed since."""

RECEIPT: Final = (
    "CREATE (c:Receipt {command_id: $receipt.command_id}) SET c += $receipt, c.created_at = at, m.clock = at "
)

REVISE_LINK: Final = Query(
    "revise_link",
    f"{CLOCK} MATCH (a:ConsciousnessNode {{id: $source_id}}) WITH m, at, a LIMIT 1 "
    "MATCH (a)-[e:LINK]->(b) "
    "WHERE b.id = $target_id AND e.id = $id AND e.created_at = $seen AND e.expired_at = $open "
    "WITH m, at, a, b, e LIMIT 1 OPTIONAL MATCH (a)-[q:PAST_LINK]->(b) WHERE q.id = $id "
    "WITH m, at, a, b, e, max(coalesce(q.version, 1)) AS before "
    "WITH m, at, a, b, e, CASE WHEN before > coalesce(e.version, 1) THEN before ELSE coalesce(e.version, 1) END "
    "AS highest CREATE (a)-[p:PAST_LINK]->(b) SET p = properties(e) "
    "SET p.expired_at = at, p.closed_by = $receipt.command_id, p.closed_reason = 'discovered_false', "
    "p.closed_source = $closed_source, p.closed_key = $key_id "
    "FOREACH (change IN $opened | CREATE (a)-[k:LINK]->(b) SET k = properties(e) SET k += change, "
    "k.created_at = at, k.version = highest + 1, k.command_id = $receipt.command_id, k.key_id = $key_id) "
    f"{NOTE_CHANGES}{RECEIPT} DELETE e RETURN at",
)
"""Closes the open record of a link and opens one per set of changes; returns no row when it has changed since.
`changes_until`: when one of these last ends to hold."""

CLOSE_RECORD: Final = Query(
    "close_record",
    f"{CLOCK} MATCH (n:ConsciousnessNode {{id: $id}}) WITH m, at, n LIMIT 1 MATCH (n)-[:HAD]->(p:PastVersion) "
    "WHERE p.version = $version AND p.created_at = $seen AND p.expired_at = $open WITH m, at, n, p LIMIT 1 "
    "SET n.touched = at, p.expired_at = $replaced_at, p.closed_by = $receipt.command_id, "
    "p.closed_source = $closed_source, p.closed_key = $key_id "
    f"{RECEIPT} RETURN at",
)
"""Closes a past version that is still open, at the time at which its replacement began."""


class RepairMark(NamedTuple):
    """What a repair writes about itself: its receipt, its moment, and the source and the key of its writer."""

    receipt: Mapping[str, Any]
    at: Instant
    source: Source
    key_id: str | None

    def parameters(self) -> dict[str, Any]:
        writer = {"closed_source": self.source.value, "key_id": self.key_id}
        return {"receipt": dict(self.receipt), "at": self.at, **writer, "open": END_OF_TIME}


class MemoryRow(NamedTuple):
    """A memory of a page. `fields` are as the engine returned them: times and version are unchecked. `deep` has
    the stored texts of maps that may be nested too deeply."""

    internal_id: int
    felt_as_numbers: bool
    embedding: str
    links_in: int
    links_out: int
    past_links_out: int
    past_versions: int
    fields: Mapping[str, Any]
    deep: Mapping[str, str] = MappingProxyType({})


class LinkEnd(NamedTuple):
    """The memory at one end of a link; times and reason are as the engine returned them."""

    id: str
    internal_id: int
    expired_at: Any
    invalid_at: Any
    reason: str | None


class LinkRow(NamedTuple):
    """A link of a page, in the form of a `MemoryRow`."""

    source: LinkEnd
    target: LinkEnd
    felt_as_numbers: bool
    fields: Mapping[str, Any]
    deep: Mapping[str, str] = MappingProxyType({})


class RecordRow(NamedTuple):
    """One record of an identity on both time axes; `carried` is True for the record on the identity's node."""

    identity: str
    version: Any
    valid: Period
    known: Period
    carried: bool


class Content(NamedTuple):
    """The whole text of a memory, and the times of its record."""

    id: str
    name: str
    description: str
    speaker: str | None
    node_type: str
    version: int
    valid: Period
    known: Period


class Share(NamedTuple):
    """A share of a page's links or versions: `rows` from `skip`, of the memories with ids `[first, beyond)`."""

    first: int
    beyond: int
    skip: int
    rows: int


def plan_shares(degrees: Sequence[tuple[int, int]]) -> Iterator[Share]:
    """Divide a page into shares of about `LINKS_A_PAGE` rows. `degrees`: (internal id, rows), ascending. Pure."""
    first, last, planned = -1, -1, 0
    for internal_id, degree in degrees:
        if not degree:
            continue
        if planned and planned + degree > LINKS_A_PAGE:
            yield Share(first, last + 1, 0, _ROOM)
            planned = 0
        if degree > LINKS_A_PAGE:
            for skip in range(0, degree, LINKS_A_PAGE):
                yield Share(internal_id, internal_id + 1, skip, LINKS_A_PAGE)
            continue
        first, last, planned = internal_id if not planned else first, internal_id, planned + degree
    if planned:
        yield Share(first, last + 1, 0, _ROOM)


async def read_memories(graph: Graph, after: int, limit: int = MEMORIES_A_PAGE) -> list[MemoryRow]:
    """Return the next memories after the internal id `after`, in its order, at most `limit`; empty at the end."""
    page: list[MemoryRow] = []
    for row in await graph.read_existing(MEMORY_PAGE, after=after, rows=min(limit, MEMORIES_A_PAGE)):
        (internal_id, felt, *counted), deep, values = row[:7], row[7], row[8:]
        if page and internal_id == page[-1].internal_id:
            continue  # a second trace of the same memory
        fields = dict(zip((*MEMORY_FIELDS, *LONG_FIELDS), values, strict=True))
        page.append(MemoryRow._make((internal_id, felt == "true", *counted, fields, _texts_by_column([deep]))))
    return page


async def read_links(graph: Graph, share: Share) -> list[LinkRow]:
    """Return the open link records of a share."""
    ends, maps = len(LinkEnd._fields), len(rows.MAP_COLUMNS)
    found: list[LinkRow] = []
    for row in await graph.read_existing(LINK_PAGE, **share._asdict()):
        columns = iter(row)
        found.append(
            LinkRow(
                source=LinkEnd(*islice(columns, ends)),
                target=LinkEnd(*islice(columns, ends)),
                felt_as_numbers=next(columns) == "true",
                deep=_texts_by_column(list(islice(columns, maps))),
                fields=dict(zip(LINK_FIELDS, columns, strict=True)),
            )
        )
    return found


def _texts_by_column(texts: Sequence[Any]) -> dict[str, str]:
    """Return the texts that are not null, by column of `stored_maps`; a memory has only the first column."""
    by_column = zip(rows.MAP_COLUMNS, texts, strict=False)
    return {name: text for name, text in by_column if isinstance(text, str)}


async def read_past_links(graph: Graph, share: Share) -> list[RecordRow]:
    """Return the closed link records of a share; their identity is `link_identity`."""
    rows = await graph.read_existing(PAST_LINK_PAGE, **share._asdict())
    return list(
        _records(
            (link_identity(source_id, link_id, target_id), (None, *times), False)
            for source_id, target_id, link_id, *times in rows
        )
    )


def link_identity(source_id: str, link_id: str, target_id: str) -> str:
    """Return a text that identifies a link: links with the same id but other ends are different links."""
    return f"{source_id}\0{link_id}\0{target_id}"


async def read_versions(graph: Graph, share: Share) -> list[RecordRow]:
    """Return all records of the identities in a share that have past records; each carried record once."""
    rows = await graph.read_existing(VERSION_PAGE, **share._asdict())
    width = len(RECORD_FIELDS)
    carried = {identity: columns[:width] for identity, *columns in rows}
    past = ((identity, columns[width:], False) for identity, *columns in rows)
    return [*_records((identity, columns, True) for identity, columns in carried.items()), *_records(past)]


def _records(rows: Iterable[tuple[str, Row, bool]]) -> Iterator[RecordRow]:
    """Build records from (identity, `RECORD_FIELDS`, carried); rows whose times are no numbers are skipped."""
    for identity, (version, *times), carried in rows:
        if isinstance(identity, str) and all(isinstance(time, int) for time in times):
            yield RecordRow(identity, version, Period(*times[:2]), Period(*times[2:]), carried)


async def read_contents(graph: Graph, internal_ids: Sequence[int]) -> list[Content]:
    """Return the whole texts of the memories with these internal ids; missing ones are left out."""
    contents = []
    for row in await graph.read_existing(CONTENTS, places=list(internal_ids)):
        memory_id, name, description, speaker, node_type, version, *times = row
        if isinstance(version, int) and all(isinstance(time, int) for time in times):
            valid, known = Period(*times[:2]), Period(*times[2:])
            contents.append(Content(memory_id, name, description or "", speaker, node_type, version, valid, known))
    return contents


async def count_unreadable(graph: Graph) -> tuple[int, int]:
    """How many stored maps no answer can show: of the records that memories and links carry, and of past ones."""
    counts = [0, 0]
    for past, text in await graph.read(DEEP_MAPS):
        counts[past] += rows.repair_map(text) != text
    return counts[0], counts[1]


async def re_embed(
    graph: Graph, memory_id: str, version: int, *, embedding: list[float] | None, emotion: list[float] | None
) -> bool:
    """Store the vectors of a memory. False when it has another version now, or is closed."""
    seen = {"id": memory_id, "seen": version, "open": END_OF_TIME}
    digest = elements.digest_or_none(embedding)
    if embedding is not None and digest is not None:
        await likeness.add(graph.connection, graph.name, [elements.Vector(memory_id, digest, embedding)])
    return bool(await graph.write(RE_EMBED, **seen, embedding=embedding, emotion=emotion, digest=digest))


async def revise_link(
    graph: Graph, link: Mapping[str, Any], opened: Sequence[Mapping[str, Any]], mark: RepairMark
) -> bool:
    """Close a link's record and open one for each map of changes. False when the record has changed since. `link`
    has id, source_id, target_id and seen (the record's transaction time)."""
    changes = list(map(dict, opened))
    ends = (change.get("invalid_at", END_OF_TIME) for change in changes)
    values = {"opened": changes, "changes_until": max((changes_until(0, end, mark.at) for end in ends), default=0)}
    return bool(await graph.write(REVISE_LINK, **link, **values, **mark.parameters()))


async def close_record(graph: Graph, record: Mapping[str, Any], mark: RepairMark) -> bool:
    """Close a past version that was left open. False when it has changed since. `record` has id, version, seen
    (its transaction time) and replaced_at (the moment at which it is closed)."""
    return bool(await graph.write(CLOSE_RECORD, **record, **mark.parameters()))
