"""What the mirror adds to the core: a job, and the keeper of a directory of mirrors.

The keeper writes a mirror some seconds after a write, and at once after an erasure.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.mirror.flow import erase_from_mirror, is_in_step, take_snapshot, update_mirror
from orchestration.features.mirror.layout import MirrorOf
from orchestration.upkeep.job import Job, JobContext, Page
from schemas.errors import NotFound, SubstrateError
from schemas.memory import GraphKey, Level
from schemas.temporal import Instant
from substrate.graphs.names import graph_name, origin_of

PERIOD_S: Final = 3600
"""A mirror follows each write within seconds: this is for what ends of itself, and what other processes wrote."""


class MirrorJob(Job):
    """It runs where a directory of mirrors is set. It changes nothing in the store: there is nothing to undo."""

    name = "mirror"
    period_s = PERIOD_S

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        """One page: the mirror of one graph is in step, or is to be written."""
        directory, of = context.deps.mirror, MirrorOf(context.key, context.citizen_id)
        if directory is None:
            return Page(0)
        if await is_in_step(of, context.deps, directory, context.now):
            return Page(1)
        return Page(1, beside=(of, directory), shown=(f"write the mirror of {of.name} in {directory}",))

    async def keep(self, context: JobContext, page: Page) -> int:
        """Write what changed; returns how many files that were. Edited files are held back."""
        if not page.beside:
            return 0
        of, directory = page.beside
        snapshot = await take_snapshot(of, context.deps, context.now, context.rest)
        report = await update_mirror(snapshot, Path(directory), context.rest)
        return report.written + report.removed

    async def undo(self, context: JobContext) -> int:
        """Nothing: a mirror shows the store, and follows it when other runs are undone."""
        return 0


logger = logging.getLogger(__name__)

QUIET_S: Final = 2.0
"""A mirror is written when nothing was written to the store for this long,"""
LATEST_S: Final = 30.0
"""or when the first write is this long ago."""


class MirrorKeeper:
    """The mirrors in one directory: each graph has a folder."""

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
        if graph == graph_name(*origin_of(graph)):
            self._changed.add(graph)
            self._wake.set()

    async def note_all(self) -> None:
        """Look at all mirrors: somebody may have written or erased while no service ran."""
        graphs = await self._open().graphs.existing_or_parked()
        for graph in graphs:
            self.note(graph)
        try:
            if graphs:  # an empty store is rather the wrong one
                await self.erased(self._open(), None, self.directory)
        except SubstrateError as error:
            logger.error("mirrors of what is gone may be left: %s %s", error.detail, error.remedy)

    async def erased(self, deps: Deps, graph: str | None, directory: Path) -> None:
        """Take out of the mirror of a graph what the store no longer holds; with None, the mirrors of lost graphs.

        Raises InvalidRequest when a mirror cannot be written, Unavailable when the store does not answer.
        """
        of = None if graph is None else MirrorOf(*origin_of(graph))
        async with self._turn:
            if await asyncio.to_thread(directory.exists):
                await erase_from_mirror(of, deps, directory, await deps.connection.now())

    async def write_changed(self) -> None:
        """Write the mirrors of the graphs that were written to. A failure is logged; the next write tries anew."""
        async with self._turn:
            changed, self._changed = self._changed, set()
            for graph in sorted(changed):
                await self._write(graph)

    async def _write(self, graph: str) -> None:
        deps = self._open()
        of = MirrorOf(*origin_of(graph))
        try:
            now = await deps.connection.now()
            if await is_in_step(of, deps, self.directory, now):
                return
            report = await update_mirror(await take_snapshot(of, deps, now), self.directory)
        except NotFound:
            return  # it was erased, and its mirror with it
        except SubstrateError as error:
            logger.error("the mirror of %s was not written: %s %s", of.name, error.detail, error.remedy)
            self._changed.add(graph)
            return
        if report.held_back:
            logger.warning(
                "the mirror of %s has %d edited files, which were not written", of.name, len(report.held_back)
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


async def read_pages(
    key: GraphKey, citizen_id: str | None, deps: Deps, now: Instant, *, page: str
) -> tuple[dict[str, int], str | None]:
    """The files of a mirror as it is now, with their characters, and the text of the one that is named `page`."""
    try:
        snapshot = await take_snapshot(MirrorOf(key, citizen_id if key is Level.N1 else None), deps, now)
    except NotFound:
        return {}, None
    files = {bundle.path: bundle for bundle in snapshot.plan.bundles}
    text: str | None = None
    async for rendered in snapshot.render([files[page]] if page in files else ()):
        for _, content in rendered:
            text = content.decode()
    return {path: bundle.length for path, bundle in files.items()}, text


FEATURE: Final = Feature("mirror", jobs=(MirrorJob(),), keeper=MirrorKeeper, sections={"pages": read_pages})
