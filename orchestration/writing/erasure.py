"""Erase: remove a memory, an episode or a citizen for good, from the store and from its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import batched
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import orjson

from orchestration.appraisal.key_phrases import extract_phrases, tag_key
from orchestration.dependencies import AfterErasure, Deps
from orchestration.identifiers import identifier
from orchestration.writing import authorship
from orchestration.writing.records import stored_tag_names
from orchestration.writing.thread_closing import reopen
from schemas.collectives import owner_of
from schemas.commands import Erase, EraseCollective, EraseEpisode, EraseMemory, ErasureReport, Removed
from schemas.errors import Conflict, NotAuthor, NotFound
from schemas.memory import GraphKey, Level, graph_fields, graph_key
from schemas.temporal import Instant, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.engine import append_log
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import existing_graphs
from substrate.store import erasure, made_tags, unfinished_erasures
from substrate.store.erasure import ErasureMark
from substrate.store.stream_notes import stamp_erased
from substrate.store.unfinished_erasures import ErasureNote, ErasureTarget

PRESUMED_RUNNING_US: Final = 600 * 1_000_000
"""An erasure on a server counts as still running for ten minutes; after that another process may finish it."""
SERVER_NOTE: Final = (
    "the erased data may still be in snapshots, replicas and backups of the server: "
    "write a new snapshot and remove old ones"
)
FINISHED_LATE: Final = "an earlier attempt was interrupted; it has been finished since"


class ErasedStore(NamedTuple):
    """The store from which something is erased: `directory` is that of the embedded engine, None for a server.

    `erased` takes what was removed out of the mirrors beside the store.
    """

    connection: Connection
    directory: Path | None
    erased: AfterErasure | None = None


async def erase(command: Erase, deps: Deps, now: Instant, directory: Path | None) -> ErasureReport:
    """Remove the memory, episode, citizen or collective from the store, then rewrite the log.

    A note of the erasure is stored first. If the erasure is interrupted, the next process that opens the store
    finishes it; so does the same erasure sent again, under any command id. `directory` is that of the embedded
    engine, None for a server. Raises NotFound when there is nothing to erase, Conflict when the command id was
    used for another erasure, NotAuthor for what another wrote in N2 or N3, Unavailable when the engine does not
    answer or cannot rewrite its log, and InvalidRequest when a mirror cannot be rewritten; what was removed before
    the failure stays removed.
    """
    if isinstance(command, EraseMemory | EraseEpisode):
        await check_authors(command, deps)
    command_id = command.command_id or uuid4().hex
    key = erased_graph(command)
    target = _target(command, graph_name(key, getattr(command, "citizen_id", None)))
    connection = deps.connection
    async with unfinished_erasures.shared_lock(directory):
        own_mark = await erasure.read_mark(Graph(connection, target.graph), command_id)
        exists = await _exists(target, connection)
        notes = _notes_of(target, await unfinished_erasures.read_notes(connection))
        is_unknown = not (exists or own_mark or notes)
        late_mark = await erasure.read_named_mark(connection, target.digest()) if is_unknown else None
        _check(command, exists=exists, mark=own_mark or late_mark, is_running=bool(notes))
        mark = own_mark or late_mark or ErasureMark(now)
        is_done = mark.log_rewritten is not None and not notes
        report = _report(target, key, mark, command_id=command_id, is_done=is_done)
        server_notes = () if directory is not None else (SERVER_NOTE,)
        report = report.model_copy(update={"notes": (*([FINISHED_LATE] if late_mark else []), *server_notes)})
        if is_done:
            return report
        name = erasure.mark_name(target.graph, command_id)
        notes[name] = ErasureNote(mark.at, target.digest(), target)
        await unfinished_erasures.begin(connection, name, notes[name])
        store = ErasedStore(connection, directory, deps.erased)
        graph, opened = Graph(connection, target.graph), list[str]()
        if target.kind != "citizen" and exists:
            await stamp_erased(graph, mark.at)
        if target.kind in ("memory", "episode") and key is Level.N1 and exists:
            gone = [target.id] if target.kind == "memory" else await erasure.episode_memories(graph, target.id)
            opened = await reopen(gone, graph, deps, now)
        removed = await _remove(target, store, notes)
        rewritten = await _rewrite_log(store)
        if target.kind in ("citizen", "collective"):
            deps.graphs.forget(target.graph)
            deps.notes.take(target.graph)
        await _rewrite_mirrors(store, [target.graph])
        await unfinished_erasures.finish(connection, notes, log_rewritten=rewritten, late=False)
    told = {"removed": Removed(**removed), "log_rewritten": rewritten, "notes": (*opened, *report.notes)}
    return report.model_copy(update=told)


def erased_graph(command: Erase) -> GraphKey:
    """The graph from which the command erases, or which it erases."""
    if isinstance(command, EraseMemory | EraseEpisode):
        return command.graph_key
    return graph_key(Level.N2, command.collective) if isinstance(command, EraseCollective) else Level.N1


async def erase_memories(ids: Sequence[str], graph: Graph, deps: Deps, now: Instant) -> int:
    """Remove some memories of one graph, then rewrite the log and its mirror once. Returns how many were there.

    Each is noted first, so that an interrupted call is finished when the store is opened again. Raises Unavailable
    and InvalidRequest as `erase` does.
    """
    connection = deps.connection
    if not ids:
        return 0
    async with unfinished_erasures.shared_lock(deps.directory):
        notes: dict[str, ErasureNote] = {}
        for memory_id in ids:
            target = ErasureTarget("memory", graph.name, memory_id)
            name = erasure.mark_name(graph.name, uuid4().hex)
            notes[name] = ErasureNote(now, target.digest(), target)
            await unfinished_erasures.begin(connection, name, notes[name])
        try:
            await stamp_erased(graph, now)
            await reopen(ids, graph, deps, now)
            removed = await _remove_memories(ids, graph) + await _remove_unused(graph)
        except GraphMissing:
            removed = Counter()  # the graph was removed meanwhile
        connection.forget_kept(graph.name)
        await erasure.forget_queries(graph)
        await unfinished_erasures.note_all_removed(connection, notes)
        store = ErasedStore(connection, deps.directory, deps.erased)
        rewritten = await _rewrite_log(store)
        await _rewrite_mirrors(store, [graph.name])
        await unfinished_erasures.finish(connection, notes, log_rewritten=rewritten, late=False)
    return removed["memories"]


def _report(
    target: ErasureTarget, key: GraphKey, mark: ErasureMark, *, command_id: str, is_done: bool
) -> ErasureReport:
    return ErasureReport(
        command_id=command_id,
        erased=target.kind,
        erased_at=to_datetime(mark.at),
        **graph_fields(key),
        log_rewritten=bool(mark.log_rewritten),
        duplicate=is_done,
    )


async def finish_broken_off(store: ErasedStore) -> int:
    """Finish interrupted erasures and return their number. Rewrites the log if they or a removed graph need it.

    Erasures that another process still runs are not touched. Raises Unavailable as `erase` does.
    """
    connection, directory, _ = store
    finished = 0
    if await unfinished_erasures.read_notes(connection):
        async with unfinished_erasures.exclusive_lock(directory) as is_alone:
            notes = await _abandoned_notes(store) if is_alone else {}
            for name, note in notes.items():
                if note.target is not None:
                    await _remove(note.target, store, {name: note})
            if notes:
                rewritten = await _rewrite_log(store)
                targets = [note.target for note in notes.values()]
                await _rewrite_mirrors(store, [None if target is None else target.graph for target in targets])
                await unfinished_erasures.finish(connection, notes, log_rewritten=rewritten, late=True)
            finished = len(notes)
    await append_log.rewrite_after_deletions(connection)
    return finished


async def _abandoned_notes(store: ErasedStore) -> dict[str, ErasureNote]:
    """The erasures that no process runs any more: on a server, those older than `PRESUMED_RUNNING_US`."""
    notes = await unfinished_erasures.read_notes(store.connection)
    if store.directory is not None:
        return notes
    latest = await store.connection.now() - PRESUMED_RUNNING_US
    return {name: note for name, note in notes.items() if note.at < latest}


def _notes_of(target: ErasureTarget, notes: dict[str, ErasureNote]) -> dict[str, ErasureNote]:
    return {name: note for name, note in notes.items() if note.digest == target.digest()}


def _check(command: Erase, *, exists: bool, mark: ErasureMark | None, is_running: bool) -> None:
    """Raises Conflict for a command id of another erasure, NotFound when there is nothing to erase."""
    if exists and mark is not None and mark.log_rewritten is not None:
        raise Conflict(
            "this command_id was used for an erasure before, and its target exists now",
            remedy="To erase it, send the command with a new command_id.",
        )
    if exists or is_running or mark is not None:
        return
    if isinstance(command, EraseMemory):
        raise NotFound(f"there is no memory {command.id} in {command.graph_key}")
    if isinstance(command, EraseEpisode):
        whose = f"citizen {command.citizen_id}" if command.level is Level.N1 else owner_of(command.graph_key, None)
        raise NotFound(f"{whose} has no episode {command.episode_id}")
    if isinstance(command, EraseCollective):
        raise NotFound(f"nothing was remembered for collective {command.collective} yet")
    raise NotFound(f"nothing was remembered for {command.citizen_id} yet")


async def check_authors(command: EraseMemory | EraseEpisode, deps: Deps) -> None:
    """Raises NotAuthor for a shared memory or episode that the sender may not erase."""
    graph = Graph(deps.connection, graph_name(command.graph_key, command.citizen_id))
    target = _target(command, graph.name)
    if command.level is Level.N1 or not await _exists(target, deps.connection):
        return
    authors = await erasure.authors(graph, target.id, of_episode=target.kind == "episode")
    if not authorship.may_erase_as(command.writer, authors, command.level):
        other = next((author for author in authors if author != command.writer.author), None)
        raise NotAuthor(authorship.author_fault(target.id, other, command.writer))


def _target(command: Erase, graph: str) -> ErasureTarget:
    if isinstance(command, EraseMemory):
        return ErasureTarget("memory", graph, command.id)
    if isinstance(command, EraseEpisode):
        return ErasureTarget("episode", graph, command.episode_id)
    return ErasureTarget("collective" if isinstance(command, EraseCollective) else "citizen", graph)


async def _exists(target: ErasureTarget, connection: Connection) -> bool:
    """True when there is something to erase. A graph of another embedder can be erased too."""
    graph = Graph(connection, target.graph)
    try:
        if target.kind == "memory":
            return bool(await erasure.existing_ids(graph, [target.id]))
        if target.kind == "episode":
            return bool(await erasure.episode_memories(graph, target.id))
    except GraphMissing:
        return False
    return target.graph in await existing_graphs(connection)


async def _remove(target: ErasureTarget, store: ErasedStore, notes: dict[str, ErasureNote]) -> Counter[str]:
    """Remove the target from its graph and note that it is gone. Returns how many of each kind. Safe to repeat."""
    graph = Graph(store.connection, target.graph)
    try:
        removed = await _remove_from(graph, target, notes)
    except GraphMissing:
        removed = Counter()  # the graph was removed meanwhile, and the target with it
    store.connection.forget_kept(graph.name)
    await erasure.forget_queries(graph)
    await unfinished_erasures.note_all_removed(store.connection, notes)
    return removed


async def _remove_from(graph: Graph, target: ErasureTarget, notes: dict[str, ErasureNote]) -> Counter[str]:
    if target.kind == "memory":
        return await _remove_memories([target.id], graph) + await _remove_unused(graph)
    if target.kind == "episode":
        return await _remove_episode(target.id, graph)
    return await erasure.erase_graph(graph, partial(unfinished_erasures.delete_graph, graph, notes))


async def _rewrite_log(store: ErasedStore) -> bool:
    """Rewrite the log, and remove files of an interrupted backup. False when the server keeps no log."""
    rewritten = await append_log.rewrite(store.connection)
    if store.directory is not None:
        await append_log.remove_stale_snapshots(store.directory)
    return rewritten


async def _rewrite_mirrors(store: ErasedStore, graphs: Sequence[str | None]) -> None:
    """Rewrite the mirrors of these graphs. If that fails, the erasure counts as unfinished and is tried again."""
    if store.erased is not None:
        for graph in dict.fromkeys(graphs):
            await store.erased(graph)


async def _remove_episode(episode_id: str, graph: Graph) -> Counter[str]:
    removed: Counter[str] = Counter()
    while ids := await erasure.episode_memories(graph, episode_id):
        removed += await _remove_memories(ids, graph)
    ingestion = identifier(f"ingest:{episode_id}")
    links, lone_ids = await erasure.erase_episode_links(graph, episode_id, ingestion)
    removed += links + await _remove_memories(lone_ids, graph)
    removed["receipts"] += await erasure.erase_receipts(graph, [episode_id], [ingestion])
    return removed + await _remove_unused(graph)


async def _remove_memories(ids: Sequence[str], graph: Graph) -> Counter[str]:
    """Remove memories, and first the made tags that may come from them.

    A tag may have come to others from these texts. So each made tag with a word of them is removed everywhere;
    upkeep makes those again that other texts give.
    """
    for some in batched(ids, erasure.MEMORIES_AT_ONCE):
        names: set[str] = set()
        for name, text, tags in await made_tags.read_told(graph, some):
            names |= _tags_of_text(f"{name}. {text or ''}") | _tags_of_labels(orjson.loads(tags or "[]"))
        await made_tags.forget_made_tags(graph, sorted(names))
    return await erasure.erase_memories(graph, ids)


def _tags_of_text(text: str) -> set[str]:
    """The names of all tags that upkeep can make of a text."""
    phrases = extract_phrases(text)
    return {*(f"{made_tags.MADE}{key}" for key in phrases), *(f"#{phrase}" for phrase in phrases.values())}


def _tags_of_labels(tags: Sequence[str]) -> set[str]:
    """The names under which upkeep can give the tags of one memory to others."""
    return {name for tag in tags for name in (f"{made_tags.MADE}{tag_key(tag)}", f"#{tag.strip()}")}


async def _remove_unused(graph: Graph) -> Counter[str]:
    """Remove what was made of names in erased texts alone, and the tags that no record has.

    A tag that a past record has stays, as that record does.
    """
    names = await erasure.erase_names_of_nothing(graph)
    unused = await erasure.unused_tags(graph)
    if unused:
        async for tags, buckets in erasure.past_labels(graph):
            unused.difference_update(stored_tag_names({"tags": tags, "buckets": buckets}))
    return names + Counter(tags=await erasure.erase_tags(graph, unused) if unused else 0)
