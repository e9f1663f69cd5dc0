"""The job `mirror`: writes the mirrors anew where they are not in step with the store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from orchestration.features.mirror.layout import MirrorOf
from orchestration.features.mirror.writer import is_in_step, take_snapshot, update_mirror
from orchestration.upkeep.job import Job, JobContext, Page

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
