"""Erase over REST: parse the command, check it against the caller's scopes, erase, and report."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError

from api.problems import fault_line, invalid_request
from api.request_parsing.etags import refuse_if_match
from api.request_parsing.writes import WriteContext, with_command_id
from api.security.permissions import REMEDY, Caller, shared_scope
from orchestration.writing import erasure
from schemas.base import Identifier, Request
from schemas.collectives import GraphRequest
from schemas.commands import (
    NO_WRITER,
    WITH_COPIES,
    Command,
    Erase,
    EraseCitizen,
    EraseCollective,
    EraseEpisode,
    EraseMemory,
    ErasureReport,
    Writer,
)
from schemas.errors import Forbidden
from schemas.keys import Action
from schemas.memory import Level
from substrate.graphs.names import graph_name


class ErasureRequest(Request):
    """The id of the command; without one, each send is a new command."""

    command_id: Identifier | None = None


class CitizenErasureRequest(ErasureRequest):
    """An erasure that can take along what the citizen shared."""

    with_copies: Annotated[bool, Field(description=WITH_COPIES)] = False


class EpisodeErasureRequest(GraphRequest, CitizenErasureRequest):
    """An erasure of an episode of this graph."""


async def erase_and_report(
    raw: dict[str, Any],
    kind: type[EraseMemory | EraseEpisode | EraseCitizen | EraseCollective],
    writing: WriteContext,
) -> ErasureReport:
    """Parse the command, check it against the caller's scopes, and erase.

    Raises InvalidRequest with every fault, NotFound or Forbidden when the caller may not erase there.
    """
    deps = writing.runtime.deps
    refuse_if_match(writing.if_match, "an erasure")
    try:
        command = kind.model_validate(with_command_id(raw, writing.key))
    except ValidationError as error:
        faults = [fault_line(fault["loc"], fault["msg"]) for fault in error.errors(include_url=False)]
        raise invalid_request(faults) from error
    eraser = eraser_of(command, writing.caller)
    if isinstance(command, Command):
        command = command.with_writer(eraser)
    graph, citizen_id = erasure.erased_graph(command), getattr(command, "citizen_id", None)
    if writing.ingestions is not None and not isinstance(command, EraseMemory):
        # What is being stored in the background would come back after it was erased.
        await writing.ingestions.forget(graph_name(graph, citizen_id), getattr(command, "episode_id", None))
    report = await erasure.erase_naming_copies(command, deps, writing.now, deps.directory)
    writing.caller.commands.append(report.command_id)
    return report


def eraser_of(command: Erase, caller: Caller) -> Writer:
    """Who erases; from a shared level a steward, or an author who may erase its own.

    Raises NotFound or Forbidden when the caller may not erase there.
    """
    graph, citizen_id = erasure.erased_graph(command), getattr(command, "citizen_id", None)
    if not isinstance(command, Command) or graph == Level.N1:
        action: Action = "steward" if isinstance(command, EraseCollective) else "erase"
        caller.require(graph, citizen_id, action)
        return NO_WRITER
    caller.require(graph, citizen_id, "write")
    writer = caller.writer_of(graph, citizen_id)
    may_erase = writer.author is not None and "erase" in caller.grants.citizen_actions(writer.author)
    if not (writer.steward or may_erase):
        scope = f"{shared_scope(graph)}:steward, or citizen:ID:erase of its author"
        raise Forbidden(f"this needs the scope {scope}", remedy=REMEDY.format(scope))
    return writer
