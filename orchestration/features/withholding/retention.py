"""The policies of a graph: stored after a count, listed, removed; and what each of them reaches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import NamedTuple

from orchestration.dependencies import Deps, Rest, no_rest
from orchestration.features.withholding import queries as store
from orchestration.features.withholding import rules
from orchestration.features.withholding.rules import NewestCut, Place, Row
from orchestration.features.withholding.values import (
    MOST_SHOWN,
    PoliciesAnswer,
    Policy,
    PolicyReach,
    PolicyRule,
    Reached,
    SetPolicy,
)
from orchestration.writing.changes import may_change, record_source
from schemas.base import Identifier
from schemas.collectives import GraphRequest
from schemas.errors import Conflict, NotFound
from schemas.memory import Level, ResolutionState, Source
from schemas.temporal import Instant
from substrate.bitemporal import Record, is_open
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name


class Survey(NamedTuple):
    """What a rule reaches in a whole graph: how many of how many memories, and the first of them."""

    cut: Place | None
    reached: int
    total: int
    first: Sequence[Row]


async def survey(graph: Graph, rule: PolicyRule, now: Instant, rest: Rest = no_rest) -> Survey:
    """Count what the rule reaches, page by page. Raises as `Graph.read`."""
    cut = None
    if rule.keep_newest is not None:
        newest = NewestCut(rule.keep_newest)
        async for rows in _pages(graph, rest):
            for row in rows:
                if rules.is_about(rule, row):
                    newest.add(rules.place(rule, row))
        cut = newest.place
    reached = total = 0
    first: list[Row] = []
    async for rows in _pages(graph, rest):
        total += len(rows)
        found = rules.reached_by(rule, rows, now, cut)
        reached += len(found)
        first += found[: MOST_SHOWN - len(first)]
    return Survey(cut, reached, total, first)


async def _pages(graph: Graph, rest: Rest) -> AsyncIterator[list[Row]]:
    after: int | None = -1
    while after is not None:
        page = await store.read_kept(graph, after)
        yield list(map(row_of, page.rows))
        after = page.next
        await rest()


def row_of(kept: store.KeptRow) -> Row:
    """A memory as the rules read it; one from before sources were stored counts as written by the citizen."""
    source = Source(kept.source or Source.CITIZEN)
    state = None if kept.state is None else ResolutionState(kept.state)
    return Row(kept.id, kept.name, source, kept.node_type, kept.tags, state, kept.written, kept.happened)


def may_act_on(records: Iterable[Record], by: Source, level: Level) -> bool:
    """True when the source may retract all that is believed of an identity."""
    return all(may_change(by, record_source(record), level) for record in filter(is_open, records))


async def read_policies(graph: Graph) -> list[Policy]:
    """The policies of a graph, by name. Raises as `Graph.read`."""
    return [Policy(**data) for data in (await store.read_policies(graph)).values()]


async def list_policies(request: GraphRequest, deps: Deps) -> PoliciesAnswer:
    """The policies of a graph, by name."""
    name = graph_name(request.graph_key, request.citizen_id)
    if not await deps.graphs.for_reading(name):
        return PoliciesAnswer()
    return PoliciesAnswer(policies=tuple(await read_policies(deps.graph(name))))


async def show_policy(name: Identifier, request: GraphRequest, deps: Deps, now: Instant) -> PolicyReach:
    """A policy and what it reaches now.

    Raises NotFound for an unknown one.
    """
    graph = await deps.existing_graph(request.graph_key, request.citizen_id)
    policy = next((each for each in await read_policies(graph) if each.name == name), None)
    if policy is None:
        raise NotFound(f"there is no policy {name} here")
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
    graph = await deps.existing_graph(request.graph_key, request.citizen_id)
    policy = next((each for each in await read_policies(graph) if each.name == name), None)
    if policy is None or not await store.remove_policy(graph, name):
        raise NotFound(f"there is no policy {name} here")
    return policy


def _reach(policy: Policy, found: Survey, *, stored: bool) -> PolicyReach:
    return PolicyReach(
        policy=policy,
        stored=stored,
        reached=found.reached,
        total=found.total,
        asks=rules.asks(found.reached, found.total, policy.confirmed),
        shown=tuple(Reached(id=row.id, name=row.name) for row in found.first),
    )
