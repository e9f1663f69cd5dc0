"""What each route needs of its caller, declared in one line above it: `@needs(citizen_may("read"))`.

A route without a declaration is for administrators alone, and a test fails until it has one.

Whoever names a citizen that no scope of its key names gets the 404 of a citizen that nobody has heard of, before
anything is looked up: neither the answer nor its time tells whether there is one. A 403 speaks only of what the
key knows of: another action on a citizen within its reach, a shared level, upkeep, administration.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Annotated, Any, Final, NamedTuple

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from api.security.authentication import OPEN, Principal
from orchestration.writing import trust
from schemas.association import TagWalk
from schemas.commands import Command, Writer
from schemas.errors import Forbidden, InvalidRequest, NotFound
from schemas.intention import Asking, RetrievalIntention, StateBasedRetrieval
from schemas.keys import Action
from schemas.memory import Level, Source
from schemas.upkeep import ApplyCommand, SweepRequest
from schemas.wave_signal import Resonate
from substrate.connection.turns import ask_for

type Given = dict[str, Any]
type Endpoint = Callable[..., Awaitable[Any]]

ASK_FOR_IT: Final = "Ask an administrator for a key with the scope {}."


class Caller:
    """Who calls, asked for each thing that the request needs.

    For the audit log: `citizens` are those it named, `commands` the ids of those it had carried out.
    """

    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.grants = principal.grants
        self.citizens: set[str] = set()
        self.commands: list[str] = []

    def need(self, level: Level, citizen_id: str | None, action: Action) -> None:
        """Raises NotFound for a citizen out of reach, Forbidden for an action that the scopes do not allow."""
        if citizen_id is not None:
            self.need_reach(citizen_id)
        if level is not Level.N1:
            _demand(action in self.grants.of_level(level), f"{level}:{action}")
        elif citizen_id is None:
            raise InvalidRequest("citizen_id: level N1 is personal: name its citizen_id")
        else:
            _demand(action in self.grants.of_citizen(citizen_id), f"citizen:{citizen_id}:{action}")

    def need_reach(self, citizen_id: str) -> None:
        """Raises NotFound when no scope of the caller names the citizen."""
        self.citizens.add(citizen_id)
        ask_for(citizen_id)
        if not self.grants.of_citizen(citizen_id):
            raise NotFound(f"nothing was remembered for {citizen_id} yet")

    def need_anywhere(self, action: Action, *, shared: bool = True) -> None:
        """Raises Forbidden when no scope allows the action on any citizen, nor with `shared` on a shared level."""
        scope = f"citizen:ID:{action}" + (f" or LEVEL:{action}" if shared else "")
        _demand(self.grants.anywhere(action, shared=shared), scope)

    def need_source(self, source: Source) -> None:
        """Raises Forbidden for a source that weighs more than the caller may claim."""
        highest = self.principal.highest_source
        if trust.outweighs(source, highest):
            raise Forbidden(
                f"this key may claim at most {highest} as the source of what it writes, not {source}",
                remedy="Leave source out, or ask an administrator for a key with a higher source.",
            )

    def as_its_source[C: Command](self, command: C) -> C:
        """The command; without a source it is of at most the caller's. Raises Forbidden for a higher claim."""
        source = getattr(command, "source", None)
        if source is None:
            return command
        if "source" in command.model_fields_set:
            self.need_source(source)
            return command
        own = trust.lower(source, self.principal.highest_source)
        return command if own is source else command.of_source(own)

    def writer_of(self, level: Level, citizen_id: str | None) -> Writer:
        """Who writes there. What is shared is in the name of a citizen for whom the caller may write: of the one
        that is named, else of the only one that the key is for.
        """
        key_id = None if self.principal is OPEN else self.principal.key_id
        author = None
        if level is not Level.N1:
            named = citizen_id or self.grants.only_citizen()
            author = named if named is not None and "write" in self.grants.of_citizen(named) else None
        return Writer(key_id, author, self.principal.highest_source)

    def need_upkeep(self) -> None:
        """Raises Forbidden unless the caller may look after graphs."""
        _demand(self.grants.upkeep or self.grants.admin, "upkeep")

    def need_admin(self) -> None:
        """Raises Forbidden unless the caller is an administrator."""
        _demand(self.grants.admin, "admin")

    def readable(self, levels: tuple[Level, ...]) -> tuple[Level, ...]:
        """Those of the levels that the caller may read; N1 is asked for by its citizen."""
        return tuple(one for one in levels if one is Level.N1 or "read" in self.grants.of_level(one))


