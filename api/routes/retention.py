"""Policies of retention: how long the memories of a graph are kept."""

from __future__ import annotations

from fastapi import APIRouter

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.routes.quarantine import GraphInQuery
from api.security.permissions import requires
from api.security.upkeep_permissions import GRAPH_CHANGE, GRAPH_READING, POLICY_REMOVAL
from orchestration.features.withholding import retention
from orchestration.features.withholding.values import PoliciesAnswer, Policy, PolicyReach, SetPolicy
from schemas.base import Identifier

router = APIRouter(prefix="/v1/upkeep/policies", tags=["upkeep"], route_class=StrictRoute)


@router.get("", operation_id="list_policies")
@requires(GRAPH_READING)
async def listed(query: GraphInQuery, runtime: OpenRuntime) -> PoliciesAnswer:
    """The policies of a graph, by name."""
    return await retention.list_policies(query, runtime.deps)


@router.get("/{name}", operation_id="get_policy")
@requires(GRAPH_READING)
async def shown(name: Identifier, query: GraphInQuery, runtime: OpenRuntime, now: Now) -> PolicyReach:
    """A policy and what it reaches now."""
    return await retention.show_policy(name, query, runtime.deps, now)


@router.put("/{name}", operation_id="set_policy")
@requires(GRAPH_CHANGE)
async def put(name: Identifier, request: SetPolicy, runtime: OpenRuntime, now: Now) -> PolicyReach:
    """Store a policy, in place of one with the same name; with `dry_run` only count what it reaches.

    One that reaches more than half of the graph is refused (409) until `confirm` is the count that it reaches.
    """
    return await retention.set_policy(name, request, runtime.deps, now)


@router.delete("/{name}", operation_id="remove_policy")
@requires(POLICY_REMOVAL)
async def remove(name: Identifier, query: GraphInQuery, runtime: OpenRuntime) -> Policy:
    """Remove a policy. What it reached before stays as it is."""
    return await retention.remove_policy(name, query, runtime.deps)
