"""Keeps mirrors in step with the store: some seconds after a write, and at once after an erasure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from orchestration.dependencies import Deps
from orchestration.transfer.mirror_writer import erase_from_mirror, is_in_step, take_snapshot, update_mirror
from schemas.errors import NotFound, SubstrateError
from schemas.memory import Level
from substrate.graphs.names import graph_name, origin_of

logger = logging.getLogger(__name__)

QUIET_S: Final = 2.0
"""A mirror is written when nothing was written to the store for so long,"""
LATEST_S: Final = 30.0
"""or when the first write is so long ago."""


class MirrorKeeper:
    """The mirrors in one directory. Each citizen has a folder; N2 and N3 have none."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.expanduser().absolute()
        self._deps: Deps | None = None
        self._changed: set[str] = set()
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def keep(self, deps: Deps) -> AsyncIterator[None]:
        """Within the context keep the mirrors in step; at its end write what is still to be written."""
        self._deps = deps
        deps.connection.wrote = self.note
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            await self.write_changed()

    def note(self, graph: str) -> None:
        """Remember that the graph was written to."""
        level, _ = origin_of(graph)
        if level is Level.N1 and graph == graph_name(level, origin_of(graph)[1]):
            self._changed.add(graph)
            self._wake.set()

    async def note_all(self) -> None:
        """Look at the mirrors of all citizens: somebody may have written while no service ran."""
        for citizen_id in await self._open().graphs.citizens():
            self.note(graph_name(Level.N1, citizen_id))

    async def erased(self, graph: str | None) -> None:
        """Take out of the mirror of a graph, or of all, what the store no longer holds.

        Raises InvalidRequest when a mirror cannot be written, Unavailable when the store does not answer.
        """
        deps = self._open()
        if graph is None:
            graphs = [graph_name(Level.N1, citizen_id) for citizen_id in await deps.graphs.citizens()]
        else:
            graphs = [graph]
        async with self._turn:
            for name in graphs:
                level, citizen_id = origin_of(name)
                if level is Level.N1 and citizen_id is not None:
                    await erase_from_mirror(citizen_id, deps, self.directory, await deps.connection.now())
                    self._changed.discard(name)

    async def write_changed(self) -> None:
        """Write the mirrors of the graphs that were written to. A failure is logged; the next write tries anew."""
        async with self._turn:
            changed, self._changed = self._changed, set()
            for graph in sorted(changed):
                await self._write(graph)

    async def _write(self, graph: str) -> None:
        deps = self._open()
        citizen_id = str(origin_of(graph)[1])
        try:
            now = await deps.connection.now()
            if await is_in_step(citizen_id, deps, self.directory, now):
                return
            report = await update_mirror(await take_snapshot(citizen_id, deps, now), self.directory)
        except NotFound:
            return  # it was erased, and its mirror with it
        except SubstrateError as error:
            logger.error("the mirror of %s was not written: %s %s", citizen_id, error.detail, error.remedy)
            self._changed.add(graph)
            return
        if report.held_back:
            logger.warning(
                "the mirror of %s has %d edited files, which were not written", citizen_id, len(report.held_back)
            )

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            begun = loop.time()
            while self._wake.is_set() and loop.time() < begun + LATEST_S:
                self._wake.clear()
                await asyncio.sleep(QUIET_S)
            self._wake.clear()
            await self.write_changed()

    def _open(self) -> Deps:
        if self._deps is None:
            raise RuntimeError("the mirrors are kept only while the store is open")
        return self._deps
