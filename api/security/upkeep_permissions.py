"""Permissions of the routes of upkeep, declared as those of `permissions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from api.security.permissions import Arguments, Caller, PathValues, Permission, in_graph
from schemas.commands import Writer
from schemas.keys import Action
from schemas.memory import GraphKey, Level, graph_key, level_of
from schemas.upkeep import ApplyCommand, SweepRequest
from schemas.upkeep.quality import QualityRequest
from schemas.upkeep.runs import OwnUpkeep, RunRequest, RunsQuery


def steward_of(caller: Caller, graph: GraphKey, citizen_id: str | None) -> Writer:
    """The caller as writer of what upkeep changes: a steward, since the scope `upkeep` is the operator's."""
    return caller.writer_of(graph, citizen_id)._replace(steward=True)


def _check_upkeep_path(caller: Caller, _path: PathValues) -> None:
    caller.require_upkeep()


UPKEEP: Final = Permission.of_path("upkeep", _check_upkeep_path)


def _check_sweep(caller: Caller, arguments: Arguments) -> Arguments:
    caller.require_upkeep()
    request: SweepRequest = arguments["request"]
    graphs = request.chosen() if request.levels else caller.readable(request.chosen())
    for graph in graphs or (Level.N2,):
        caller.require(graph, request.citizen_id, "read")
    levels = tuple(dict.fromkeys(map(level_of, graphs)))
    return {**arguments, "request": request.model_copy(update={"levels": levels})}


SWEEP: Final = Permission("upkeep, and citizen:ID:read or LEVEL:read", _check_sweep, _check_upkeep_path)


def _check_quality(caller: Caller, arguments: Arguments) -> Arguments:
    query: QualityRequest = arguments["query"]
    levels = caller.readable(arguments["levels"]) if query.level is None else arguments["levels"]
    for level in levels or (Level.N2,):
        caller.require(level, query.citizen_id, "read")
    return {**arguments, "levels": levels}


QUALITY: Final = Permission("citizen:ID:read or LEVEL:read", _check_quality)


def _check_repair(caller: Caller, arguments: Arguments) -> Arguments:
    caller.require_upkeep()
    task = arguments["request"].task
    target = task.command if isinstance(task, ApplyCommand) else task
    caller.require(target.graph_key, target.citizen_id, "write")
    if isinstance(task, ApplyCommand) and "source" in task.command.model_fields_set:
        caller.require_source(task.command.source)
    return arguments


REPAIR: Final = Permission("upkeep, and citizen:ID:write or LEVEL:write", _check_repair, _check_upkeep_path)


OFFER: Final = Permission("citizen:ID:write or LEVEL:write", in_graph("write", "reply"))

ERASING: Final = "erasure"
"""The job that erases."""


def may_reach(caller: Caller, graph: GraphKey, citizen_id: str | None, action: Action) -> bool:
    """True when the caller may do the action in this graph."""
    if graph != Level.N1:
        return action in caller.grants.level_actions(graph)
    return citizen_id is not None and action in caller.grants.citizen_actions(citizen_id)


def _in_graphs(action: Action) -> Callable[[Caller, Arguments], Arguments]:
    """Requires the action in the graphs that the request names; upkeep when it names no citizen."""

    def check(caller: Caller, arguments: Arguments) -> Arguments:
        request: RunRequest | RunsQuery = next(
            value for value in arguments.values() if isinstance(value, (RunRequest, RunsQuery))
        )
        if request.citizen_id is None and request.collective is None:
            caller.require_upkeep()
        for graph in _named_graphs(request):
            caller.require(graph, request.citizen_id, action)
        if isinstance(request, RunRequest):
            _check_erasing(caller, request)
        return arguments

    return check


def _named_graphs(request: RunRequest | RunsQuery) -> tuple[GraphKey, ...]:
    """The graphs that the request names; N1 where it names a citizen alone."""
    if request.collective is not None:
        return (graph_key(Level.N2, request.collective),)
    named = request.levels if isinstance(request, RunRequest) else request.level and (request.level,)
    return named or ((Level.N1,) if request.citizen_id else ())


def _check_erasing(caller: Caller, request: RunRequest) -> None:
    """What erases needs the right to erase, as everywhere."""
    if ERASING not in (request.jobs or ()) or caller.grants.admin:
        return
    if request.citizen_id is None and request.collective is None:
        caller.require_admin()
    for graph in _named_graphs(request):
        caller.require(graph, request.citizen_id, "erase")


def _check_own(caller: Caller, arguments: Arguments) -> Arguments:
    caller.require(Level.N1, arguments["citizen_id"], "write")
    own: OwnUpkeep = arguments["own"]
    if ERASING in (own.jobs or ()):
        caller.require(Level.N1, arguments["citizen_id"], "erase")
    return arguments


OWN: Final = Permission(
    "citizen:ID:write; also :erase to name the job that erases",
    _check_own,
    lambda caller, path: caller.require(Level.N1, path["citizen_id"], "write"),
)


RUNS: Final = Permission("citizen:ID:read; upkeep for all graphs that the key may read", _in_graphs("read"))
RUN: Final = Permission(
    "citizen:ID:write; upkeep for all graphs that the key may write; also :erase to erase", _in_graphs("write")
)
RUN_BY_ID: Final = Permission("citizen:ID:read or LEVEL:read, and to take it back :write")
"""For routes that name a run alone, which look at `may_reach` when they know whose it is."""