def _demand(allowed: bool, scope: str) -> None:
    if not allowed:
        raise Forbidden(f"this needs the scope {scope}", remedy=ASK_FOR_IT.format(scope))


KEY: Final = HTTPBearer(scheme_name="key", description="A key (`sk-…`) or a JWT.", auto_error=False)
"""For the documentation; the gate has read the key before."""


async def caller_of(request: Request, _documented: Annotated[object, Depends(KEY)] = None) -> Caller:
    """The caller, as the gate found it."""
    caller: Caller = request.state.caller
    return caller


CallerOf = Annotated[Caller, Depends(caller_of)]


type Path = Mapping[str, Any]
type Beforehand = Callable[[Caller, Path], None]


def _anybody(_caller: Caller, _path: Path) -> None:
    pass


class Need(NamedTuple):
    """What a route needs: in words, and as the check of its parsed arguments, which may narrow them.

    `beforehand` asks what the path alone tells, before a body is read: it refuses whom no body could let through.
    """

    said: str
    check: Callable[[Caller, Given], Given]
    beforehand: Beforehand = _anybody


def needs(need: Need) -> Callable[[Endpoint], Endpoint]:
    """The mark of an endpoint: it is called only with what the caller may have."""

    def declare(endpoint: Endpoint) -> Endpoint:
        if need is PUBLIC:
            endpoint.__need__ = need  # type: ignore[attr-defined]
            return endpoint
        signature = inspect.signature(endpoint, eval_str=True)
        parameters = dict(signature.parameters)
        parameters["caller_"] = inspect.Parameter("caller_", inspect.Parameter.KEYWORD_ONLY, annotation=CallerOf)

        @wraps(endpoint)
        async def guarded(*, caller_: Caller, **given: Any) -> Any:
            return await endpoint(**need.check(caller_, given))

        guarded.__signature__ = signature.replace(parameters=list(parameters.values()))  # type: ignore[attr-defined]
        guarded.__need__ = need  # type: ignore[attr-defined]
        return guarded

    return declare


def declared(endpoint: Any) -> Need | None:
    """What the endpoint says that it needs."""
    need: Need | None = getattr(endpoint, "__need__", None)
    return need


def described(need: Need) -> dict[str, str]:
    """What the OpenAPI document says of it."""
    return {"x-needs": need.said}


async def closed_unless_declared(request: Request) -> None:
    """A route that declares nothing is for administrators alone."""
    if declared(request.scope.get("endpoint")) is None:
        (await caller_of(request)).need_admin()


def _anywhere(action: Action, *, shared: bool = True) -> Beforehand:
    """For routes whose body says on what they act."""

    def ask(caller: Caller, _path: Path) -> None:
        caller.need_anywhere(action, shared=shared)

    return ask


def _nothing(_caller: Caller, given: Given) -> Given:
    return given


PUBLIC: Final = Need("nothing", _nothing)
"""For routes that the gate lets everybody through to."""
ANY_KEY: Final = Need("any key", _nothing)


def _admin(caller: Caller, given: Given) -> Given:
    caller.need_admin()
    return given


ADMIN: Final = Need("admin", _admin, lambda caller, _path: caller.need_admin())


def citizen_may(action: Action) -> Need:
    """Of the citizen in the path, or of the body or query called `body` that names one."""

    def check(caller: Caller, given: Given) -> Given:
        said = given.get("citizen_id") or next(
            value.citizen_id for value in given.values() if hasattr(value, "citizen_id")
        )
        caller.need(Level.N1, said, action)
        return given

    def ask(caller: Caller, path: Path) -> None:
        if "citizen_id" in path:
            caller.need(Level.N1, path["citizen_id"], action)
        else:
            caller.need_anywhere(action, shared=False)

    return Need(f"citizen:ID:{action}", check, ask)


def memory_may(action: Action) -> Need:
    """Of the memory at `place`, whose citizen the query names."""

    def check(caller: Caller, given: Given) -> Given:
        asked = given.get("asked") or given["whose"]
        caller.need(given["place"].level, asked.citizen_id, action)
        return given

    return Need(f"citizen:ID:{action} or LEVEL:{action}", check)


