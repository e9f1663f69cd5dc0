"""Compares what an operation needs (`schemas.operation.May`) with the scopes of its caller.

A route without a declaration is for administrators alone, and a test fails until it has one.

A request for a citizen that no scope of the key names is answered with 404, as for a citizen that does not exist,
and before anything is looked up: neither the answer nor its time reveals whether the citizen exists. A 403 is sent
only where that reveals nothing: another action on a citizen in a scope, a shared level, upkeep, administration.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from api.security.authentication import OPEN_SERVICE, Principal
from orchestration.writing.changes import lower_source, outweighs
from schemas.base import Request as Asking
from schemas.collectives import MOST_ASKED, AsksGraphs, owner_of
from schemas.commands import Writer
from schemas.errors import Forbidden, InvalidRequest, NotFound
from schemas.keys import Action
from schemas.memory import GraphKey, Level, Source, collective_of, graph_key
from schemas.operation import AsCitizen, Claim, May, Need, RequestParts, Standing
from substrate.connection.turns import note_citizen
from substrate.graphs.names import graph_name

type Arguments = dict[str, Any]
"""The parsed arguments of a handler, by their names."""
type Endpoint = Callable[..., Awaitable[Any]]

REMEDY: Final = "Ask an administrator for a key with the scope {}."


class Caller:
    """The sender of a request, and what it may do. The audit log shows `citizens`, which the request named, and
    `commands`, the ids of the commands it applied. Upkeep waits for the `graphs` that it named to be idle."""

    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.grants = principal.grants
        self.citizens: set[str] = set()
        self.graphs: set[str] = set()
        self.commands: list[str] = []

    def require(self, graph: GraphKey, citizen_id: str | None, action: Action) -> None:
        """Raises NotFound for a citizen or a collective out of reach, Forbidden for an action that no scope
        allows, InvalidRequest for N1 without a citizen."""
        if citizen_id is not None:
            self.citizens.add(citizen_id)
            self.graphs.add(graph_name(Level.N1, citizen_id))
            note_citizen(citizen_id)
            if not self.grants.citizen_actions(citizen_id):
                raise NotFound(f"nothing was remembered for {citizen_id} yet")
        if graph != Level.N1:
            actions, collective = self.grants.level_actions(graph), collective_of(graph)
            if collective is not None and not actions:
                raise NotFound(f"nothing was remembered for {owner_of(graph, None)} yet")
            _require_scope(action in actions, f"{shared_scope(graph)}:{action}")
            self.graphs.add(graph_name(graph, None))
        elif citizen_id is None:
            raise InvalidRequest("citizen_id: level N1 is personal: name its citizen_id")
        else:
            _require_scope(action in self.grants.citizen_actions(citizen_id), f"citizen:{citizen_id}:{action}")

    def require_anywhere(self, action: Action, *, shared: bool = True) -> None:
        """Raises Forbidden when no scope allows the action on any citizen, nor with `shared` on a shared level."""
        scope = f"citizen:ID:{action}" + (f" or LEVEL:{action}" if shared else "")
        _require_scope(self.grants.anywhere(action, shared=shared), scope)

    def require_source(self, source: Source) -> None:
        """Raises Forbidden for a source that weighs more than the caller may claim."""
        highest = self.principal.highest_source
        if outweighs(source, highest):
            raise Forbidden(
                f"this key may claim at most {highest} as the source of what it writes, not {source}",
                remedy="Leave source out, or ask an administrator for a key with a higher source.",
            )

    def limit_source[C: BaseModel](self, command: C, name: str = "source") -> C:
        """The command, its default source lowered to the caller's highest. Raises Forbidden for a higher claim."""
        source = getattr(command, name, None)
        if source is None:
            return command
        if name in command.model_fields_set:
            self.require_source(source)
            return command
        limited = lower_source(source, self.principal.highest_source)
        return command if limited is source else command.model_copy(update={name: limited})

    def writer_of(self, graph: GraphKey, citizen_id: str | None) -> Writer:
        """The writer of a record on this level.

        On a shared level its author is `citizen_id`, else the only citizen of the key, provided that the caller
        may write for that citizen. A service without keys has a steward where no citizen is named.
        """
        is_open = self.principal is OPEN_SERVICE
        author = None
        if graph != Level.N1:
            named = citizen_id or self.grants.only_citizen()
            author = named if named is not None and "write" in self.grants.citizen_actions(named) else None
        steward = author is None if is_open else "steward" in self.grants.level_actions(graph)
        key_id = None if is_open else self.principal.key_id
        return Writer(key_id, author, self.principal.highest_source, steward=steward)

    def may(self, action: Action, graph: GraphKey, citizen_id: str | None) -> bool:
        """True when the caller may do the action in this graph."""
        if graph != Level.N1:
            return action in self.grants.level_actions(graph)
        return citizen_id is not None and action in self.grants.citizen_actions(citizen_id)

    def may_read_graph(self, graph: GraphKey) -> bool:
        """True when the caller may read a shared graph; N1 depends on the citizen, who was asked for before."""
        return graph == Level.N1 or "read" in self.grants.level_actions(graph)

    def may_read(self, citizen_id: str) -> bool:
        """True when a scope of the caller allows to read the citizen's memory."""
        return "read" in self.grants.citizen_actions(citizen_id)

    def require_upkeep(self) -> None:
        """Raises Forbidden unless the caller has the scope `upkeep`, or is an administrator."""
        _require_scope(self.grants.upkeep or self.grants.admin, "upkeep")

    def require_admin(self) -> None:
        """Raises Forbidden unless the caller is an administrator."""
        _require_scope(self.grants.admin, "admin")

    def readable[K: GraphKey](self, graphs: tuple[K, ...]) -> tuple[K, ...]:
        """The graphs without the shared ones that the caller may not read. N1 depends on the citizen and stays."""
        return tuple(filter(self.may_read_graph, graphs))


