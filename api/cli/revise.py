"""`substrate supersede`, `correct`, `retract`, `resolve`, `undo`: change a memory or link; its past is kept."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import bind, formatting, options, support
from api.cli.remember import store_command
from orchestration.mind.dissonance import discovery_fields
from schemas.commands import CHANGES, Subject, Undo, UndoLink, WriteReceipt
from schemas.errors import InvalidRequest

SHOWING: Final = frozenset({"link", "as_json"})
"""The options that set no field."""
ADDRESS: Final = SHOWING | {
    "id", "citizen_id", "level", "collective", "effective_at", "valid_from", "valid_to", "expected_version",
    "correction_pattern_id",
}  # fmt: skip
"""The options that say which record changes, when and why, and no new content."""
DONE: Final = {"supersede": "superseded", "correct": "corrected", "retract": "retracted"}

app = typer.Typer(add_completion=False)

From = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Where the stretch that changes begins.")]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Where the stretch that changes ends.")]


class _Change(bind.OfRecord):
    valid_to: To = None
    expected_version: Annotated[
        int | None,
        typer.Option(
            "--expected-version", metavar="N", help="Refuse when the record that holds has another version."
        ),
    ] = None
    as_json: options.ReceiptAsJson = False


class _NewContent(_Change, bind.OfContent):
    name: Annotated[str | None, typer.Option(help="The new name.")] = None
    description: Annotated[str | None, typer.Option("--text", "--description", help="The new text.")] = None
    node_type: options.NodeType = None
    mindstate: options.Mindstate = None
    correction_pattern_id: Annotated[
        str | None,
        typer.Option("--reason", help="What showed it; the same words each time for the same kind of mistake."),
    ] = None
    discovery_energy: Annotated[float | None, typer.Option(help="How strongly it struck, 0 to 1.")] = None


class _Supersede(_NewContent):
    effective_at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="When the world changed. Default: now.")
    ] = None


class _Correct(_NewContent):
    valid_from: From = None


class _Retract(_Change):
    effective_at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="Until when it was true. Default: it never was.")
    ] = None
    valid_from: From = None


class _Resolve(_Change):
    resolution_state: Annotated[str, typer.Option("--state", help="resolved, in_progress or blocked.")] = (
        "resolved"
    )
    effective_at: Annotated[str | None, typer.Option("--at", metavar="TIME", help="Since when. Default: now.")] = (
        None
    )
    cascade: Annotated[
        bool,
        typer.Option("--cascade", help="Do what follows too: resolve the problem, unblock what waited for it."),
    ] = False


@bind.command(app, _Supersede)
def supersede(given: _Supersede) -> None:
    """The world changed: the old content ends, the new begins there. Only what is given changes."""
    _change("supersede", given, _content(given))


@bind.command(app, _Correct)
def correct(given: _Correct) -> None:
    """We were wrong: the corrected content holds over the same time. Only what is given changes."""
    _change("correct", given, _content(given))


@bind.command(app, _Retract)
def retract(given: _Retract) -> None:
    """It does not hold: never, or no longer from --at on, or not between --from and --to."""
    reason = None if given.effective_at is None else "reality_changed"
    _change("retract", given, {**given.fields(), "reason": reason})


@bind.command(app, _Resolve)
def resolve(given: _Resolve) -> None:
    """Set the state of the work of a memory or link; all else stays. What follows from it is named."""
    _change("resolve", given, given.fields())


class _Undo(bind.OfRecord):
    undoes: Annotated[
        str | None,
        typer.Option("--command", metavar="ID", help="The command to revert; refused when another came after it."),
    ] = None
    undoes_source: Annotated[
        str | None, typer.Option("--source", metavar="SOURCE", help="Refuse to undo a change of another source.")
    ] = None
    undoes_key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="Refuse to undo a change made with a key of another id."),
    ] = None
    as_json: options.ReceiptAsJson = False


@bind.command(app, _Undo)
def undo(given: _Undo) -> None:
    """Revert the last change of a memory or a link. The mistake stays visible in the past."""
    command = given.request(UndoLink if options.names_link(given.id, link=given.link) else Undo)
    receipt = support.run(store_command(support.read_settings(given.ctx), command))

    def show(receipt: WriteReceipt, console: Console) -> None:
        outcome = f" is as it was before; version {receipt.version}"
        console.print(Text.assemble((formatting.to_line(receipt.id or ""), "bold"), outcome))
        show_consequences(receipt, console)

    support.print_answer(receipt, show, as_json=given.as_json)


def _content(given: _NewContent) -> dict[str, Any]:
    """The fields of the change, with those of the learning moment.

    Raises InvalidRequest when no content is given.
    """
    fields = given.fields()
    if not fields.keys() - ADDRESS:
        raise InvalidRequest("nothing changes", remedy="Name what changes, such as --text or --state.")
    reason, energy = fields.pop("correction_pattern_id", None), fields.pop("discovery_energy", None)
    return fields | discovery_fields(reason, fields.get("emotion_vector") if reason else None, energy)


def _change(verb: str, given: _Change, fields: dict[str, Any]) -> None:
    """Apply the change to the memory or link, and print its receipt."""
    subject: Subject = "link" if options.names_link(given.id, link=given.link) else "memory"
    command = given.validate(
        CHANGES[verb, subject], {name: value for name, value in fields.items() if name not in SHOWING}
    )
    receipt = support.run(store_command(support.read_settings(given.ctx), command))
    done = DONE.get(verb) or str(fields["resolution_state"]).replace("_", " ")

    def show(receipt: WriteReceipt, console: Console) -> None:
        again = " (it was there already)" if receipt.duplicate else ""
        outcome = f"; version {receipt.version}{again}"
        console.print(Text.assemble(f"{done} ", (formatting.to_line(receipt.id or ""), "bold"), outcome))
        show_consequences(receipt, console)

    support.print_answer(receipt, show, as_json=given.as_json)


_VERBS: Final = {"resolved": "resolved", "in_progress": "unblocked"}


def show_consequences(receipt: WriteReceipt, console: Console) -> None:
    """Print what followed from a resolution, and what could follow."""
    for each in receipt.follows:
        named = formatting.to_line(f"{each.id} ({each.name})" if each.name and each.name != each.id else each.id)
        state = None if each.resolution_state is None else each.resolution_state.value
        if each.outcome == "could":
            line = f"could be {_VERBS.get(state or '', state)}: {named}"
        elif each.outcome == "left":
            line = f"left: {named}: {formatting.to_line(each.reason or '')}"
        else:
            line = f"now {(state or 'as before').replace('_', ' ')}: {named}"
        console.print(Text(line))
    if receipt.further:
        console.print(Text(f"and {receipt.further} more; the same with --cascade goes on with them"))
    for warning in receipt.warnings:
        console.print(Text(f"note: {formatting.to_line(warning)}", "yellow"))
