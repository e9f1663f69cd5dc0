"""`substrate erase`: remove a memory, an episode or a whole citizen for good, and report the counts."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from api.cli import options, support
from orchestration.writing.copy_erasure import erase
from schemas.collectives import owner_of
from schemas.commands import Erase, EraseCitizen, EraseCollective, EraseEpisode, EraseMemory, ErasureReport
from schemas.errors import InvalidRequest
from schemas.settings import Settings
from substrate.language.text import count_of

OPTIONS = {
    **options.GRAPH,
    "id": "--memory",
    "also": "--memory",
    "episode_id": "--episode",
    "command_id": "--command-id",
}
BROKEN_OFF = "stopped: the next command or service that opens the store will finish this erasure"

app = typer.Typer(add_completion=False)


@app.command("erase")
def erase_for_good(
    ctx: typer.Context,
    *,
    citizen: options.AnyCitizen = None,
    memory: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="One memory; named again, others that go with it.")
    ] = None,
    episode: Annotated[str | None, typer.Option(metavar="ID", help="One conversation.")] = None,
    level: Annotated[str, typer.Option(help="The level of the memory or episode: N1, N2 or N3.")] = "N1",
    collective: options.Collective = None,
    command_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="An id for this erasure; sent again with it, it counts as the same one."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove a memory, an episode, or without either a whole citizen or collective, for good (docs/privacy.md)."""
    settings = support.read_settings(ctx)
    first, *also = memory or [""]
    fields = {
        "citizen_id": citizen,
        "id": first or None,
        "also": also,
        "episode_id": episode,
        **options.graph(level, collective),
    }
    command = _make_command({**fields, "command_id": command_id})
    if not yes:
        if isinstance(command, EraseMemory):
            tried = support.run(_erase(settings, command.model_copy(update={"dry_run": True})))
            _name_repeats(tried)
        typer.confirm(f"Remove {_describe(command)} for good?", abort=True, err=True)
    try:
        report = support.run(_erase(settings, command))
    except KeyboardInterrupt:
        support.messages().print(Text(BROKEN_OFF), soft_wrap=True)
        raise
    counts = ", ".join(
        count_of(count, kind.replace("memories", "memory").removesuffix("s").replace("_", " "))
        for kind, count in report.removed
        if count
    )
    log = "the log was rewritten" if report.log_rewritten else "the server keeps no log to rewrite"
    support.output().print(Text(f"removed {counts or 'nothing more'}; {log}"), soft_wrap=True)
    for note in report.notes:
        support.output().print(Text(f"note: {note}", "yellow"), soft_wrap=True)
    _name_repeats(report)


def _name_repeats(report: ErasureReport) -> None:
    for memory_id in report.repeats:
        support.output().print(Text(f"repeats it, and stays: {memory_id}", "yellow"), soft_wrap=True)


def _make_command(fields: dict[str, Any]) -> Erase:
    if fields["id"] is not None and fields["episode_id"] is not None:
        raise InvalidRequest("--memory and --episode: name one of them")
    if fields["id"] is not None:
        return support.validate(EraseMemory, _select(fields, "level", "collective", "id", "also"), OPTIONS)
    if fields["episode_id"] is not None:
        return support.validate(EraseEpisode, _select(fields, "level", "collective", "episode_id"), OPTIONS)
    if fields.get("collective") is not None:
        if fields["citizen_id"] is not None:
            raise InvalidRequest("--citizen and --collective: name one of them to erase it whole")
        named = {name: fields[name] for name in ("command_id", "collective")}
        return support.validate(EraseCollective, named, OPTIONS)
    return support.validate(EraseCitizen, _select(fields), OPTIONS)


def _select(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: fields[name] for name in ("command_id", "citizen_id", *names) if name in fields}


def _describe(command: Erase) -> str:
    if isinstance(command, EraseMemory):
        return f"memory {command.id} of {owner_of(command.graph_key, command.citizen_id)}"
    if isinstance(command, EraseEpisode):
        return f"episode {command.episode_id} of {owner_of(command.graph_key, command.citizen_id)}"
    if isinstance(command, EraseCollective):
        return f"everything in the collective {command.collective}"
    return f"everything that {command.citizen_id} remembers"


async def _erase(settings: Settings, command: Erase) -> ErasureReport:
    if isinstance(command, EraseMemory | EraseEpisode):
        command = command.with_writer(support.writer_of(command))
    async with support.open_store(settings) as runtime:
        return await erase(command, runtime.deps, await runtime.moment(), runtime.deps.directory)