def shared_scope(graph: GraphKey) -> str:
    """The scope of a shared graph without its action: a level, or `collective:ID`."""
    collective = collective_of(graph)
    return graph if collective is None else f"collective:{collective}"


def _require_scope(allowed: bool, scope: str) -> None:
    if not allowed:
        raise Forbidden(f"this needs the scope {scope}", remedy=REMEDY.format(scope))


KEY_SCHEME: Final = HTTPBearer(scheme_name="key", description="A key (`sk-…`) or a JWT.", auto_error=False)
"""Only for the OpenAPI document; `SecurityMiddleware` has read the key before."""


async def get_caller(request: Request, _documented: Annotated[object, Depends(KEY_SCHEME)] = None) -> Caller:
    caller: Caller = request.state.caller
    return caller


CurrentCaller = Annotated[Caller, Depends(get_caller)]


type PathValues = Mapping[str, Any]


def asked_of(arguments: Arguments) -> RequestParts:
    """What was asked, of the parsed arguments of a handler: one of them is the request."""
    for value in arguments.values():
        if isinstance(value, Asking):
            return RequestParts(value, arguments)
    return RequestParts(None, arguments)


def may_override(caller: Caller, citizen_id: str) -> bool:
    """Whether the caller may write the citizen's memory as the citizen: less lifts no block and sets no state."""
    may_write = "write" in caller.grants.citizen_actions(citizen_id)
    return may_write and not outweighs(Source.CITIZEN, caller.principal.highest_source)


def check_path(may: May, caller: Caller, path: PathValues) -> None:
    """Refuse callers that no body could let through. Raises as `Caller.require`."""
    if may.scope:
        caller.require_upkeep() if may.scope == "upkeep" else caller.require_admin()
    if may.of_path:
        _require_all(may, caller, RequestParts(None, path))
    elif may.stewards:
        if not caller.grants.anywhere("steward"):
            caller.require_anywhere("erase", shared=False)
    elif may.first is not None and "citizen_id" in path:
        caller.require(Level.N1, path["citizen_id"], may.first)
    elif may.first is not None:
        caller.require_anywhere(may.first, shared=may.shared)


def authorize(may: May, caller: Caller, arguments: Arguments) -> Arguments:
    """The arguments, narrowed to what the caller may have. Raises as `Caller.require` and `require_source`."""
    if may.scope:
        caller.require_upkeep() if may.scope == "upkeep" else caller.require_admin()
    asked = asked_of(arguments)
    _require_all(may, caller, asked)
    request = asked.request
    if may.source:
        request = caller.limit_source(request, may.source)
    if may.narrows:
        request = narrow_levels(request, asked.citizen_id, caller)
    if request is asked.request:
        return arguments
    return {name: request if value is asked.request else value for name, value in arguments.items()}


def _require_all(may: May, caller: Caller, asked: RequestParts) -> None:
    for need in may.needs(asked):
        match need:
            case Need():
                caller.require(need.graph, need.citizen_id, need.action)
            case AsCitizen():
                own = may_override(caller, need.citizen_id)
                caller.require(Level.N1, need.citizen_id, "write" if own else "state")
            case Claim():
                caller.require_source(need.source)
            case Standing("upkeep"):
                caller.require_upkeep()
            case Standing():
                caller.require_admin()


def declare(endpoint: Endpoint, may: May) -> Endpoint:
    """The endpoint, with who may call it noted on it."""
    endpoint.__may__ = may  # type: ignore[attr-defined]
    return endpoint


def may_of(endpoint: Any) -> May | None:
    """Who may call the endpoint, if that is declared."""
    may: May | None = getattr(endpoint, "__may__", None)
    return may


async def admin_unless_declared(request: Request) -> None:
    """Raises Forbidden on a route that declares no permission, unless the caller is an administrator."""
    if may_of(request.scope.get("endpoint")) is None:
        (await get_caller(request)).require_admin()


def narrow_levels(question: Any, citizen_id: str, caller: Caller) -> Any:
    """The question without the shared levels that the caller may not read, or Forbidden where it names them.

    Where it names no collectives, those of the caller are added. Raises NotFound for one that the caller may not
    reach.
    """
    levels = question.query_levels
    if isinstance(question, AsksGraphs):
        question = _with_own_collectives(question, caller)
        for name in question.collectives or ():
            caller.require(graph_key(Level.N2, name), citizen_id, "read")
    readable = caller.readable(levels)
    if readable == levels:
        return question
    if "query_levels" in question.model_fields_set:
        for level in levels:
            caller.require(level, citizen_id, "read")
    omitted = ", ".join(level for level in levels if level not in readable)
    narrowed = question.model_copy(update={"query_levels": readable})
    return narrowed.with_note(f"{omitted} was left out: the key may not read it")


def _with_own_collectives(question: Any, caller: Caller) -> Any:
    """Where it names none, the collectives that the scopes of the caller name one by one, at most `MOST_ASKED`."""
    named = caller.grants.named_collectives("read")
    if question.collectives is not None or not named or Level.N2 not in question.query_levels:
        return question
    asked = question.model_copy(update={"collectives": tuple(named[:MOST_ASKED])})
    if len(named) <= MOST_ASKED:
        return asked
    return asked.with_note(
        f"the key names {len(named)} collectives, of which {', '.join(named[:MOST_ASKED])} were asked: "
        "name others in collectives"
    )
