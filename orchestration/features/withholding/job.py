"""The jobs `retention` and `erasure`: what the policies of a graph do not keep goes, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from orchestration.features.withholding import queries as store
from orchestration.features.withholding import rules
from orchestration.features.withholding.quarantine import read_links, read_memories
from orchestration.features.withholding.retention import may_act_on, read_policies, row_of, survey
from orchestration.features.withholding.rules import Place, Row
from orchestration.features.withholding.values import Policy
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.writing import erasure
from schemas.commands import Command, Retract, Unrelate
from schemas.memory import graph_fields
from schemas.temporal import to_datetime
from substrate import bitemporal

MEMORIES_A_PAGE: Final = 50
"""A page looks at this many memories; each that is retracted takes its links along."""


class Position(NamedTuple):
    """Where a run stands: in which policy, after which memory, and the place that `keep_newest` keeps from."""

    policy: str
    after: int
    cut: Place | None

    @classmethod
    def read(cls, cursor: str) -> Position:
        policy, after, cut = orjson.loads(cursor)
        return cls(policy, after, None if cut is None else (cut[0], cut[1]))

    def text(self) -> str:
        return orjson.dumps(tuple(self)).decode()


class PolicyPage(NamedTuple):
    """The memories of a page that one policy does not keep."""

    policy: Policy
    rows: Sequence[Row]
    seen: int
    next: str | None
    notes: tuple[str, ...] = ()


async def plan_page(context: JobContext, cursor: str | None, action: str) -> PolicyPage | None:
    """The next page of the policies with this action; None at the end.

    Each policy is counted first. One that reaches more than it may without being asked is left out with a note.
    """
    policies = [each for each in await read_policies(context.graph) if each.rule.action == action]
    at = None if cursor is None else Position.read(cursor)
    if at is not None and at.after >= 0:
        current = next((each for each in policies if each.name == at.policy), None)
        if current is not None:
            return await _read(context, current, at, policies)
    done = "" if at is None else at.policy
    new = next((each for each in policies if each.name > done), None)
    if new is None:
        return None
    found = await survey(context.graph, new.rule, context.now, context.rest)
    if rules.asks(found.reached, found.total, new.confirmed):
        counts = f"{found.reached:,} of {found.total:,} memories"
        note = f"policy {new.name} would reach {counts}: it asks for confirmation"
        return PolicyPage(new, (), found.total, _after(new, policies), (note,))
    return await _read(context, new, Position(new.name, -1, found.cut), policies)


async def _read(context: JobContext, policy: Policy, at: Position, policies: Sequence[Policy]) -> PolicyPage:
    page = await store.read_kept(context.graph, at.after, MEMORIES_A_PAGE)
    rows = rules.reached_by(policy.rule, list(map(row_of, page.rows)), context.now, at.cut)
    later = _after(policy, policies) if page.next is None else at._replace(after=page.next).text()
    return PolicyPage(policy, rows, page.seen, later)


def _after(policy: Policy, policies: Sequence[Policy]) -> str | None:
    """Where the next policy begins; None after the last."""
    is_last = not any(each.name > policy.name for each in policies)
    return None if is_last else Position(policy.name, -1, None).text()


def describe(page: PolicyPage, verb: str) -> tuple[str, ...]:
    """The page in words, for a dry run."""
    lines = [f"{verb} {row.id} ({row.name}) by policy {page.policy.name}" for row in page.rows]
    return (*lines, *page.notes)


class RetentionJob(Job):
    """Retracts what policies do not keep, with the links of it, in the name of who set the policy."""

    name = "retention"

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        page = await plan_page(context, cursor, "retract")
        if page is None:
            return Page(0)
        by = page.policy.rule.by
        fields: dict[str, Any] = {**graph_fields(context.key), "citizen_id": context.citizen_id, "source": by}
        memories = await read_memories(context.graph, [row.id for row in page.rows])
        allowed = [memory_id for memory_id, records in memories.items() if may_act_on(records, by, context.level)]
        await context.rest()
        links = await read_links(context.graph, await store.read_links_at(context.graph, allowed))
        commands: list[Command] = []
        # Retractions over all valid time; the links of what may be retracted end with it, before it.
        for kind, found in ((Unrelate, links), (Retract, memories)):
            for record_id, records in found.items():
                holds = bitemporal.open_records(records)
                if holds:
                    start = to_datetime(holds[0].valid.start)
                    commands.append(kind(**fields, id=record_id, effective_at=start, reason="reality_changed"))
        return Page(page.seen, page.next, tuple(commands), shown=describe(page, "retract"), notes=page.notes)


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
