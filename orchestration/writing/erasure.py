"""Erase: remove a memory, an episode or a citizen for good, from the store and its files, and copies with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import batched
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import orjson

from orchestration.appraisal.key_phrases import extract_phrases, tag_key
from orchestration.dependencies import Deps
from orchestration.feature import Features
from orchestration.identifiers import copy_id, ingestion_id
from orchestration.writing.changes import author_fault, may_erase_as
from orchestration.writing.records import stored_tag_names
from orchestration.writing.thread_closing import reopen
from schemas.collectives import owner_of
from schemas.commands import (
    MOST_ALSO,
    Erase,
    EraseCitizen,
    EraseCollective,
    ErasedCopy,
    EraseEpisode,
    EraseMemory,
    ErasureReport,
    Removed,
    Writer,
)
from schemas.errors import Conflict, NotAuthor, NotFound
from schemas.memory import GraphKey, Level, graph_fields, graph_key, level_of
from schemas.temporal import Instant, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.engine import append_log
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name, origin_of
from substrate.graphs.registry import every_graph
from substrate.language.text import query_words, word_language
from substrate.store import erasure
from substrate.store.derived import COPIES_AT_ONCE, MADE, forget_made_tags, read_copies, read_told, walk_ids
from substrate.store.erasure import ErasureMark, ErasureNote, ErasureTarget, Kind
from substrate.store.kept import Kept, erase_receipts, forget_kept
from substrate.store.stream_notes import stamp_erased

PRESUMED_RUNNING_US: Final = 600 * 1_000_000
"""An erasure on a server counts as still running for ten minutes; after that another process may finish it."""
SERVER_NOTE: Final = (
    "the erased data may still be in snapshots, replicas and backups of the server: "
    "write a new snapshot and remove old ones"
)
COPIES_ALONE: Final = "the original was erased before; its copies are erased now"
FINISHED_LATE: Final = "an earlier attempt was interrupted; it has been finished since"


class ErasedStore(NamedTuple):
    """The store from which something is erased: `directory` is that of the embedded engine, None for a server.

    `features` say what its graphs hold beside records. `deps`: what else holds copies in this process and beside
    the store; None where only the store is open.
    """

    connection: Connection
    directory: Path | None
    features: Features
    deps: Deps | None = None


async def erase(
    command: Erase, deps: Deps, now: Instant, directory: Path | None, *, beside: Sequence[ErasureTarget] = ()
) -> ErasureReport:
    """Remove the memory, episode, citizen or collective from the store, and from each of `PLACES`.

    What the command names in `also`, and what is given `beside`, goes with it. A note of all is stored first. If
    the erasure is interrupted, the next process that opens the store finishes it; so does the same erasure sent
    again, under any command id. `directory` is that of the embedded engine, None for a server. Raises NotFound
    when there is nothing to erase, Conflict when the command id was used for another erasure, NotAuthor for what
    another wrote in N2 or N3, Unavailable when the engine does not answer or cannot rewrite its log, and
    InvalidRequest when a mirror cannot be rewritten; what was removed before the failure stays removed.
    """
    if isinstance(command, EraseMemory | EraseEpisode):
        await check_authors(command, deps)
    command_id = command.command_id or uuid4().hex
    key = erased_graph(command)
    target = _target(command, graph_name(key, getattr(command, "citizen_id", None)))
    also = [ErasureTarget("memory", target.graph, each) for each in getattr(command, "also", ())]
    connection = deps.connection
    async with erasure.shared_lock(directory):
        own_mark = await erasure.read_mark(Graph(connection, target.graph), command_id)
        present = {each for each in (target, *also) if await _exists(each, connection)}
        exists = target in present
        digests = set(map(ErasureTarget.digest, (target, *also, *beside)))
        noted = await erasure.read_notes(connection)
        notes = {name: note for name, note in noted.items() if note.digest in digests}
        is_unknown = not (exists or own_mark or notes)
        is_gone = is_unknown and not present
        late_mark = await erasure.read_named_mark(connection, target.digest()) if is_gone else None
        if not (beside and is_unknown):
            is_there = bool(present) if own_mark else exists
            _check(command, exists=is_there, mark=own_mark or late_mark, is_running=bool(notes))
        for each in also if exists and not (own_mark or notes) else ():
            if each not in present:
                raise NotFound(f"there is no memory {each.id} in {key}, which `also` names")
        mark = own_mark or late_mark or ErasureMark(now)
        is_done = mark.log_rewritten is not None and not notes and not beside
        report = _report(target, key, mark, command_id=command_id, is_done=is_done)
        said = [FINISHED_LATE] if late_mark else [COPIES_ALONE] if beside and is_unknown else []
        report = report.model_copy(update={"notes": (*said, *(() if directory is not None else (SERVER_NOTE,)))})
        if is_done:
            return report
        new = _notes((*also, *beside), mark.at, deps)
        note = _note(target, mark.at, deps)
        if not note.graph:
            note = note._replace(made=await erasure.read_made(Graph(connection, target.graph)))
        new |= {erasure.mark_name(target.graph, command_id): note}
        opened = await _reopen([target, *also], deps, now) if key is Level.N1 and exists else []
        await erasure.begin(connection, new)
        removed, rewritten = await _carry_out(notes | new, ErasedStore(connection, directory, deps.features, deps))
    told = {"removed": Removed(**removed[target.graph]), "notes": (*opened, *report.notes)}
    return report.model_copy(update={**told, "log_rewritten": rewritten})


async def describe(command: EraseMemory, deps: Deps, now: Instant) -> ErasureReport:
    """The report of an erasure that is only tried. Raises NotFound and NotAuthor as `erase` does."""
    await check_authors(command, deps)
    target = _target(command, graph_name(command.graph_key, command.citizen_id))
    _check(command, exists=await _exists(target, deps.connection), mark=None, is_running=False)
    report = _report(target, command.graph_key, ErasureMark(now), command_id=command.command_id or uuid4().hex)
    return report.model_copy(update={"dry_run": True})


def erased_graph(command: Erase) -> GraphKey:
    """The graph from which the command erases, or which it erases."""
    if isinstance(command, EraseMemory | EraseEpisode):
        return command.graph_key
    return graph_key(Level.N2, command.collective) if isinstance(command, EraseCollective) else Level.N1


async def erase_memories(ids: Sequence[str], graph: Graph, deps: Deps, now: Instant) -> int:
    """Remove some memories of one graph, then empty `PLACES` once. Returns how many were there.

    All are noted first, so that an interrupted call is finished when the store is opened again. Raises Unavailable
    and InvalidRequest as `erase` does.
    """
    if not ids:
        return 0
    async with erasure.shared_lock(deps.directory):
        targets = [ErasureTarget("memory", graph.name, memory_id) for memory_id in ids]
        notes = _notes(targets, now, deps)
        with suppress(GraphMissing):
            await reopen(ids, graph, deps, now)
        await erasure.begin(deps.connection, notes)
        removed, _ = await _carry_out(notes, ErasedStore(deps.connection, deps.directory, deps.features, deps))
    return removed[graph.name]["memories"]


async def _reopen(targets: Sequence[ErasureTarget], deps: Deps, now: Instant) -> list[str]:
    """Before anything is noted, since nobody does it who finishes an interrupted erasure. As `reopen`."""
    graph = Graph(deps.connection, targets[0].graph)
    gone = [target.id for target in targets if target.kind == "memory"]
    if targets[0].kind == "episode":
        async for ids in walk_ids(graph, targets[0].id):
            gone += ids
    return await reopen(gone, graph, deps, now) if gone else []


def _notes(targets: Iterable[ErasureTarget], at: Instant, deps: Deps) -> dict[str, ErasureNote]:
    return {erasure.mark_name(each.graph, uuid4().hex): _note(each, at, deps) for each in targets}


def _note(target: ErasureTarget, at: Instant, deps: Deps) -> ErasureNote:
    graph = target.graph if target.kind in ("memory", "episode") else ""
    return ErasureNote(at, target.digest(), target, graph, None if deps.mirror is None else str(deps.mirror))


def _report(
    target: ErasureTarget, key: GraphKey, mark: ErasureMark, *, command_id: str, is_done: bool = False
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
    """Finish interrupted erasures and return their number.

    Erasures that another process still runs are not touched. Raises Unavailable as `erase` does.
    """
    connection = store.connection
    async with erasure.exclusive_lock(store.directory) as is_alone:
        notes = await erasure.read_notes(connection) if is_alone else {}
        if store.directory is None:  # no lock tells of the other processes of a server
            latest = await connection.now() - PRESUMED_RUNNING_US
            notes = {name: note for name, note in notes.items() if note.at < latest}
        if notes:
            await _carry_out(notes, store, late=True)
    return len(notes)


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
    for each in (target, *(ErasureTarget("memory", graph.name, one) for one in getattr(command, "also", ()))):
        if command.level is Level.N1 or not await _exists(each, deps.connection):
            continue
        authors = await erasure.authors(graph, each.id, of_episode=each.kind == "episode")
        if not may_erase_as(command.writer, authors, command.level):
            other = next((author for author in authors if author != command.writer.author), None)
            raise NotAuthor(author_fault(each.id, other, command.writer))


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
    return target.graph in await every_graph(connection)


async def _carry_out(
    notes: dict[str, ErasureNote], store: ErasedStore, *, late: bool = False
) -> tuple[dict[str, Counter[str]], bool]:
    """Remove what the notes name, empty all places, and remove the notes. Safe to repeat.

    Returns what was removed from each graph, and whether the server has a log. Without `deps` a note that names a
    mirror stays, for the next process that can reach it.
    """
    groups: dict[tuple[Kind, str], dict[str, ErasureNote]] = {}
    for name, note in notes.items():
        if note.target is not None:
            groups.setdefault((note.target.kind, note.target.graph), {})[name] = note
    removed: dict[str, Counter[str]] = defaultdict(Counter)
    for (kind, graph), some in groups.items():
        removed[graph] += await _remove(kind, Graph(store.connection, graph), some, store.features.kept)
    for empty in PLACES:
        await empty(store, list(notes.values()))
    rewritten = bool((await append_log.read_persistence(store.connection))["aof_enabled"])
    for name, note in notes.items():
        if store.deps is not None or note.mirror is None:
            await erasure.finish(store.connection, name, note, log_rewritten=rewritten, late=late)
    return removed, rewritten


async def _remove(kind: Kind, graph: Graph, notes: dict[str, ErasureNote], kept: Sequence[Kept]) -> Counter[str]:
    """Remove the targets of the notes from their graph, and note that they are gone."""
    ids = [note.target.id for note in notes.values() if note.target is not None]
    removed: Counter[str] = Counter()
    try:
        if kind in ("citizen", "collective"):
            delete = partial(erasure.delete_noted_graph, graph, notes.values())
            removed += await erasure.erase_graph(graph, delete, kept)
        else:
            await erasure.existing_ids(graph, ids)  # raises GraphMissing; a write would make the graph anew
            await stamp_erased(graph, max(note.at for note in notes.values()))
            for episode_id in ids if kind == "episode" else ():
                while memories := await erasure.episode_memories(graph, episode_id):
                    removed += await _remove_memories(memories, graph, kept)
                ingestion = ingestion_id(episode_id)
                links, lone_ids = await erasure.erase_episode_links(graph, episode_id, ingestion)
                removed += links + await _remove_memories(lone_ids, graph, kept)
                removed["receipts"] += await erase_receipts(graph, [episode_id], [ingestion])
                await forget_kept(graph, [episode_id], kept)  # what names its command
            if kind == "memory":
                removed += await _remove_memories(ids, graph, kept)
            removed += await _remove_unused(graph, kept)
    except GraphMissing:
        pass  # the graph was removed meanwhile, and the targets with it
    await erasure.note_all_removed(graph.connection, notes)
    return removed


async def _forget_in_process(store: ErasedStore, notes: Sequence[ErasureNote]) -> None:
    """Which graph an interrupted erasure removed is known no more: then nothing of any graph is kept."""
    for note in notes:
        store.connection.forget_kept(note.left_in)
    if store.deps is not None and not all(note.graph for note in notes):
        store.deps.graphs.forget()
        existing = await every_graph(store.connection)
        for graph in store.deps.notes.graphs():
            if graph not in existing:
                store.deps.notes.take(graph)


async def _forget_queries(store: ErasedStore, notes: Sequence[ErasureNote]) -> None:
    for graph in {note.left_in or "" for note in notes}:
        await erasure.forget_queries(Graph(store.connection, graph))


async def _rewrite_log(store: ErasedStore, notes: Sequence[ErasureNote]) -> None:
    """Rewrite the log, and remove the snapshots of killed backups."""
    await append_log.rewrite(store.connection)
    if store.directory is not None:
        await append_log.remove_stale_snapshots(store.directory)


async def _rewrite_mirrors(store: ErasedStore, notes: Sequence[ErasureNote]) -> None:
    """If a mirror cannot be rewritten, the erasure counts as unfinished and is tried again."""
    if store.deps is None or store.deps.erased is None:
        return
    own = set() if store.deps.mirror is None else {store.deps.mirror}
    graphs = {note.left_in for note in notes}
    if None in graphs:
        graphs.update(await every_graph(store.connection))
    for directory in own | {Path(note.mirror) for note in notes if note.mirror}:
        for graph in graphs:
            await store.deps.erased(store.deps, graph, directory)


async def _drop_parked_files(store: ErasedStore, notes: Sequence[ErasureNote]) -> None:
    for graph in {note.left_in for note in notes}:
        await store.connection.parked.drop_copies(graph)


PLACES: Final = (_forget_in_process, _forget_queries, _drop_parked_files, _rewrite_log, _rewrite_mirrors)
"""What empties each place beside the graphs that keeps copies. Log and mirrors come after what they could copy."""


async def _remove_memories(ids: Sequence[str], graph: Graph, kept: Sequence[Kept]) -> Counter[str]:
    """Remove memories, and first the made tags that may come from them.

    A tag may have come to others from these texts. So each made tag with a word of them is removed everywhere;
    upkeep makes those again that other texts give.
    """
    for some in batched(ids, erasure.MEMORIES_AT_ONCE):
        names: set[str] = set()
        for name, text, tags in await read_told(graph, some):
            for key, phrase in extract_phrases(f"{name}. {text or ''}").items():
                names |= {f"{MADE}{key}", f"#{phrase}"}
            for tag in orjson.loads(tags or "[]"):
                names |= {f"{MADE}{tag_key(tag)}", f"#{tag.strip()}"}
        await forget_made_tags(graph, sorted(names))
    return await erasure.erase_memories(graph, ids, kept)


async def _remove_unused(graph: Graph, kept: Sequence[Kept]) -> Counter[str]:
    """Remove what was made of names in erased texts alone, and the tags that no record has.

    A tag that a past record has stays, as that record does.
    """
    names = await erasure.erase_names_of_nothing(graph, kept)
    unused = await erasure.unused_tags(graph)
    if unused:
        async for tags, buckets in erasure.past_labels(graph):
            unused.difference_update(stored_tag_names({"tags": tags, "buckets": buckets}))
    return names + Counter(tags=await erasure.erase_tags(graph, unused) if unused else 0)


LEAST_NUMBER: Final = 3
"""A shorter number stands in texts that have nothing to do with each other."""
MOST_NAMED: Final = 1_000
"""At most this many copies are named in a report; more are counted."""


class FoundCopy(NamedTuple):
    """A copy of something that is erased."""

    key: GraphKey
    id: str


async def erase_naming_copies(command: Erase, deps: Deps, now: Instant, directory: Path | None) -> ErasureReport:
    """Erase as `erase` does, which says what is raised; the report names the copies that others can see.

    `with_copies` takes along those that are the eraser's own; a copy that another citizen has written to stays.
    """
    if isinstance(command, EraseCollective):
        return await erase(command, deps, now, directory)
    repeats: list[str] = []
    if isinstance(command, EraseMemory):
        graph = deps.graph(graph_name(command.graph_key, command.citizen_id))
        with suppress(GraphMissing):
            repeats = await find_repeats([command.id, *command.also], graph)
    found = [copy async for copy in _copies_of(command, deps)]
    own: set[FoundCopy] = set()
    eraser = Writer(author=command.citizen_id, steward=False)  # on N1 the citizen itself, who is their author
    if isinstance(command, EraseMemory | EraseEpisode) and command.level is not Level.N1:
        eraser = command.writer
    for copy in found if command.with_copies else ():
        authors = await erasure.authors(deps.graph(graph_name(copy.key, None)), copy.id)
        if may_erase_as(eraser, authors, level_of(copy.key)):
            own.add(copy)
    beside = [ErasureTarget("memory", graph_name(copy.key, None), copy.id) for copy in found if copy in own]
    if isinstance(command, EraseMemory) and command.dry_run:
        report = await describe(command, deps, now)
    else:
        report = await erase(command, deps, now, directory, beside=beside)
    named = [ErasedCopy(**graph_fields(copy.key), id=copy.id, erased=copy in own) for copy in found[:MOST_NAMED]]
    said = {"copies": tuple(named), "further_copies": max(0, len(found) - MOST_NAMED), "repeats": tuple(repeats)}
    return report.model_copy(update=said)


async def find_repeats(ids: Sequence[str], graph: Graph) -> list[str]:
    """Other memories that tell what these tell, at most `MOST_ALSO`, those with the most of their words first.

    A memory does so when it holds a rare number of their texts, or half of the rare words. A word is rare when
    fewer than `MOST_HOLDERS` memories hold it.
    """
    told = ""
    for name, text, _ in await read_told(graph, ids):
        told += f" {name}. {text or ''}"
    holders = await erasure.read_holders(graph, query_words(told, word_language(told)))
    rare = {word: held for word, held in holders.items() if len(held) < erasure.MOST_HOLDERS}
    shared: Counter[str] = Counter()
    for word, held in rare.items():
        is_number = len(word) >= LEAST_NUMBER and any(map(str.isdigit, word))
        for memory_id in held.difference(ids):
            shared[memory_id] += len(rare) if is_number else 1
    return [memory_id for memory_id, count in shared.most_common(MOST_ALSO) if 2 * count >= len(rare)]


async def _copies_of(command: EraseMemory | EraseEpisode | EraseCitizen, deps: Deps) -> AsyncIterator[FoundCopy]:
    """The copies of what is erased, and the copies of these."""
    keys = [key for key, _ in map(origin_of, await every_graph(deps.connection)) if key != Level.N1]
    if not keys:
        return
    key = erased_graph(command)
    graph = deps.graph(graph_name(key, command.citizen_id))
    async for ids in _erased_ids(command, graph):
        pending = [(key, graph.name, ids)]
        while pending:
            own, name, originals = pending.pop()
            for above in (each for each in keys if level_of(each) > level_of(own)):
                target = graph_name(above, None)
                copies: list[str] = []
                for some in batched([copy_id(name, each) for each in originals], COPIES_AT_ONCE):
                    copies += [copy.id for copy in await read_copies(deps.graph(target), some)]
                for found in copies:
                    yield FoundCopy(above, found)
                if copies:
                    pending.append((above, target, copies))


async def _erased_ids(
    command: EraseMemory | EraseEpisode | EraseCitizen, graph: Graph
) -> AsyncIterator[Sequence[str]]:
    """The ids of the memories that the command erases, in lists of bounded length."""
    if isinstance(command, EraseMemory):
        yield [command.id, *command.also]
        return
    episode = command.episode_id if isinstance(command, EraseEpisode) else None
    try:
        async for ids in walk_ids(graph, episode):
            yield ids
    except GraphMissing:
        return
