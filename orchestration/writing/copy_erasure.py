"""Erases with regard to copies: the report names those that were shared, and `with_copies` takes them along."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import batched
from pathlib import Path
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.identifiers import copy_id
from orchestration.writing import authorship, erasure
from schemas.commands import (
    Erase,
    EraseCitizen,
    EraseCollective,
    EraseEpisode,
    EraseMemory,
    ErasureReport,
    Writer,
)
from schemas.commands.erasure import MOST_ALSO, ErasedCopy
from schemas.memory import GraphKey, Level, graph_fields, level_of
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name, origin_of
from substrate.graphs.registry import existing_graphs
from substrate.language.text import query_words, word_language
from substrate.store import erasure as store
from substrate.store.derived import COPIES_AT_ONCE, read_copies, read_told, walk_ids
from substrate.store.erasure import ErasureTarget

LEAST_NUMBER: Final = 3
"""A shorter number stands in texts that have nothing to do with each other."""
MOST_NAMED: Final = 1_000
"""At most this many copies are named in a report; more are counted."""


class FoundCopy(NamedTuple):
    """A copy of something that is erased."""

    key: GraphKey
    id: str


async def erase(command: Erase, deps: Deps, now: Instant, directory: Path | None) -> ErasureReport:
    """Erase as `erasure.erase` does, which says what is raised; the report names the copies that others can see.

    `with_copies` takes along those that are the eraser's own; a copy that another citizen has written to stays.
    """
    if isinstance(command, EraseCollective):
        return await erasure.erase(command, deps, now, directory)
    repeats: list[str] = []
    if isinstance(command, EraseMemory):
        graph = deps.graph(graph_name(command.graph_key, command.citizen_id))
        with suppress(GraphMissing):
            repeats = await find_repeats([command.id, *command.also], graph)
    found = [copy async for copy in _copies_of(command, deps)]
    own: set[FoundCopy] = set()
    for copy in found if command.with_copies else ():
        authors = await store.authors(deps.graph(graph_name(copy.key, None)), copy.id)
        if authorship.may_erase_as(_eraser(command), authors, level_of(copy.key)):
            own.add(copy)
    beside = [ErasureTarget("memory", graph_name(copy.key, None), copy.id) for copy in found if copy in own]
    if isinstance(command, EraseMemory) and command.dry_run:
        report = await erasure.describe(command, deps, now)
    else:
        report = await erasure.erase(command, deps, now, directory, beside=beside)
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
    holders = await store.read_holders(graph, query_words(told, word_language(told)))
    rare = {word: held for word, held in holders.items() if len(held) < store.MOST_HOLDERS}
    shared: Counter[str] = Counter()
    for word, held in rare.items():
        is_number = len(word) >= LEAST_NUMBER and any(map(str.isdigit, word))
        for memory_id in held.difference(ids):
            shared[memory_id] += len(rare) if is_number else 1
    return [memory_id for memory_id, count in shared.most_common(MOST_ALSO) if 2 * count >= len(rare)]


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
        yield [command.id, *command.also]
        return
    episode = command.episode_id if isinstance(command, EraseEpisode) else None
    try:
        async for ids in walk_ids(graph, episode):
            yield ids
    except GraphMissing:
        return


async def _copies_in(key: GraphKey, origin: str, ids: Sequence[str], deps: Deps) -> list[FoundCopy]:
    """The copies in one graph of these memories of the graph `origin`."""
    graph = deps.graph(graph_name(key, None))
    found: list[FoundCopy] = []
    for some in batched([copy_id(origin, each) for each in ids], COPIES_AT_ONCE):
        found += [FoundCopy(key, copy.id) for copy in await read_copies(graph, some)]
    return found
