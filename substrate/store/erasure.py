"""Permanent erasure of memories, in groups small enough for the deadline of a statement, its marks and its notes.

A note is written before anything is removed, so that an interrupted erasure can be finished. It names the target
until all of it is removed. Then the name is deleted from the note, so that the log, which is rewritten next, does
not contain it either.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from itertools import batched
from pathlib import Path
from typing import Final, Literal, NamedTuple

import orjson

from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.lines import Command
from substrate.connection.pool import Connection
from substrate.cypher.fragments import ALONE, SHIFT, each_alone, tells
from substrate.cypher.query import Query
from substrate.engine.append_log import delete_graph
from substrate.engine.data_directory import try_lock
from substrate.graphs.graph import Graph
from substrate.graphs.names import DELETIONS
from substrate.likeness import port as likeness
from substrate.likeness.elements import set_names
from substrate.store.archive import count_stored, draft_names
from substrate.store.derived import CONTESTS, LINKED, STATEMENT, STATEMENT_ID, find_made_of
from substrate.store.kept import (
    LINKS_AT_ONCE,
    THOSE,
    Kept,
    erase_links,
    erase_receipts,
    forget_kept,
    write_one_row,
)
from substrate.store.runs import erase_changes
from substrate.store.state_reads import NEWEST

MEMORIES_AT_ONCE: Final = 20
RECORDS_AT_ONCE: Final = 25
"""Each record has two indexed vectors; removing them takes some milliseconds."""
ROWS_A_PAGE: Final = 200
MOST_HOLDERS: Final = 30
"""A word that this many memories hold tells nothing of one."""
BEGINNING: Final = 300
"""This many characters of a text are read for what it asks to forget."""
PAST_RECORDS_A_PAGE: Final = 10_000
MARKS: Final = "substrate:erasures"
"""A Redis hash: digest of graph and command id -> mark. It reveals neither what was erased nor whose it was."""

PRESENT: Final = Query("erase_present", f"{THOSE} RETURN n.id")

_AUTHORS: Final = (
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WITH n, collect(p) AS past "
    "UNWIND ([n] + past) AS record RETURN DISTINCT record.author"
)
AUTHORS: Final = Query("erase_authors", f"{THOSE} {_AUTHORS}")
AUTHORS_OF_EPISODE: Final = Query(
    "erase_authors_of_episode", f"MATCH (n:ConsciousnessNode) WHERE n.episode_id IN $ids WITH n {_AUTHORS}"
)

LINK_AUTHORS_OF_EPISODE: Final = Query(
    "erase_link_authors_of_episode",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.episode_id IN $ids "
    "WITH n, e RETURN max(id(n)), collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE coalesce(e.author, '') END)",
)
"""The greatest internal id of a page, and the authors of its links from the episodes, empty for none."""

LINKS_OF: Final = Query(
    "erase_links_of", f"{THOSE} MATCH (n)-[e:LINK|PAST_LINK]-(m) WITH DISTINCT e LIMIT $rows RETURN DISTINCT e.id"
)
"""Ids of the next links: their receipts are erased before the links."""

OTHER_LINKS_OF: Final = Query(
    "erase_other_links_of",
    f"{THOSE} MATCH (n)-[e:LINK|PAST_LINK]-(m) WHERE e.relation_type <> '{LINKED}' OR NOT startNode(e).id IN $ids "
    "WITH DISTINCT e LIMIT $rows RETURN DISTINCT e.id",
)
"""The same without those that lead from a generalisation to what it is made of."""

MEMBER_LINKS_OF: Final = Query(
    "erase_member_links_of",
    f"{THOSE} MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.relation_type = '{LINKED}' "
    "WITH collect(DISTINCT e) AS found "
    "RETURN [e IN found | e.id], size([e IN found WHERE type(e) = 'LINK'])",
)
"""Row: ids of the links from generalisations to what they are made of, and how many of them are open."""

STATEMENTS_ON: Final = Query(
    "erase_statements_on",
    f"{THOSE} MATCH (n)<-[e:LINK|PAST_LINK]-(s:ConsciousnessNode) WHERE e.relation_type = '{CONTESTS}' "
    f"AND s.node_type = '{STATEMENT}' AND s.id STARTS WITH '{STATEMENT_ID}' "
    "WITH DISTINCT s LIMIT $rows RETURN s.id",
)
"""The next statements by which somebody contests or contested one of the memories."""

ERASE_RECORDS: Final = Query(
    "erase_records",
    f"{SHIFT} {THOSE} MATCH (n)-[:HAD]->(p:PastVersion) WITH p LIMIT $rows "
    "OPTIONAL MATCH (p)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT p) AS records, collect(DISTINCT t) AS traces "
    "FOREACH (p IN records | DELETE p) FOREACH (t IN traces | DELETE t) RETURN size(records), size(traces)",
)
"""Row: the numbers of deleted records and traces."""

ERASE_MEMORIES: Final = Query(
    "erase_memories",
    f"{SHIFT} {THOSE} WHERE outdegree(n, 'HAD') = 0 OPTIONAL MATCH (n)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT n) AS memories, collect(DISTINCT t) AS traces "
    "OPTIONAL MATCH (q:Passage) WHERE q.memory_id IN $ids "
    "OPTIONAL MATCH (q)-[:HAS_TRACE|HAS_OTHER_TRACE]->(qt) "
    "WITH memories, traces, collect(DISTINCT q) AS passages, collect(DISTINCT qt) AS parts "
    "FOREACH (t IN parts | DELETE t) FOREACH (q IN passages | DELETE q) "
    "FOREACH (n IN memories | DELETE n) FOREACH (t IN traces | DELETE t) "
    "RETURN size(memories), size(traces) + size(parts), size(passages)",
)
"""Deletes memories without past records, with their traces and remaining relationships, and the passages that were
stored while the others were deleted. Rows: memories, traces, passages."""

BARE_TAGS: Final = Query("erase_bare", "MATCH (g:Tag) WHERE indegree(g, ['TAGGED', 'MADE_TAG']) = 0 RETURN g.name")

PAST_TAGS: Final = Query(
    "erase_past_tags",
    "MATCH (p:PastVersion) WHERE id(p) > $after WITH p LIMIT $rows RETURN max(id(p)), p.tags, p.buckets",
)
"""Tags and buckets of the next past records, each pair once, with the internal id of its last record."""

ERASE_BARE_TAGS: Final = Query(
    "erase_bare_tags",
    "MATCH (g:Tag) WHERE g.name IN $names AND indegree(g, ['TAGGED', 'MADE_TAG']) = 0 "
    "WITH collect(g) AS gone FOREACH (g IN gone | DELETE g) RETURN size(gone)",
)

OF_EPISODE: Final = Query(
    "erase_of_episode", "MATCH (n:ConsciousnessNode) WHERE n.episode_id = $episode WITH n LIMIT $rows RETURN n.id"
)

REST_OF_EPISODE: Final = Query(
    "erase_rest_of_episode",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.episode_id = $episode "
    "WITH n, collect(DISTINCT e.id) AS links "
    "RETURN id(n), n.id, size(links), n.command_id = $ingestion "
    "AND indegree(n, 'LINK') + outdegree(n, 'LINK') + indegree(n, 'PAST_LINK') + outdegree(n, 'PAST_LINK') = 0",
)
"""Rows: internal id, id, number of links from the episode, and whether only the episode has the memory."""

LINKS_OF_EPISODE: Final = Query(
    "erase_links_of_episode",
    f"{THOSE} MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.episode_id = $episode "
    "WITH DISTINCT e LIMIT $rows RETURN DISTINCT e.id",
)


NAMES_OF_NOTHING: Final = Query(
    "erase_names_of_nothing",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    f"RETURN id(n), n.id, NOT {tells('n')} "
    "AND indegree(n, 'LINK') + outdegree(n, 'LINK') + indegree(n, 'PAST_LINK') + outdegree(n, 'PAST_LINK') = 0",
)
"""Rows: internal id, id, and whether it was only made of a name that no text has any more."""


def _holding(label: str) -> Query:
    found = (
        f"CALL {{ WITH word CALL db.idx.fulltext.queryNodes('{label}', word) YIELD node "
        f"WITH node LIMIT {MOST_HOLDERS} RETURN collect(DISTINCT node.id) AS held }} RETURN word, held"
    )
    return Query(f"erase_holding_{label.lower()}", each_alone("words", "word", found))


HOLDING: Final = (_holding("ConsciousnessNode"), _holding("PastVersion"))
"""Rows: a word, and the ids of memories that hold it, now or in a past record."""

NEWEST_TEXTS: Final = Query(
    "erase_newest_texts",
    f"CALL db.meta.stats() YIELD nodeCount WITH nodeCount - {NEWEST} AS first "
    "MATCH (n:ConsciousnessNode) WHERE id(n) >= first AND n.expired_at = $open WITH n "
    "ORDER BY id(n) DESC LIMIT $rows RETURN n.id, left(coalesce(n.description, n.name), $characters)",
)


class ErasureMark(NamedTuple):
    """The mark that an erasure leaves: when it began (`at`), and `log_rewritten`, None until it is finished."""

    at: int
    log_rewritten: bool | None = None


def mark_name(graph: str, command_id: str) -> str:
    """Return the name of the mark of a command on a graph: a digest, so that it reveals neither."""
    return blake2b(f"{graph}\n{command_id}".encode(), digest_size=16).hexdigest()


async def read_mark(graph: Graph, command_id: str) -> ErasureMark | None:
    """Return the mark of a command on the graph; None when the command never ran."""
    return await read_named_mark(graph.connection, mark_name(graph.name, command_id))


async def read_named_mark(connection: Connection, name: str) -> ErasureMark | None:
    text = await connection.command("HGET", MARKS, name)
    return ErasureMark(**orjson.loads(text)) if text else None


def format_mark(mark: ErasureMark) -> str:
    """Return the mark in its stored form."""
    return orjson.dumps(mark._asdict()).decode()


async def existing_ids(graph: Graph, ids: Sequence[str]) -> list[str]:
    """Return the ids that are memories of the graph."""
    return [memory_id for [memory_id] in await graph.read(PRESENT, ids=list(ids))]


async def read_holders(graph: Graph, words: Sequence[str]) -> dict[str, set[str]]:
    """The memories that hold each word, now or before; of a word that `MOST_HOLDERS` hold, not all."""
    holders: dict[str, set[str]] = {word: set() for word in words}
    for some in batched(words, ALONE):
        for query in HOLDING:
            for word, held in await graph.read_typed(query, words=list(some)):
                holders[word].update(held)
    return holders


async def read_newest_texts(graph: Graph) -> list[tuple[str, str]]:
    """The ids and the beginnings of the texts that were stored last, the newest first."""
    values = {"open": END_OF_TIME, "rows": ROWS_A_PAGE, "characters": BEGINNING}
    return [(memory_id, text) for memory_id, text in await graph.read(NEWEST_TEXTS, **values)]


async def authors(graph: Graph, target_id: str, *, of_episode: bool = False) -> set[str | None]:
    """Return the authors of all records of a memory or an episode, past ones too; None for those without one. Of
    an episode also those of its links: anybody may name it in a memory, and they go with it."""
    query = AUTHORS_OF_EPISODE if of_episode else AUTHORS
    found = {author for [author] in await graph.read(query, ids=[target_id])}
    after: int | None = -1 if of_episode else None
    while after is not None:
        values = {"ids": [target_id], "after": after, "rows": ROWS_A_PAGE}
        [[after, of_links]] = await graph.read_typed(LINK_AUTHORS_OF_EPISODE, **values)
        for author in of_links:
            found.add(author or None)
    return found


async def erase_memories(graph: Graph, ids: Sequence[str], kept: Sequence[Kept]) -> Counter[str]:
    """Erase memories with their records, traces and links, and from all `kept`; returns the number of each kind.
    Generalisations of them go before them, since they hold their words, and so do statements that contest them,
    since they hold their names. A repeated call finishes an interrupted one."""
    removed = await _erase_statements_on(graph, ids, kept)
    generalisations: list[str] = []  # those of a generalisation stand before it
    below = list(ids)
    while below:
        below = [each for each in await find_made_of(graph, below) if each not in generalisations]
        generalisations = [*below, *generalisations]
    removed += await _erase_generalisations(graph, generalisations, kept)
    for group in batched(ids, MEMORIES_AT_ONCE):
        while existing := await existing_ids(graph, group):
            removed += await forget_kept(graph, existing, kept)
            removed += await _erase_links_of(graph, existing, LINKS_OF)
            removed += await _erase_contents(graph, existing)
        # Once more: what was told while they were still there, and what an interrupted erasure left.
        removed += await forget_kept(graph, list(group), kept)
    return removed


async def _erase_statements_on(graph: Graph, ids: Sequence[str], kept: Sequence[Kept]) -> Counter[str]:
    """Erase the statements that contest the memories; each goes with its links, by which it is found."""
    removed: Counter[str] = Counter()
    for group in batched(ids, MEMORIES_AT_ONCE):
        values = {"ids": list(group), "rows": MEMORIES_AT_ONCE}
        while statements := [statement for [statement] in await graph.read(STATEMENTS_ON, **values)]:
            links = [link for [link] in await graph.read(LINKS_OF, ids=statements, rows=LINKS_AT_ONCE)]
            removed["receipts"] += await erase_receipts(graph, links)
            await erase_changes(graph, links)
            removed += await forget_kept(graph, statements, kept)
            removed += await _erase_contents(graph, statements) + Counter(links=len(links))
            removed += await forget_kept(graph, statements, kept)
    return removed


async def _erase_generalisations(graph: Graph, ids: Sequence[str], kept: Sequence[Kept]) -> Counter[str]:
    """Erase generalisations; each goes with the links to its members, by which it is found."""
    removed: Counter[str] = Counter()
    for group in batched(ids, MEMORIES_AT_ONCE):
        some = list(group)
        removed += await forget_kept(graph, some, kept)
        removed += await _erase_links_of(graph, some, OTHER_LINKS_OF)
        [(links, open_links)] = await graph.read_typed(MEMBER_LINKS_OF, ids=some)
        removed["receipts"] += await erase_receipts(graph, links)
        await erase_changes(graph, links)
        removed += Counter(links=open_links, past_links=len(links) - open_links)
        removed += await _erase_contents(graph, some)
        removed += await forget_kept(graph, some, kept)
    return removed


async def _erase_links_of(graph: Graph, ids: list[str], query: Query) -> Counter[str]:
    """Erase the links of the memories that the query finds, a page at a time."""
    removed: Counter[str] = Counter()
    while links := [link for [link] in await graph.read(query, ids=ids, rows=LINKS_AT_ONCE)]:
        removed += await erase_links(graph, ids, links)
    return removed


async def _erase_contents(graph: Graph, ids: list[str]) -> Counter[str]:
    """Erase the memories with their records, and the links that they still have."""
    removed: Counter[str] = Counter()
    await likeness.remove(graph.connection, graph.name, ids)
    records = 1
    while records:
        records, traces = await write_one_row(graph, ERASE_RECORDS, ids=ids, rows=RECORDS_AT_ONCE)
        removed += Counter(records=records, traces=traces)
    memories, traces, passages = await write_one_row(graph, ERASE_MEMORIES, ids=ids)
    await likeness.remove(graph.connection, graph.name, ids)
    return removed + Counter(memories=memories, traces=traces, passages=passages)


async def unused_tags(graph: Graph) -> set[str]:
    """Return the names of the tags that no memory has now; a past record may still have them."""
    return {name for [name] in await graph.read(BARE_TAGS)}


class StoredLabels(NamedTuple):
    """Tags and buckets of a past record, as JSON; None where it has none."""

    tags: str | None
    buckets: str | None


async def past_labels(graph: Graph) -> AsyncIterator[StoredLabels]:
    """Yield the labels of all past records, each pair once a page."""
    after = -1
    while page := await graph.read(PAST_TAGS, rows=PAST_RECORDS_A_PAGE, after=after):
        for internal_id, tags, buckets in page:
            after = max(after, internal_id)
            yield StoredLabels(tags, buckets)


async def erase_tags(graph: Graph, names: Collection[str]) -> int:
    """Erase the tags that no memory has; returns how many."""
    [erased] = await write_one_row(graph, ERASE_BARE_TAGS, names=sorted(names))
    return int(erased)


async def episode_memories(graph: Graph, episode_id: str) -> list[str]:
    """Return the ids of the next memories of an episode; empty when none is left."""
    page = await graph.read(OF_EPISODE, episode=episode_id, rows=ROWS_A_PAGE)
    return [memory_id for [memory_id] in page]


async def erase_episode_links(graph: Graph, episode_id: str, ingestion: str) -> tuple[Counter[str], list[str]]:
    """Erase the links of an episode between memories that other episodes have too. Returns the numbers of erased
    things by kind, and the ids of the memories that only this episode has. `ingestion` is the id of the command
    that ingested the episode."""
    removed: Counter[str] = Counter()
    orphans: list[str] = []
    after = -1
    while page := await graph.read(
        REST_OF_EPISODE, episode=episode_id, ingestion=ingestion, rows=ROWS_A_PAGE, after=after
    ):
        linked: list[str] = []
        for internal_id, memory_id, links_of_episode, is_orphan in page:
            after = max(after, internal_id)
            if is_orphan == "true":
                orphans.append(memory_id)
            if links_of_episode:
                linked.append(memory_id)
        values = {"ids": linked, "episode": episode_id, "rows": LINKS_AT_ONCE}
        while links := [link for [link] in await graph.read(LINKS_OF_EPISODE, **values)]:
            removed += await erase_links(graph, linked, links)
    return removed, orphans


async def erase_names_of_nothing(graph: Graph, kept: Sequence[Kept]) -> Counter[str]:
    """Erase the memories that were only made of names in erased texts; returns the number of each kind. A repeated
    call finishes an interrupted one."""
    unnamed: list[str] = []
    after = -1
    while page := await graph.read(NAMES_OF_NOTHING, rows=PAST_RECORDS_A_PAGE, after=after):
        for internal_id, memory_id, is_unnamed in page:
            after = max(after, internal_id)
            if is_unnamed == "true":
                unnamed.append(memory_id)
    return await erase_memories(graph, unnamed, kept)


async def erase_graph(graph: Graph, delete: Callable[[], Awaitable[None]], kept: Iterable[Kept]) -> Counter[str]:
    """Erase a graph, by calling `delete`, and its unfinished imports; returns the number of each kind in it."""
    for draft in await draft_names(graph):
        await delete_graph(graph.connection, draft)
    try:
        labels, types = await count_stored(graph)
    except GraphMissing:
        return Counter()
    await delete()
    removed = Counter(links=types.get("LINK", 0), past_links=types.get("PAST_LINK", 0))
    for each in kept:
        if each.counted:
            removed[each.counted] += labels.get(each.label, 0)
    return removed


async def forget_queries(graph: Graph) -> None:
    """Remove what the engine stores of past queries: its telemetry and its lists of slow queries."""
    await graph.connection.command("DEL", f"telemetry{{{graph.name}}}")
    await graph.connection.everywhere("SLOWLOG", "RESET", replicas=True)
    try:
        await graph.connection.command("GRAPH.SLOWLOG", graph.name, "RESET")
    except GraphMissing:
        return


UNFINISHED: Final = f"{{{MARKS}}}:unfinished"
"""A Redis hash: name of the mark -> note. The braces put it into the slot of the marks, for one transaction."""
FORMER_UNFINISHED: Final = "substrate:erasures:unfinished"
LOCK_POLL_S: Final = 0.02

type Kind = Literal["memory", "episode", "citizen", "collective"]


class ErasureTarget(NamedTuple):
    """The thing to erase; `id` is the id of a memory or an episode, empty for a whole graph."""

    kind: Kind
    graph: str
    id: str = ""

    def digest(self) -> str:
        """Return a digest that identifies the target without revealing it."""
        return blake2b("\n".join(self).encode(), digest_size=16, person=b"erased").hexdigest()


class ErasureNote(NamedTuple):
    """An erasure that began `at`. `target` is None once it is removed from the graph; files may still hold it.

    `graph`: that of a memory or an episode, empty for a whole graph. `mirror`: the directory in which the process
    that began it keeps mirrors; empty where a former version did not tell. `made`: when a whole graph that goes
    was made, None where it has no stamp, 0 where a former version did not tell.
    """

    at: int
    digest: str
    target: ErasureTarget | None
    graph: str = ""
    mirror: str | None = None
    made: Instant | None = None

    @property
    def left_in(self) -> str | None:
        """The graph of which copies may be left; None for one that is gone and whose name is known no more."""
        return self.target.graph if self.target else self.graph or None


async def take_former_notes(connection: Connection) -> None:
    """Give the notes of a former version, which stood under another key, the key of today."""
    former = await connection.command("HGETALL", FORMER_UNFINISHED)
    for name, text in former.items():
        await connection.command("HSET", UNFINISHED, name, text)
    if former:
        await connection.command("DEL", FORMER_UNFINISHED)


async def read_notes(connection: Connection) -> dict[str, ErasureNote]:
    """Return the notes of all unfinished erasures, by the name of their mark."""
    texts = await connection.command("HGETALL", UNFINISHED)
    return {name: parse_note(text) for name, text in texts.items()}


def parse_note(text: str) -> ErasureNote:
    fields = {"mirror": "", "made": 0, **orjson.loads(text)}
    target = fields.pop("target")
    return ErasureNote(target=None if target is None else ErasureTarget(*target), **fields)


def format_note(note: ErasureNote) -> str:
    """Return the note in its stored form."""
    target = None if note.target is None else list(note.target)
    return orjson.dumps({**note._asdict(), "target": target}).decode()


async def begin(connection: Connection, notes: Mapping[str, ErasureNote]) -> None:
    """Write the notes and marks of erasures, all or none, before anything is removed. They have the same names."""
    writes: list[Command] = []
    for name, note in notes.items():
        writes += [
            ("HSET", UNFINISHED, name, format_note(note)),
            ("HSET", MARKS, name, format_mark(ErasureMark(note.at))),
            ("HDEL", MARKS, note.digest),
        ]
    await connection.transaction(*writes)


async def note_all_removed(connection: Connection, notes: Mapping[str, ErasureNote]) -> None:
    """Delete the targets from the notes, once everything is removed."""
    await connection.transaction(
        *(("HSET", UNFINISHED, name, format_note(note._replace(target=None))) for name, note in notes.items())
    )


async def delete_noted_graph(graph: Graph, notes: Iterable[ErasureNote]) -> None:
    """Delete a graph, unless it is a newer one of this name than the notes tell of: another process may have
    finished the erasure."""
    await graph.connection.command("INCR", DELETIONS)
    noted = {note.made for note in notes if note.target is not None}
    while True:
        async with graph.connection.watched([graph.name]) as unchanged:
            if not noted & {0, await read_made(graph)}:
                return
            with suppress(GraphMissing):
                if not await unchanged(("DEL", *set_names(graph.name)), ("GRAPH.DELETE", graph.name)):
                    continue
            return


_MADE: Final = Query("made", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN m.created_at")


async def read_made(graph: Graph) -> Instant | None:
    """When a graph was made; None where it does not exist, or its first write was broken off."""
    rows = await graph.read_existing(_MADE)
    return int(rows[0][0]) if rows else None


async def finish(connection: Connection, name: str, note: ErasureNote, *, log_rewritten: bool, late: bool) -> None:
    """Mark an erasure as finished and remove its note. `late` is True when another process began it. The sender of
    the command may then send it again under another id, so the mark is also written under the digest of the
    target."""
    mark = format_mark(ErasureMark(note.at, log_rewritten))
    by_target: list[Command] = [("HSET", MARKS, note.digest, mark)] if late else []
    await connection.transaction(("HSET", MARKS, name, mark), *by_target, ("HDEL", UNFINISHED, name))


@asynccontextmanager
async def shared_lock(directory: Path | None) -> AsyncIterator[None]:
    """Hold this lock while erasing: it shows that the erasure was not interrupted. Several may hold it at once."""
    if directory is None:
        yield
        return
    lock = try_lock(directory / "engine.erasing", fcntl.LOCK_SH)
    while lock is None:
        await asyncio.sleep(LOCK_POLL_S)
        lock = try_lock(directory / "engine.erasing", fcntl.LOCK_SH)
    try:
        yield
    finally:
        os.close(lock)


@asynccontextmanager
async def exclusive_lock(directory: Path | None) -> AsyncIterator[bool]:
    """Try to lock out all erasures; yields False when one is running. Always True for a server (no directory)."""
    lock = None if directory is None else try_lock(directory / "engine.erasing", fcntl.LOCK_EX)
    try:
        yield directory is None or lock is not None
    finally:
        if lock is not None:
            os.close(lock)
