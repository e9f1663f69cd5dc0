"""The job `sweep`: checks a graph page by page and keeps the summary of what it found.

At its end it drops the notes of streams that are too old, also those of a citizen who asks nothing more, and
closes threads that were told as solved to a process that ended before it closed them. It changes no other record.

Whether two memories say the same, and how complete a memory is with the links of others, is known only when the
whole graph was read: 40 bytes for each memory, too much for a cursor. So the process that sweeps keeps these, and
the cursor says how far it is. A run that goes on in another process begins again at the first page: it only reads,
and what counts is the summary, which a run keeps once.
"""

from __future__ import annotations

from typing import Final

from orchestration.mind.stream_notes import drop_old_notes
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.upkeep.quality import keep_report
from orchestration.upkeep.sweep import Sweep, finish_sweep, open_sweep, sweep_page
from orchestration.writing.thread_closing import close_left
from schemas.upkeep.findings import SweepReport
from substrate.connection.errors import GraphMissing
from substrate.store import quality as store

MOST_UNFINISHED: Final = 16
"""So many unfinished sweeps are kept; the oldest is dropped for the next, and begins again if it goes on."""


class SweepJob(Job):
    """One sweep of each graph a day. It can be undone: that drops the summary."""

    name = "sweep"

    def __init__(self) -> None:
        self._unfinished: dict[tuple[str, str], tuple[str, Sweep]] = {}

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        """Sweep the next page. The last page has the summary of all; a graph that is gone has none."""
        # It is kept again after its next page: half a page would count twice.
        place, run = self._unfinished.pop(_key(context), (None, None))
        if place != cursor:
            run = None
        after = -1 if run is None or cursor is None else int(cursor)
        if run is None:
            run = await open_sweep(context.key, context.citizen_id, context.deps, listed=0)
        if run is None:
            return Page(0)

        async def pause(_worked: float) -> None:
            await context.rest()

        run.pause = pause
        seen = run.nodes
        try:
            last = await sweep_page(run, after)
            if last is not None and str(last) == cursor:
                # It began again and is as far as the one before: a run must not name the same page twice.
                last = await sweep_page(run, last)
            if last is not None:
                self._keep_unfinished(context, str(last), run)
                return Page(run.nodes - seen, next=str(last))
            report = await finish_sweep(run)
        except GraphMissing:
            return Page(0)  # erased since the run began
        quality = report.report
        grade = "no grade" if quality.nothing_given else quality.quality_grade
        shown = f"keep the summary: {grade}, {quality.average_completeness:.0%} complete"
        return Page(0, beside=(report,), shown=(shown,))

    async def keep(self, context: JobContext, page: Page) -> int:
        """Keep the summary, once for each run; drop old notes and close threads, which no undo takes back."""
        reports = [each for each in page.beside if isinstance(each, SweepReport)]
        kept = [
            await keep_report(context.graph, report, context.now, summary_id=context.run_id) for report in reports
        ]
        if context.citizen_id is not None and reports:
            await close_left(context.graph, context.deps, context.since or 0, context.now)
            await drop_old_notes(context.graph, context.deps, context.now)
        return sum(kept)

    async def undo(self, context: JobContext) -> int:
        """Drop the summary of the run."""
        return await store.drop_summaries(context.graph, ids=[context.run_id])

    def _keep_unfinished(self, context: JobContext, cursor: str, run: Sweep) -> None:
        self._unfinished[_key(context)] = (cursor, run)
        while len(self._unfinished) > MOST_UNFINISHED:
            del self._unfinished[next(iter(self._unfinished))]


def _key(context: JobContext) -> tuple[str, str]:
    return context.graph.name, context.run_id
