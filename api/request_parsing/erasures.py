"""What the erasing routes share."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from api.problems import fault_line, invalid
from api.request_parsing.command_parsing import with_key
from api.request_parsing.etags import unguarded
from api.request_parsing.writes import Writing
from api.runtime.runtime import Runtime
from orchestration.writing import erasure
from schemas.base import CitizenId, Identifier, Request
from schemas.commands import Erase, EraseCitizen, EraseEpisode, EraseMemory, ErasureReport
from schemas.errors import Fault
from schemas.memory import Level
from schemas.temporal import Instant


class OfCommand(Request):
    """The id of the command; left out, each send counts as a new one."""

    command_id: Identifier | None = None


class OfCitizen(OfCommand):
    """Whose episode."""

    citizen_id: CitizenId


async def erase(command: Erase, runtime: Runtime, now: Instant) -> ErasureReport:
    """Carry out an erasure on the store that is open."""
    directory = None if runtime.engine is None else runtime.engine.directory
    return await erasure.erase(command, runtime.deps, now, directory)


async def erase_said(
    raw: dict[str, Any], kind: type[EraseMemory | EraseEpisode | EraseCitizen], writing: Writing
) -> ErasureReport:
    """The report of the erasure that `raw` says. Raises InvalidRequest with every fault."""
    unguarded(writing.if_match, "an erasure")
    try:
        command = kind.model_validate(with_key(raw, writing.key))
    except ValidationError as error:
        faults = [fault_line(fault["loc"], fault["msg"]) for fault in error.errors(include_url=False)]
        raise invalid(faults) from error
    if writing.caller is None:
        raise Fault("a route that erases does not declare it: @needs(ERASURES)")
    level = command.level if isinstance(command, EraseMemory) else Level.N1
    writing.caller.need(level, command.citizen_id, "erase")
    report = await erase(command, writing.runtime, writing.now)
    writing.caller.commands.append(report.command_id)
    return report
