"""Permissions of the routes of the mind, declared as those of `permissions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from api.security.permissions import (
    ERASURE,
    Arguments,
    Caller,
    Check,
    PathValues,
    Permission,
    citizen_may,
    named_graph,
    narrow_levels,
    path_check_anywhere,
)
from orchestration.features.contexts.values import WriteContext
from orchestration.features.sharing.values import ContestedQuery, Share, Withdraw
from orchestration.mind.stream_note import citizen_of
from orchestration.writing.changes import lower_source, outweighs
from schemas.errors import NotFound
from schemas.keys import Action
from schemas.memory import GraphKey, Level, Source, graph_key, level_of


def _check_context(caller: Caller, arguments: Arguments) -> Arguments:
    """A context is written in the name of a source, which is at most the highest that the caller may claim."""
    context: WriteContext = arguments["context"]
    caller.require(Level.N1, context.citizen_id, "write")
    if "source" in context.model_fields_set:
        caller.require_source(context.source)
    source = lower_source(context.source, caller.principal.highest_source)
    return {**arguments, "context": context.model_copy(update={"source": source})}


def require_state(caller: Caller, path: PathValues) -> None:
    """Raises as `Caller.require`: who may not claim to be the citizen needs the scope `state` for its state."""
    is_own = may_override(caller, path["citizen_id"])
    caller.require(Level.N1, path["citizen_id"], "write" if is_own else "state")


STATE: Final = Permission.of_path("citizen:ID:state; of a key for the source citizen :write", require_state)
CONTEXT: Final = citizen_may("write")._replace(check=_check_context)


def _narrows(name: str, action: Action = "read", *, writes: str = "") -> Check:
    """Requires the action on the citizen of the argument `name`, and to write where the field `writes` is set.

    Leaves out shared levels that the request did not name and the caller may not read.
    """

    def check(caller: Caller, arguments: Arguments) -> Arguments:
        asked = arguments[name]
        citizen_id = arguments.get("citizen_id") or asked.citizen_id
        caller.require(Level.N1, citizen_id, action)
        if getattr(asked, writes, False):
            caller.require(Level.N1, citizen_id, "write")
        return {**arguments, name: narrow_levels(asked, citizen_id, caller)}

    return check


IMAGINATION: Final = citizen_may("read")._replace(
    description="citizen:ID:read; also :write with keep; LEVEL:read for N2 and N3",
    check=_narrows("request", writes="keep"),
)

COLLECTIVES: Final = Permission("any key; it sees only the collectives that it may read")
COLLECTIVE_READING: Final = Permission.of_path(
    "collective:ID:read",
    lambda caller, path: caller.require(graph_key(Level.N2, path["collective"]), None, "read"),
)
COLLECTIVE_ERASURE: Final = ERASURE._replace(description="collective:ID:steward")


APPETITE: Final = citizen_may("read")._replace(
    description="citizen:ID:read; also :write with apply_feedback; LEVEL:read for N2 and N3",
    check=_narrows("request", writes="apply_feedback"),
)
RULES: Final = citizen_may("read")._replace(
    description="citizen:ID:read; also :write to be recorded; LEVEL:read for N2 and N3", check=_narrows("request")
)


def may_override(caller: Caller, citizen_id: str) -> bool:
    """Whether the caller may write the citizen's memory as the citizen: less lifts no block and sets no state."""
    may_write = "write" in caller.grants.citizen_actions(citizen_id)
    return may_write and not outweighs(Source.CITIZEN, caller.principal.highest_source)


RULES_LIST: Final = citizen_may("read")._replace(
    description="citizen:ID:read; LEVEL:read for N2 and N3", check=_narrows("query")
)


def _check_share(caller: Caller, arguments: Arguments) -> Arguments:
    """A copy shows the others what only readers of the original could see."""
    request: Share = arguments["request"]
    caller.require(Level.N1, request.citizen_id, "write")
    caller.require(request.stands_in, request.citizen_id, "read")
    caller.require(request.goes_to, request.citizen_id, "write")
    return arguments


def _check_contest(caller: Caller, arguments: Arguments) -> Arguments:
    request: Withdraw = arguments["request"]
    caller.require(Level.N1, request.citizen_id, "write")
    caller.require(request.graph_key, request.citizen_id, "read")
    caller.require(request.graph_key, request.citizen_id, "write")
    return arguments


def _check_contested(caller: Caller, arguments: Arguments) -> Arguments:
    query: ContestedQuery = arguments["query"]
    caller.require(query.graph_key, None, "read")
    return arguments


SHARE: Final = Permission(
    "citizen:ID:write, read where it stands, LEVEL:write where it goes",
    _check_share,
    path_check_anywhere("write", shared=False),
)
CONTEST: Final = Permission(
    "citizen:ID:write; LEVEL:read and :write, or of the collective",
    _check_contest,
    path_check_anywhere("write", shared=False),
)
CONTESTED: Final = Permission("LEVEL:read", _check_contested)


def _check_agreement(caller: Caller, arguments: Arguments) -> Arguments:
    caller.require(named_graph(arguments["address"].level, arguments["query"]), None, "read")
    return arguments


AGREEMENT: Final = Permission("LEVEL:read", _check_agreement)
SITUATION: Final = APPETITE._replace(description="citizen:ID:read; LEVEL:read for N2 and N3")


def _citizen_of_stream(stream_id: str) -> str:
    """The citizen whose stream it is. Raises NotFound for an id that no stream has."""
    citizen_id = citizen_of(stream_id)
    if citizen_id is None:
        raise NotFound(f"no stream {stream_id} is noted")
    return citizen_id


STREAM: Final = Permission.of_path(
    "citizen:ID:read, of the citizen whose stream it is",
    lambda caller, path: caller.require(Level.N1, _citizen_of_stream(path["stream_id"]), "read"),
)


def readable_graph(caller: Caller) -> Callable[[GraphKey], bool]:
    """Whether the caller may read a graph: one of a stream that was asked for with another key perhaps."""

    def may_read(key: GraphKey) -> bool:
        return level_of(key) is Level.N1 or "read" in caller.grants.level_actions(key)

    return may_read


FEEDBACK: Final = citizen_may("write")._replace(
    description="citizen:ID:write; LEVEL:read for N2 and N3; collective:ID:read", check=_narrows("told", "write")
)
