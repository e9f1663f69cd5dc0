"""Runs a job of upkeep to its end, as the runner does: plan a page, apply it, keep what lies beside it."""

from __future__ import annotations

from typing import NamedTuple

from orchestration.dependencies import Deps
from orchestration.insertion import apply
from orchestration.upkeep.job import Job, JobContext
from schemas.commands import Command, WriteReceipt
from schemas.memory import Level
from schemas.temporal import Instant


class Ran(NamedTuple):
    """What a run did: the commands that it sent, in order, with their receipts, and what it kept or removed."""

    commands: list[Command]
    receipts: list[WriteReceipt]
    kept: int
    pages: int

    @property
    def stored(self) -> int:
        return sum(receipt.status == "stored" and not receipt.duplicate for receipt in self.receipts)


async def run_job(job: Job, deps: Deps, citizen: str, now: Instant, level: Level = Level.N1) -> Ran:
    """Run the job in one graph; every page is at the moment `now` or a little later."""
    ran = Ran([], [], 0, 0)
    cursor: str | None = None
    while True:
        moment = now + 1000 * ran.pages
        context = JobContext(deps, level, citizen if level is Level.N1 else None, "run", moment)
        page = await job.plan(context, cursor)
        receipts = await apply(page.commands, deps, moment) if page.commands else []
        ran.commands.extend(page.commands)
        ran.receipts.extend(receipts)
        ran = ran._replace(kept=ran.kept + await job.keep(context, page), pages=ran.pages + 1)
        if page.next is None:
            return ran
        cursor = page.next
