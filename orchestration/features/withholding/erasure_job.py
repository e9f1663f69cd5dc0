"""Erasing policies as a job: what they do not keep is removed for good. It runs only where it is named."""

from __future__ import annotations

from orchestration.features.withholding.quarantine_search import read_memories
from orchestration.features.withholding.retention import may_act_on
from orchestration.features.withholding.retention_job import describe, plan_page
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.writing import erasure


class ErasureJob(Job):
    """Removes what erasing policies do not keep. What the source of a policy may not change stays."""

    name = "erasure"
    undoable = False
    default = False

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        page = await plan_page(context, cursor, "erase")
        if page is None:
            return Page(0)
        by = page.policy.rule.by
        memories = await read_memories(context.graph, [row.id for row in page.rows])
        allowed = tuple(
            memory_id for memory_id, records in memories.items() if may_act_on(records, by, context.level)
        )
        refused = len(page.rows) - len(allowed)
        left = (f"{refused:,} stay: source {by} may not change them",) if refused else ()
        rows = [row for row in page.rows if row.id in allowed]
        told = page._replace(rows=rows, notes=(*page.notes, *left))
        return Page(page.seen, page.next, beside=allowed, shown=describe(told, "erase"), notes=told.notes)

    async def keep(self, context: JobContext, page: Page) -> int:
        """Erase the memories of the page, then rewrite the log once. Returns how many were there."""
        return await erasure.erase_memories(page.beside, context.graph, context.deps, context.now)
