"""Erase: remove a memory, an episode or a citizen for good, from the store and from its files."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.identifiers import identifier
from orchestration.writing.records import stored_tag_names
from schemas.commands import Erase, EraseEpisode, EraseMemory, ErasureReport, Removed
from schemas.errors import Conflict, NotFound
from schemas.memory import Level
from schemas.temporal import Instant, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.engine import append_log
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import existing_graphs
from substrate.store import erasure, unfinished_erasures
from substrate.store.erasure import ErasureMark
from substrate.store.unfinished_erasures import ErasureNote, ErasureTarget

ABOUT_IT_US: Final = 600 * 1_000_000
"""So long whoever began an erasure on a server is taken to be about it still."""

SERVER_NOTE = "snapshots, replicas and backups of the server are its own: write a new snapshot and remove old ones"


FINISHED_LATE: Final = "it had broken off, and was finished since"


class Setting(NamedTuple):
    """Where an erasure takes place: `directory` is that of the embedded engine, None for a server."""

    connection: Connection
    directory: Path | None


async def erase(command: Erase, deps: Deps, now: Instant, directory: Path | None) -> ErasureReport:
    """Remove what the command names, then rewrite the log.

    It is noted before anything is removed. If it breaks off, whoever opens the store next finishes it, and so does
    the same erasure when it is sent again, under whatever command id. `directory` is that of the embedded engine,
    None for a server. Raises NotFound when there is nothing to erase, Conflict when the command id was used for
    another erasure, Unavailable when the engine does not answer or cannot rewrite its log: what was removed by
    then stays removed.
    """
    command_id = command.command_id or uuid4().hex
    level = command.level if isinstance(command, EraseMemory) else Level.N1
    target = _target(command, graph_name(level, command.citizen_id))
    connection = deps.connection
    async with unfinished_erasures.shared_lock(directory):
        kept = await erasure.read_mark(Graph(connection, target.graph), command_id)
        there = await _there(target, connection)
        notes = _about(target, await unfinished_erasures.read_notes(connection))
        late = None if there or kept or notes else await erasure.read_named_mark(connection, target.digest())
        _check(command, there=there, kept=kept or late, under_way=bool(notes))
        begun = kept or late or ErasureMark(now)
        done = begun.log_rewritten is not None and not notes
        report = ErasureReport(
            command_id=command_id,
            erased=target.kind,
            erased_at=to_datetime(begun.at),
            level=level,
            log_rewritten=bool(begun.log_rewritten),
            duplicate=done,
            notes=(*([FINISHED_LATE] if late else []), *(() if directory is not None else (SERVER_NOTE,))),
        )
        if done:
            return report
        name = erasure.mark_name(target.graph, command_id)
        notes[name] = ErasureNote(begun.at, target.digest(), target)
        await unfinished_erasures.begin(connection, name, notes[name])
        removed, rewritten = await _carried_out(target, Setting(connection, directory), notes)
        if target.kind == "citizen":
            deps.graphs.forget(target.graph)
    return report.model_copy(update={"removed": Removed(**removed), "log_rewritten": rewritten})


async def _carried_out(
    target: ErasureTarget, setting: Setting, notes: dict[str, ErasureNote]
) -> tuple[Counter[str], bool]:
    """Remove what was noted, from the files too; how much of each kind, and whether there is a log."""
    removed = await _removed(target, setting, notes)
    rewritten = await _written_anew(setting)
    await unfinished_erasures.finish(setting.connection, notes, log_rewritten=rewritten, late=False)
    return removed, rewritten


async def finish_broken_off(setting: Setting) -> int:
    """Finish the erasures that broke off, and rewrite the log if that or a removed graph needs it; how many.

    Those that another process is about are left to it. Raises what `erase` raises.
    """
    connection, directory = setting
    found = 0
    if await unfinished_erasures.read_notes(connection):
        async with unfinished_erasures.exclusive_lock(directory) as alone:
            notes = await _left_alone(setting) if alone else {}
            for name, note in notes.items():
                if note.target is not None:
                    await _removed(note.target, setting, {name: note})
            if notes:
                rewritten = await _written_anew(setting)
                await unfinished_erasures.finish(connection, notes, log_rewritten=rewritten, late=True)
            found = len(notes)
    await append_log.rewrite_after_deletions(connection)
    return found


async def _left_alone(setting: Setting) -> dict[str, ErasureNote]:
    """What is not finished and nobody is about. Of a server that is told by age."""
    notes = await unfinished_erasures.read_notes(setting.connection)
    if setting.directory is not None:
        return notes
    old = await setting.connection.now() - ABOUT_IT_US
    return {name: note for name, note in notes.items() if note.at < old}


def _about(target: ErasureTarget, notes: dict[str, ErasureNote]) -> dict[str, ErasureNote]:
    return {name: note for name, note in notes.items() if note.digest == target.digest()}


def _check(command: Erase, *, there: bool, kept: ErasureMark | None, under_way: bool) -> None:
    """Raises Conflict or NotFound."""
    if there and kept is not None and kept.log_rewritten is not None:
        raise Conflict(
            "this command_id was used for an erasure before, and what is named now is there",
            remedy="Send it under a new command_id if it is to be erased.",
        )
    if there or under_way or kept is not None:
        return
    if isinstance(command, EraseMemory):
        raise NotFound(f"there is no memory {command.id} in {command.level}")
    if isinstance(command, EraseEpisode):
        raise NotFound(f"citizen {command.citizen_id} has no episode {command.episode_id}")
    raise NotFound(f"nothing was remembered for {command.citizen_id} yet")


def _target(command: Erase, graph: str) -> ErasureTarget:
    if isinstance(command, EraseMemory):
        return ErasureTarget("memory", graph, command.id)
    if isinstance(command, EraseEpisode):
        return ErasureTarget("episode", graph, command.episode_id)
    return ErasureTarget("citizen", graph)


async def _there(target: ErasureTarget, connection: Connection) -> bool:
    """Whether there is something to erase. A graph of another embedder can be erased too."""
    try:
        if target.kind == "memory":
            return bool(await erasure.existing_ids(Graph(connection, target.graph), [target.id]))
        if target.kind == "episode":
            return bool(await erasure.episode_memories(Graph(connection, target.graph), target.id))
    except GraphMissing:
        return False
    return target.graph in await existing_graphs(connection)


async def _removed(target: ErasureTarget, setting: Setting, notes: dict[str, ErasureNote]) -> Counter[str]:
    """Remove the target from the graph, and note that it is gone; how much of each kind. Safe to repeat."""
    connection, graph = setting.connection, target.graph
    removed: Counter[str] = Counter()
    try:
        if target.kind == "memory":
            removed = await _memory(target.id, graph, connection)
        elif target.kind == "episode":
            removed = await _episode(target.id, graph, connection)
        else:
            delete = partial(unfinished_erasures.delete_graph, Graph(connection, graph), notes)
            removed = await erasure.erase_graph(Graph(connection, graph), delete)
    except GraphMissing:
        removed = Counter()  # it went with its graph
    await erasure.forget_queries(Graph(connection, graph))
    await unfinished_erasures.note_all_removed(connection, notes)
    return removed


async def _written_anew(setting: Setting) -> bool:
    """Rewrite the log, and remove what a killed backup left; False when the server keeps no log."""
    rewritten = await append_log.rewrite(setting.connection)
    if setting.directory is not None:
        await append_log.remove_stale_snapshots(setting.directory)
    return rewritten


async def _memory(memory_id: str, graph: str, connection: Connection) -> Counter[str]:
    return await erasure.erase_memories(Graph(connection, graph), [memory_id]) + await _tags(graph, connection)


async def _episode(episode_id: str, graph: str, connection: Connection) -> Counter[str]:
    removed: Counter[str] = Counter()
    while ids := await erasure.episode_memories(Graph(connection, graph), episode_id):
        removed += await erasure.erase_memories(Graph(connection, graph), ids)
    ingestion = identifier(f"ingest:{episode_id}")
    rest, lone = await erasure.erase_episode_links(Graph(connection, graph), episode_id, ingestion)
    removed += rest + await erasure.erase_memories(Graph(connection, graph), lone)
    removed["receipts"] += await erasure.erase_receipts(Graph(connection, graph), [], [ingestion])
    return removed + await _tags(graph, connection)


async def _tags(graph: str, connection: Connection) -> Counter[str]:
    """Remove the tags that nothing bears any more. One that only the past bears leads back to it."""
    bare = await erasure.unused_tags(Graph(connection, graph))
    if bare:
        async for tags, buckets in erasure.past_labels(Graph(connection, graph)):
            bare.difference_update(stored_tag_names({"tags": tags, "buckets": buckets}))
    return Counter(tags=await erasure.erase_tags(Graph(connection, graph), bare) if bare else 0)
