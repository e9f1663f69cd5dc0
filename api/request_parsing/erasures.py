"""Erase over REST: parse the command, check it against the caller's scopes, erase, and report."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from api.problems import fault_line, invalid_request
from api.request_parsing.command_parsing import with_command_id
from api.request_parsing.etags import refuse_if_match
from api.request_parsing.writes import WriteContext
from api.runtime.runtime import Runtime
from orchestration.writing import erasure
from schemas.base import CitizenId, Identifier, Request
from schemas.commands import Erase, EraseCitizen, EraseEpisode, EraseMemory, ErasureReport
from schemas.errors import Fault
from schemas.memory import Level
from schemas.temporal import Instant


class ErasureRequest(Request):
    """The id of the command; without one, each send is a new command."""

    command_id: Identifier | None = None


class EpisodeErasureRequest(ErasureRequest):
    """An erasure of an episode of this citizen."""

    citizen_id: CitizenId


async def erase_from_store(command: Erase, runtime: Runtime, now: Instant) -> ErasureReport:
    """Erase from the open store, and rewrite the files of an embedded engine so that they hold none of it.

    Raises what `orchestration.writing.erasure.erase` raises. An interrupted erasure is finished when the store is
    opened again.
    """
    directory = None if runtime.engine is None else runtime.engine.directory
    return await erasure.erase(command, runtime.deps, now, directory)


async def erase_and_report(
    raw: dict[str, Any], kind: type[EraseMemory | EraseEpisode | EraseCitizen], writing: WriteContext
) -> ErasureReport:
    """Parse the command, check it against the caller's scopes, and erase.

    Raises InvalidRequest with every fault, NotFound or Forbidden when the caller may not erase there.
    """
    refuse_if_match(writing.if_match, "an erasure")
    try:
        command = kind.model_validate(with_command_id(raw, writing.key))
    except ValidationError as error:
        faults = [fault_line(fault["loc"], fault["msg"]) for fault in error.errors(include_url=False)]
        raise invalid_request(faults) from error
    if writing.caller is None:
        raise Fault("a route that erases must declare @requires(ERASURE)")
    level = command.level if isinstance(command, EraseMemory) else Level.N1
    writing.caller.require(level, command.citizen_id, "erase")
    report = await erase_from_store(command, writing.runtime, writing.now)
    writing.caller.commands.append(report.command_id)
    return report
