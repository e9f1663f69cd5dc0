"""Erase: remove a memory, an episode or a citizen for good, from the store and from its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Literal
from uuid import uuid4

from orchestration.deps import Deps
from orchestration.episodes import identifier
from orchestration.records import stored_tag_names
from schemas.erasure import Erase, EraseEpisode, EraseMemory, ErasureReport, Removed
from schemas.errors import Conflict, NotFound
from schemas.memory import Level
from schemas.temporal import Instant, to_datetime
from substrate import engine_log, erasure
from substrate.connection import GraphMissing
from substrate.erasure import Mark
from substrate.graph_schema import graph_name

type Kind = Literal["memory", "episode", "citizen"]

SERVER_NOTE = "snapshots, replicas and backups of the server are its own: write a new snapshot and remove old ones"


async def erase(command: Erase, deps: Deps, now: Instant, directory: Path | None) -> ErasureReport:
    """Remove what the command names, then rewrite the log. Sent again after a break, it goes on.

    `directory` is that of the embedded engine, None for a server. Raises NotFound when there is nothing to
    erase, Conflict when the command id was used for another erasure, Unavailable when the engine does not
    answer or cannot rewrite its log: what was removed by then stays removed.
    """
    command_id = command.command_id or uuid4().hex
    level = command.level if isinstance(command, EraseMemory) else Level.N1
    graph = graph_name(level, command.citizen_id)
    kind, remove = _removal(command, graph, deps)
    kept = await erasure.mark(deps.connection, graph, command_id)
    there = await _there(command, graph, deps)
    _check(command, there=there, kept=kept)
    report = ErasureReport(
        command_id=command_id,
        erased=kind,
        erased_at=to_datetime(now if kept is None else kept.at),
        level=level,
        log_rewritten=bool(kept and kept.log_rewritten),
        duplicate=kept is not None and kept.log_rewritten is not None,
        notes=() if directory is not None else (SERVER_NOTE,),
    )
    if report.duplicate:
        return report
    begun = kept or Mark(now)
    await erasure.set_mark(deps.connection, graph, command_id, begun)
    removed = await remove()
    await erasure.forget_queries(deps.connection, graph)
    rewritten = await engine_log.rewrite(deps.connection)
    if directory is not None:
        await engine_log.remove_left_snapshot(directory)
    await erasure.set_mark(deps.connection, graph, command_id, begun._replace(log_rewritten=rewritten))
    return report.model_copy(update={"removed": Removed(**removed), "log_rewritten": rewritten})


def _check(command: Erase, *, there: bool, kept: Mark | None) -> None:
    """Raises Conflict or NotFound."""
    if there and kept is not None and kept.log_rewritten is not None:
        raise Conflict(
            "this command_id was used for an erasure before, and what is named now is there",
            remedy="Send it under a new command_id if it is to be erased.",
        )
    if there or kept is not None:
        return
    if isinstance(command, EraseMemory):
        raise NotFound(f"there is no memory {command.id} in {command.level}")
    if isinstance(command, EraseEpisode):
        raise NotFound(f"citizen {command.citizen_id} has no episode {command.episode_id}")
    raise NotFound(f"nothing was remembered for {command.citizen_id} yet")


async def _there(command: Erase, graph: str, deps: Deps) -> bool:
    """Whether there is something to erase. A graph of another embedder can be erased too."""
    try:
        if isinstance(command, EraseMemory):
            return bool(await erasure.present(deps.connection, graph, [command.id]))
        if isinstance(command, EraseEpisode):
            return bool(await erasure.of_episode(deps.connection, graph, command.episode_id))
    except GraphMissing:
        return False
    return graph in await deps.graphs.existing()


def _removal(command: Erase, graph: str, deps: Deps) -> tuple[Kind, Callable[[], Awaitable[Counter[str]]]]:
    """What is erased, and what does it."""
    if isinstance(command, EraseMemory):
        return "memory", partial(_memory, command.id, graph, deps)
    if isinstance(command, EraseEpisode):
        return "episode", partial(_episode, command.episode_id, graph, deps)
    return "citizen", partial(_citizen, graph, deps)


async def _memory(memory_id: str, graph: str, deps: Deps) -> Counter[str]:
    return await erasure.memories(deps.connection, graph, [memory_id]) + await _tags(graph, deps)


async def _episode(episode_id: str, graph: str, deps: Deps) -> Counter[str]:
    connection = deps.connection
    removed: Counter[str] = Counter()
    while ids := await erasure.of_episode(connection, graph, episode_id):
        removed += await erasure.memories(connection, graph, ids)
    ingestion = identifier(f"ingest:{episode_id}")
    rest, lone = await erasure.rest_of_episode(connection, graph, episode_id, ingestion)
    removed += rest + await erasure.memories(connection, graph, lone)
    removed["receipts"] += await erasure.receipts(connection, graph, [], [ingestion])
    return removed + await _tags(graph, deps)


async def _citizen(graph: str, deps: Deps) -> Counter[str]:
    removed = await erasure.whole_graph(deps.connection, graph)
    deps.graphs.forget(graph)
    return removed


async def _tags(graph: str, deps: Deps) -> Counter[str]:
    """Remove the tags that nothing bears any more. One that only the past bears leads back to it."""
    bare = await erasure.bare_tags(deps.connection, graph)
    if bare:
        async for tags, buckets in erasure.past_tags(deps.connection, graph):
            bare.difference_update(stored_tag_names({"tags": tags, "buckets": buckets}))
    return Counter(tags=await erasure.tags(deps.connection, graph, bare) if bare else 0)
