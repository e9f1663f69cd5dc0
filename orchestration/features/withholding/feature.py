"""The policies of a graph, and the jobs `retention` and `erasure`: what they do not keep goes, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final, NamedTuple

import orjson

from orchestration.dependencies import Deps, Rest, no_rest
from orchestration.feature import Feature
from orchestration.features.withholding import quarantine, rules
from orchestration.features.withholding import queries as store
from orchestration.features.withholding.quarantine import read_links, read_memories
from orchestration.features.withholding.values import (
    MOST_SHOWN,
    PoliciesAnswer,
    Policy,
    PolicyReach,
    PolicyRule,
    Reached,
    SetPolicy,
)
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.writing import erasure
from orchestration.writing.changes import may_change, record_source
from schemas.base import Identifier
from schemas.collectives import GraphRequest
from schemas.commands import Command, Retract, Unrelate
from schemas.errors import Conflict, NotFound
from schemas.memory import Level, Source, graph_fields
from schemas.operation import Method, Operation, graph_may, group
from schemas.temporal import Instant, to_datetime
from substrate import bitemporal
from substrate.bitemporal import Record, is_open
from substrate.graphs.graph import Graph
from substrate.store.kept import Kept


class Survey(NamedTuple):
    """What a rule reaches in a whole graph: how many of how many memories, and the first of them."""

    cut: rules.Place | None
    reached: int
    total: int
    first: Sequence[rules.Row]


async def survey(graph: Graph, rule: PolicyRule, now: Instant, rest: Rest = no_rest) -> Survey:
    """Count what the rule reaches, page by page. Raises as `Graph.read`."""
    cut = None
    if rule.keep_newest is not None:
        newest = rules.NewestCut(rule.keep_newest)
        async for rows in _pages(graph, rest):
            for row in rows:
                if rules.is_about(rule, row):
                    newest.add(rules.place(rule, row))
        cut = newest.place
    reached = total = 0
    first: list[rules.Row] = []
    async for rows in _pages(graph, rest):
        total += len(rows)
        found = rules.reached_by(rule, rows, now, cut)
        reached += len(found)
        first += found[: MOST_SHOWN - len(first)]
    return Survey(cut, reached, total, first)


async def _pages(graph: Graph, rest: Rest) -> AsyncIterator[Sequence[rules.Row]]:
    after: int | None = -1
    while after is not None:
        page = await store.read_kept(graph, after)
        yield page.rows
        after = page.next
        await rest()


def may_act_on(records: Iterable[Record], by: Source, level: Level) -> bool:
    """True when the source may retract all that is believed of an identity."""
    return all(may_change(by, record_source(record), level) for record in filter(is_open, records))


async def read_policies(graph: Graph) -> list[Policy]:
    """The policies of a graph, by name. Raises as `Graph.read`."""
    return [Policy(**data) for data in (await store.read_policies(graph)).values()]


async def list_policies(request: GraphRequest, deps: Deps) -> PoliciesAnswer:
    """The policies of a graph, by name."""
    graph = await deps.graph_if_any(request.graph_key, request.citizen_id)
    return PoliciesAnswer(policies=() if graph is None else tuple(await read_policies(graph)))


async def show_policy(name: Identifier, request: GraphRequest, deps: Deps, now: Instant) -> PolicyReach:
    """A policy and what it reaches now.

    Raises NotFound for an unknown one.
    """
    graph, policy = await _find(name, request, deps)
    return _reach(policy, await survey(graph, policy.rule, now), stored=True)


async def set_policy(name: Identifier, request: SetPolicy, deps: Deps, now: Instant) -> PolicyReach:
    """Store a policy, in place of one with the same name; with `dry_run` only count what it reaches.

    One that reaches more than half of the graph is refused (409) until `confirm` is the count that it reaches.

    Raises Conflict for such a one, NotFound when the graph does not exist.
    """
    graph = await deps.existing_graph(request.graph_key, request.citizen_id)
    found = await survey(graph, request.rule(), now)
    policy = Policy(name=name, rule=request.rule(), confirmed=request.confirm or 0)
    reach = _reach(policy, found, stored=not request.dry_run)
    if request.dry_run:
        return reach
    if rules.asks(found.reached, found.total, 0) and request.confirm != found.reached:
        does = "erase" if request.action == "erase" else "retract"
        fault = f"the policy {name} would {does} {found.reached:,} of {found.total:,} memories"
        raise Conflict(fault, remedy=f"If you mean it, send confirm: {found.reached}.")
    await store.set_policy(graph, name, policy.model_dump(mode="json"), now)
    return reach


async def remove_policy(name: Identifier, request: GraphRequest, deps: Deps) -> Policy:
    """Remove a policy. What it reached before stays as it is.

    Raises NotFound for an unknown one.
    """
    graph, policy = await _find(name, request, deps)
    if not await store.remove_policy(graph, name):
        raise NotFound(f"there is no policy {name} here")
    return policy


async def _find(name: str, request: GraphRequest, deps: Deps) -> tuple[Graph, Policy]:
    graph = await deps.existing_graph(request.graph_key, request.citizen_id)
    for policy in await read_policies(graph):
        if policy.name == name:
            return graph, policy
    raise NotFound(f"there is no policy {name} here")


def _reach(policy: Policy, found: Survey, *, stored: bool) -> PolicyReach:
    return PolicyReach(
        policy=policy,
        stored=stored,
        reached=found.reached,
        total=found.total,
        asks=rules.asks(found.reached, found.total, policy.confirmed),
        shown=tuple(Reached(id=row.id, name=row.name) for row in found.first),
    )


MEMORIES_A_PAGE: Final = 50
"""A page looks at this many memories; each that is retracted takes its links along."""


class Position(NamedTuple):
    """Where a run stands: in which policy, after which memory, and the place that `keep_newest` keeps from."""

    policy: str
    after: int
    cut: rules.Place | None

    @classmethod
    def read(cls, cursor: str) -> Position:
        policy, after, cut = orjson.loads(cursor)
        return cls(policy, after, None if cut is None else (cut[0], cut[1]))

    def text(self) -> str:
        return orjson.dumps(tuple(self)).decode()


class PolicyPage(NamedTuple):
    """The memories of a page that one policy does not keep."""

    policy: Policy
    rows: Sequence[rules.Row]
    seen: int
    next: str | None
    notes: tuple[str, ...] = ()

    def describe(self, verb: str) -> tuple[str, ...]:
        """The page in words, for a dry run."""
        return (*(f"{verb} {row.id} ({row.name}) by policy {self.policy.name}" for row in self.rows), *self.notes)


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
    rows = rules.reached_by(policy.rule, page.rows, context.now, at.cut)
    later = _after(policy, policies) if page.next is None else at._replace(after=page.next).text()
    return PolicyPage(policy, rows, page.seen, later)


def _after(policy: Policy, policies: Sequence[Policy]) -> str | None:
    is_last = not any(each.name > policy.name for each in policies)
    return None if is_last else Position(policy.name, -1, None).text()


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
        return Page(page.seen, page.next, tuple(commands), shown=page.describe("retract"), notes=page.notes)


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
        allowed = tuple(each for each, records in memories.items() if may_act_on(records, by, context.level))
        refused = len(page.rows) - len(allowed)
        left = (f"{refused:,} stay: source {by} may not change them",) if refused else ()
        rows = [row for row in page.rows if row.id in allowed]
        told = page._replace(rows=rows, notes=(*page.notes, *left))
        return Page(page.seen, page.next, beside=allowed, shown=told.describe("erase"), notes=told.notes)

    async def keep(self, context: JobContext, page: Page) -> int:
        """Erase the memories of the page, then rewrite the log once. Returns how many were there."""
        return await erasure.erase_memories(page.beside, context.graph, context.deps, context.now)


READS: Final = graph_may("read", upkeep=True)
CHANGES: Final = graph_may(
    "write",
    "upkeep, and citizen:ID:write or LEVEL:write; citizen:ID:erase or LEVEL:erase for what erases",
    upkeep=True,
    source="by",
)

QUARANTINES: Final = group(
    "upkeep",
    Operation("quarantine", "POST /v1/upkeep/quarantine", "Hide what came from a source",
              CHANGES, quarantine.quarantine,
              call=Method(says="Hide what came from a source, an episode or a key, and what follows from it; "
                               "`dry_run` only lists it.", once=True)),
    Operation("list_quarantines", "GET /v1/upkeep/quarantine", "List quarantines",
              READS, quarantine.list_quarantines),
    Operation("get_quarantine", "GET /v1/upkeep/quarantine/{quarantine_id}", "Read a quarantine",
              READS, quarantine.read_quarantine),
    Operation("release_quarantine", "POST /v1/upkeep/quarantine/{quarantine_id}/release",
              "Bring back what a quarantine hid", CHANGES, quarantine.release,
              call=Method(says="Bring back everything that it hid, but what was changed since.")),
    Operation("retract_quarantine", "POST /v1/upkeep/quarantine/{quarantine_id}/retract",
              "Make a quarantine final", CHANGES, quarantine.retract,
              call=Method(says="Make it final: what it hid stays retracted.")),
)  # fmt: skip
POLICIES: Final = group(
    "upkeep",
    Operation("list_policies", "GET /v1/upkeep/policies", "List policies of retention",
              READS, list_policies, call=Method(says="The policies of retention of a graph, by name.")),
    Operation("get_policy", "GET /v1/upkeep/policies/{name}", "Read a policy and what it reaches",
              READS, show_policy),
    Operation("set_policy", "PUT /v1/upkeep/policies/{name}", "Say how long memories are kept",
              CHANGES, set_policy,
              call=Method(says="Store a policy, or with `dry_run` count what it reaches.\n\nRaises Conflict when "
                               "it reaches more than half of the graph and `confirm` is not that count.")),
    Operation("remove_policy", "DELETE /v1/upkeep/policies/{name}", "Remove a policy of retention",
              graph_may("write", upkeep=True), remove_policy, call=Method(once=True)),
)  # fmt: skip
OPERATIONS: Final = (*QUARANTINES, *POLICIES)
FEATURE: Final = Feature(
    "withholding",
    operations=OPERATIONS,
    kept=(
        Kept("Quarantine", why="has what its writer named: a source, an episode, a tag", is_carried=True),
        Kept("RetentionPolicy", why="has what its writer named", is_carried=True),
    ),
    jobs=(RetentionJob(), ErasureJob()),
    tells={
        "quarantine": "A quarantine was made (its `type` is `hidden`), `released` or made final (`retracted`)."
    },
)
