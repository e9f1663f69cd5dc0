"""`substrate remember` and `substrate relate`: store one memory, or one link between two."""

from __future__ import annotations

import sys
from itertools import count
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import bind, formatting, options, support
from api.runtime.runtime import Runtime
from orchestration import insertion
from orchestration.writing.records import fingerprint
from orchestration.writing.restatements import readings
from schemas.commands import Command, Relate, Remember, WriteReceipt
from schemas.settings import Settings
from schemas.temporal import Scope
from schemas.wave_signal import normalize_relation_type
from substrate.graphs.names import graph_name
from substrate.store import reader, rows

NAME_LENGTH: Final = 80
app = typer.Typer(add_completion=False)


class _Remember(bind.OfContent):
    text: Annotated[str, typer.Argument(help="What to remember; with --description, its name.")]
    citizen_id: Annotated[
        str | None, typer.Option("--citizen", "-c", metavar="ID", help="Whose memory; N1 needs one.")
    ] = None
    level: Annotated[str, typer.Option("--level", help="N1 personal, N2 collective, N3 ecosystem.")] = "N1"
    collective: options.Collective = None
    description: Annotated[
        str | None, typer.Option("--description", "--text", help="The text, when TEXT is its name.")
    ] = None
    id: Annotated[str | None, typer.Option("--id", help="An id of your own.")] = None
    node_type: Annotated[str, typer.Option("--type", help="Memory, Decision, Person, …")] = "Memory"
    valid_at: options.ValidAt = None
    about: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A person, place or project that it is about.")
    ] = None
    restate: Annotated[bool, typer.Option("--restate", help="Store it although it is there already.")] = False
    as_json: options.ReceiptAsJson = False

    @classmethod
    def labels(cls) -> dict[str, str]:
        """With that of the name, which is the text or its beginning."""
        return {**super().labels(), "name": "TEXT"}


@bind.command(app, _Remember)
def remember(given: _Remember) -> None:
    """Store one memory. TEXT `-` reads it from standard input.

    A text that is there already, word for word, is recognised and not stored again.
    """
    text = sys.stdin.read() if given.text == "-" else given.text
    command = given.request(Remember, **_name_and_description(text, given.description))
    settings = support.read_settings(given.ctx)
    receipt = support.run(store_command(settings, command) if given.restate else store_once(settings, command))
    support.print_answer(receipt, show_stored, as_json=given.as_json)


class _Relate(bind.OfGraph):
    source_id: Annotated[str, typer.Argument(metavar="SOURCE", help="The id of the memory where the link begins.")]
    relation_type: Annotated[str, typer.Argument(metavar="TYPE", help="Such as CAUSED_BY or 'caused by'.")]
    target_id: Annotated[str, typer.Argument(metavar="TARGET", help="The id of the memory where the link ends.")]
    goal: Annotated[str, typer.Option(help="Why the link matters to the citizen.")]
    mindstate: Annotated[str, typer.Option(help="The state of mind in which it is made.")]
    emotion_vector: Annotated[
        list[str], typer.Option("--emotion", metavar="NAME=X", help="joy=0.7; repeat for several.")
    ]
    energy: Annotated[float, typer.Option(help="How urgent the link is, 0 to 1.")] = 0.5
    confidence: Annotated[float, typer.Option(help="How sure it is, 0 to 1.")] = 0.5
    resolution_state: options.State = None
    felt_quality: Annotated[str | None, typer.Option("--felt", help="How it feels, in words.")] = None
    formation_trigger: Annotated[str | None, typer.Option("--trigger", help="What made the link.")] = None
    id: Annotated[str | None, typer.Option("--id", help="An id of its own.")] = None
    valid_at: options.ValidAt = None
    as_json: options.ReceiptAsJson = False


@bind.command(app, _Relate)
def relate(given: _Relate) -> None:
    """Store one link from SOURCE to TARGET, with what the citizen felt and wanted."""
    command = given.request(Relate, relation_type=normalize_relation_type(given.relation_type))
    receipt = support.run(store_command(support.read_settings(given.ctx), command))
    support.print_answer(receipt, show_stored, as_json=given.as_json)


def _name_and_description(text: str, description: str | None) -> dict[str, Any]:
    """A long text is the description, and its beginning the name."""
    text = text.strip()
    if description is not None or (len(text) <= NAME_LENGTH and "\n" not in text):
        return {"name": text, "description": description}
    return {"name": formatting.shorten(text, NAME_LENGTH), "description": text}


async def store_command(settings: Settings, command: Command) -> WriteReceipt:
    """Apply a command and return its receipt. Raises the error of its refusal."""
    command = command.with_writer(support.writer_of(command))
    async with support.open_store(settings) as runtime:
        [receipt] = await insertion.apply([command], runtime.deps, await runtime.moment())
    if receipt.status == "refused":
        raise receipt.refusal()
    return receipt


async def store_once(settings: Settings, command: Remember) -> WriteReceipt:
    """Store a memory unless the same one is there. Raises the error of its refusal.

    A long text is recognised on every door. A short one gets an id of its content, so that the same command is
    known again here; when that memory says something else by now, or ended, the next id is tried.
    """
    if command.id is not None or readings(command):
        return await store_command(settings, command)
    async with support.open_store(settings) as runtime:
        for number in count(1):
            named = command.model_copy(update={"command_id": f"remember:{fingerprint(command)}:{number}"})
            [receipt] = await insertion.apply(
                [named.with_writer(support.writer_of(command))], runtime.deps, await runtime.moment()
            )
            if receipt.status == "refused":
                raise receipt.refusal()
            if not receipt.duplicate or await _says(command, receipt, runtime):
                break
    return receipt


async def _says(command: Remember, receipt: WriteReceipt, runtime: Runtime) -> bool:
    """True when the memory of the receipt holds now with the text of the command."""
    graph = runtime.deps.graph(graph_name(command.graph_key, command.citizen_id))
    scope = Scope.current(await runtime.moment())
    row = (await reader.read_memory(graph, receipt.id or "", scope)).row
    held = None if row is None else rows.node(row, command.graph_key)
    return held is not None and (held.name, held.description) == (command.name, command.description)


def show_stored(receipt: WriteReceipt, console: Console) -> None:
    """Print the receipt of a new memory or link."""
    known = "recognised" if receipt.recognised else "it was there already"
    again = f" ({known})" if receipt.duplicate else ""
    of = f" of collective {receipt.collective}" if receipt.collective else ""
    since = f", holds since {formatting.format_time(receipt.valid_at)} UTC"
    console.print(
        Text.assemble(
            "stored ", (formatting.to_line(receipt.id or ""), "bold"), f" in {receipt.level}{of}{since}{again}"
        )
    )
    for warning in receipt.warnings:
        console.print(Text(f"note: {formatting.to_line(warning)}", "yellow"))
