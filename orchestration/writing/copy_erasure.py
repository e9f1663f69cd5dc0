"""Erases with regard to copies: the report names those that were shared, and `with_copies` takes them along."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import batched
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.writing import authorship, erasure
from orchestration.writing.copies import copy_id
from schemas.commands import (
    Erase,
    EraseCitizen,
    EraseCollective,
    EraseEpisode,
    EraseMemory,
    ErasureReport,
    Writer,
)
from schemas.commands.erasure import ErasedCopy
from schemas.errors import NotFound
from schemas.memory import GraphKey, Level, graph_fields, level_of
from schemas.temporal import Instant, to_datetime
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name, origin_of
from substrate.graphs.registry import existing_graphs
from substrate.store import erasure as store
from substrate.store import sharing

MOST_NAMED: Final = 1_000
"""At most so many copies are named in a report; more are counted."""


class FoundCopy(NamedTuple):
    """A copy of something that is erased."""

    key: GraphKey
    id: str


async def erase(command: Erase, deps: Deps, now: Instant, directory: Path | None) -> ErasureReport:
    """Erase as `erasure.erase` does, which says what is raised; the report names the copies that others can see.

    With `with_copies` the copies go first: an interrupted call is finished by sending it again. A copy that
    another citizen has written to stays.
    """
    if isinstance(command, EraseCollective):
        return await erasure.erase(command, deps, now, directory)
    if isinstance(command, EraseMemory | EraseEpisode) and command.with_copies:
        await erasure.check_authors(command, deps)
    found = [copy async for copy in _copies_of(command, deps)]
    erased = await _erase_copies(found, _eraser(command), deps, now) if command.with_copies else set()
    try:
        report = await erasure.erase(command, deps, now, directory)
    except NotFound:
        if not erased or not isinstance(command, EraseMemory):
            raise
        report = ErasureReport(
            command_id=command.command_id or uuid4().hex,
            erased="memory",
            erased_at=to_datetime(now),
            level=command.level,
            collective=command.collective,
            log_rewritten=True,
            notes=("the original was erased before; its copies are erased now",),
        )
    named = [
        ErasedCopy(**graph_fields(copy.key), id=copy.id, erased=copy in erased) for copy in found[:MOST_NAMED]
    ]
    return report.model_copy(update={"copies": tuple(named), "further_copies": max(0, len(found) - MOST_NAMED)})


def _eraser(command: EraseMemory | EraseEpisode | EraseCitizen) -> Writer:
    """Who erases the copies: on N1 the citizen itself, who is their author."""
    if isinstance(command, EraseMemory | EraseEpisode) and command.level is not Level.N1:
        return command.writer
    return Writer(author=command.citizen_id, steward=False)


async def _copies_of(command: EraseMemory | EraseEpisode | EraseCitizen, deps: Deps) -> AsyncIterator[FoundCopy]:
    """The copies of what is erased, and the copies of these."""
    keys = [key for key, _ in map(origin_of, await existing_graphs(deps.connection)) if key != Level.N1]
    if not keys:
        return
    key = erasure.erased_graph(command)
    graph = deps.graph(graph_name(key, command.citizen_id))
    async for ids in _erased_ids(command, graph):
        pending = [(key, graph.name, ids)]
        while pending:
            own, name, originals = pending.pop()
            for above in (each for each in keys if level_of(each) > level_of(own)):
                copies = await _copies_in(above, name, originals, deps)
                for copy in copies:
                    yield copy
                if copies:
                    pending.append((above, graph_name(above, None), [copy.id for copy in copies]))


async def _erased_ids(
    command: EraseMemory | EraseEpisode | EraseCitizen, graph: Graph
) -> AsyncIterator[Sequence[str]]:
    """The ids of the memories that the command erases, in lists of bounded length."""
    if isinstance(command, EraseMemory):
        yield [command.id]
        return
    episode = command.episode_id if isinstance(command, EraseEpisode) else None
    try:
        async for ids in sharing.walk_ids(graph, episode):
            yield ids
    except GraphMissing:
        return


async def _copies_in(key: GraphKey, origin: str, ids: Sequence[str], deps: Deps) -> list[FoundCopy]:
    """The copies in one graph of these memories of the graph `origin`."""
    graph = deps.graph(graph_name(key, None))
    found: list[FoundCopy] = []
    for some in batched([copy_id(origin, each) for each in ids], sharing.IDS_AT_ONCE):
        found += [FoundCopy(key, copy.id) for copy in await sharing.read_copies(graph, some)]
    return found


async def _erase_copies(found: Sequence[FoundCopy], eraser: Writer, deps: Deps, now: Instant) -> set[FoundCopy]:
    """Erase those of the copies that are the eraser's own. Returns them."""
    erased: set[FoundCopy] = set()
    for key in dict.fromkeys(copy.key for copy in found):
        graph = deps.graph(graph_name(key, None))
        own = [
            copy
            for copy in found
            if copy.key == key
            and authorship.may_erase_as(eraser, await store.authors(graph, copy.id), level_of(key))
        ]
        await erasure.erase_memories([copy.id for copy in own], graph, deps, now)
        erased.update(own)
    return erased