def _commands(caller: Caller, given: Given) -> Given:
    return {**given, "writing": given["writing"]._replace(caller=caller)}


COMMANDS: Final = Need("citizen:ID:write or LEVEL:write, for each command", _commands, _anywhere("write"))
"""For routes that write what `api.request_parsing.writes` parses: it asks the caller for each command."""

ERASURES: Final = Need("citizen:ID:erase or LEVEL:erase", _commands, _anywhere("erase"))
"""For routes that erase. No scope but `admin` erases from N2 and N3."""


def _listing(caller: Caller, given: Given) -> Given:
    caller.need(given["asked"].level, given["asked"].citizen_id, "read")
    return given


LISTING: Final = Need("citizen:ID:read or LEVEL:read", _listing)


def _receipt(caller: Caller, given: Given) -> Given:
    """Shared levels that were not asked for by name are left out where they may not be read."""
    where, levels = given["where"], given["levels"]
    if where.level is not None or where.citizen_id is not None:
        caller.need(levels[0], where.citizen_id, "read")
    return {**given, "levels": caller.readable(levels)}


RECEIPT: Final = Need("citizen:ID:read or LEVEL:read", _receipt)


_QUESTIONS: Final = (RetrievalIntention, StateBasedRetrieval, Resonate, TagWalk)


def _asking(caller: Caller, given: Given) -> Given:
    """Levels that were not asked for by name are left out where they may not be read, and a note says so."""
    name, asked = next((name, value) for name, value in given.items() if isinstance(value, _QUESTIONS))
    caller.need(Level.N1, asked.citizen_id, "read")
    if isinstance(asked, Asking) and asked.apply_feedback:
        caller.need(Level.N1, asked.citizen_id, "write")
    levels = asked.query_levels
    readable = caller.readable(levels)
    if readable == levels:
        return given
    if "query_levels" in asked.model_fields_set:
        for level in levels:
            caller.need(level, asked.citizen_id, "read")
    left = ", ".join(level for level in levels if level not in readable)
    narrowed = asked.model_copy(update={"query_levels": readable})
    return {**given, name: narrowed.noting(f"{left} was left out: the key may not read it")}


ASKING: Final = Need(
    "citizen:ID:read; also :write with apply_feedback; LEVEL:read for N2 and N3",
    _asking,
    _anywhere("read", shared=False),
)


def _upkeep(caller: Caller, given: Given) -> Given:
    caller.need_upkeep()
    return given


def _may_keep_up(caller: Caller, _path: Path) -> None:
    caller.need_upkeep()


UPKEEP: Final = Need("upkeep", _upkeep, _may_keep_up)


def _sweep(caller: Caller, given: Given) -> Given:
    caller.need_upkeep()
    request: SweepRequest = given["request"]
    levels = request.chosen() if request.levels else caller.readable(request.chosen())
    for level in levels or (Level.N2,):
        caller.need(level, request.citizen_id, "read")
    return {**given, "request": request.model_copy(update={"levels": levels})}


SWEEP: Final = Need("upkeep, and citizen:ID:read or LEVEL:read", _sweep, _may_keep_up)


def _repair(caller: Caller, given: Given) -> Given:
    caller.need_upkeep()
    task = given["request"].task
    of = task.command if isinstance(task, ApplyCommand) else task
    caller.need(of.level, of.citizen_id, "write")
    if isinstance(task, ApplyCommand) and "source" in task.command.model_fields_set:
        caller.need_source(task.command.source)
    return given


def _conversation(caller: Caller, given: Given) -> Given:
    caller.need(Level.N1, given["conversation"].citizen_id, "write")
    caller.need_source(Source.INGESTION)
    if given["conversation"].extract_facts:
        caller.need_source(Source.TOOL)
    return given


def _may_tell(caller: Caller, _path: Path) -> None:
    caller.need_anywhere("write", shared=False)


CONVERSATION: Final = Need("citizen:ID:write", _conversation, _may_tell)
"""For what is ingested: its source is ingestion, and that of its facts tool."""

REPAIR: Final = Need("upkeep, and citizen:ID:write or LEVEL:write", _repair, _may_keep_up)
