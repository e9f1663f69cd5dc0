"""`substrate erase`: remove a memory, an episode or a whole citizen for good, and report the counts."""

from __future__ import annotations

from typing import Final

import typer

from api.cli import options, support
from api.cli.program import option
from api.runtime.runtime import Runtime
from orchestration.writing.erasure import erase_naming_copies
from schemas.collectives import owner_of
from schemas.commands import Erase, EraseCitizen, EraseCollective, EraseEpisode, EraseMemory, ErasureReport
from schemas.errors import InvalidRequest
from schemas.temporal import Instant
from substrate.language.text import count_of

BROKEN_OFF: Final = "stopped: the next command or service that opens the store will finish this erasure"


class EraseCommand(options.StoreCommand, name="erase"):
    """Remove a memory, an episode, or else a whole citizen or collective, for good (docs/security.md)."""

    citizen_id: str | None = options.ANY_CITIZEN
    id: list[str] | None = option("--memory ID", "One memory; named again, others that go with it.")
    episode_id: str | None = option("--episode ID", "One conversation.")
    level: str = option("--level", "The level of the memory or episode: N1, N2 or N3.", "N1")
    collective: str | None = options.COLLECTIVE
    command_id: str | None = option(
        "--command-id ID", "An id for this erasure; sent again with it, it counts as the same one."
    )
    yes: bool = option("--yes -y", "Do not ask for confirmation.", False)
    also_called = ("also", "--memory")

    def run(self) -> None:
        command = self._command()
        if not self.yes:
            if isinstance(command, EraseMemory):
                _name_repeats(self.answer(_erase, command.model_copy(update={"dry_run": True})))
            typer.confirm(f"Remove {_describe(command)} for good?", abort=True, err=True)
        try:
            report = self.answer(_erase, command)
        except KeyboardInterrupt:
            support.messages().say(BROKEN_OFF)
            raise
        counts = ", ".join(
            count_of(count, kind.replace("memories", "memory").removesuffix("s").replace("_", " "))
            for kind, count in report.removed
            if count
        )
        log = "the log was rewritten" if report.log_rewritten else "the server keeps no log to rewrite"
        page = support.output()
        page.say(f"removed {counts or 'nothing more'}; {log}")
        for note in report.notes:
            page.say(f"note: {note}", "yellow")
        _name_repeats(report)

    def _command(self) -> Erase:
        first, *also = self.id or [""]
        if first and self.episode_id is not None:
            raise InvalidRequest("--memory and --episode: name one of them")
        if first:
            return self.request(EraseMemory, id=first, also=also)
        if self.episode_id is not None:
            return self.request(EraseEpisode)
        if self.collective is None:
            named = {"citizen_id": self.citizen_id, "command_id": self.command_id}
            return support.validate(EraseCitizen, named, self.labels())
        if self.citizen_id is not None:
            raise InvalidRequest("--citizen and --collective: name one of them to erase it whole")
        return self.request(EraseCollective)


def _name_repeats(report: ErasureReport) -> None:
    for memory_id in report.repeats:
        support.output().say(f"repeats it, and stays: {memory_id}", "yellow")


def _describe(command: Erase) -> str:
    if isinstance(command, EraseMemory):
        return f"memory {command.id} of {owner_of(command.graph_key, command.citizen_id)}"
    if isinstance(command, EraseEpisode):
        return f"episode {command.episode_id} of {owner_of(command.graph_key, command.citizen_id)}"
    if isinstance(command, EraseCollective):
        return f"everything in the collective {command.collective}"
    return f"everything that {command.citizen_id} remembers"


async def _erase(command: Erase, runtime: Runtime, now: Instant) -> ErasureReport:
    if isinstance(command, EraseMemory | EraseEpisode):
        command = command.with_writer(support.writer_of(command))
    return await erase_naming_copies(command, runtime.deps, now, runtime.deps.directory)
