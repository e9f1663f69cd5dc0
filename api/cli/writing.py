"""`substrate remember`, `relate`: store a memory or a link. `supersede`, `correct`, `retract`, `resolve`, `undo`:
change one; its past is kept.
"""

from __future__ import annotations

import sys
from itertools import count
from typing import Any, Final

from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import argument, option
from api.runtime.runtime import Runtime
from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.mind.dissonance import discovery_fields
from orchestration.writing.records import fingerprint
from orchestration.writing.restatements import readings
from schemas.commands import CHANGES, Command, Relate, Remember, Undo, UndoLink, WriteReceipt
from schemas.errors import InvalidRequest
from schemas.temporal import Instant, Scope
from schemas.wave_signal import normalize_relation_type
from substrate.graphs.names import graph_name
from substrate.store import reader, rows

NAME_LENGTH: Final = 80
SHOWING: Final = frozenset({"link", "as_json"})
"""The options that set no field."""
ADDRESS: Final = SHOWING | {
    "id", "citizen_id", "level", "collective", "effective_at", "valid_from", "valid_to", "expected_version",
    "correction_pattern_id",
}  # fmt: skip
"""The options that say which record changes, when and why, and no new content."""
DONE: Final = {"supersede": "superseded", "correct": "corrected", "retract": "retracted"}
FOLLOWED: Final = {"resolved": "resolved", "in_progress": "unblocked"}
FROM: Final = option("--from TIME", "Where the stretch that changes begins.")


class RememberCommand(options.OfContent, name="remember"):
    """Store one memory. TEXT `-` reads it from standard input.

    A text that is there already, word for word, is recognised and not stored again.
    """

    text: str = argument(None, "What to remember; with --description, its name.")
    citizen_id: str | None = option("--citizen -c ID", "Whose memory; N1 needs one.")
    level: str = option("--level", "N1 personal, N2 collective, N3 ecosystem.", "N1")
    collective: str | None = options.COLLECTIVE
    description: str | None = option("--description --text", "The text, when TEXT is its name.")
    id: str | None = option("--id", "An id of your own.")
    node_type: str = option("--type", "Memory, Decision, Person, …", "Memory")
    valid_at: str | None = options.VALID_AT
    about: list[str] | None = option("--about NAME", "A person, place or project that it is about.")
    restate: bool = option("--restate", "Store it although it is there already.", False)
    as_json: bool = options.RECEIPT_AS_JSON
    also_called = ("name", "TEXT")

    def run(self) -> None:
        text = (sys.stdin.read() if self.text == "-" else self.text).strip()
        name, description = text, self.description
        if description is None and (len(text) > NAME_LENGTH or "\n" in text):
            name, description = formatting.shorten(text, NAME_LENGTH), text
        command = self.request(Remember, name=name, description=description)
        self.show(self.answer(store_command if self.restate else _store_once, command), _show_stored)


class RelateCommand(options.OfGraph, name="relate"):
    """Store one link from SOURCE to TARGET, with what the citizen felt and wanted."""

    source_id: str = argument("source", "The id of the memory where the link begins.")
    relation_type: str = argument("TYPE", "Such as CAUSED_BY or 'caused by'.")
    target_id: str = argument("target", "The id of the memory where the link ends.")
    goal: str = option("--goal", "Why the link matters to the citizen.", ...)
    mindstate: str = option("--mindstate", "The state of mind in which it is made.", ...)
    emotion_vector: list[str] = option("--emotion NAME=X", "joy=0.7; repeat for several.", ...)
    energy: float = option("--energy", "How urgent the link is, 0 to 1.", 0.5)
    confidence: float = option("--confidence", "How sure it is, 0 to 1.", 0.5)
    resolution_state: str | None = options.STATE
    felt_quality: str | None = option("--felt", "How it feels, in words.")
    formation_trigger: str | None = option("--trigger", "What made the link.")
    id: str | None = option("--id", "An id of its own.")
    valid_at: str | None = options.VALID_AT
    as_json: bool = options.RECEIPT_AS_JSON

    def run(self) -> None:
        command = self.request(Relate, relation_type=normalize_relation_type(self.relation_type))
        self.show(self.answer(store_command, command), _show_stored)


async def store_command(command: Command, deps: Deps, now: Instant) -> WriteReceipt:
    """Apply a command and return its receipt. Raises the error of its refusal."""
    [receipt] = await insertion.apply([command.with_writer(support.writer_of(command))], deps, now)
    if receipt.status == "refused":
        raise receipt.refusal()
    return receipt


async def _store_once(command: Remember, runtime: Runtime) -> WriteReceipt:
    """Store a memory unless the same one is there. Raises the error of its refusal.

    A long text is recognised on every door. A short one gets an id of its content, so that the same command is
    known again here; when that memory says something else by now, or ended, the next id is tried.
    """
    if command.id is not None or readings(command):
        return await store_command(command, runtime.deps, await runtime.moment())
    for number in count(1):
        named = command.model_copy(update={"command_id": f"remember:{fingerprint(command)}:{number}"})
        receipt = await store_command(named, runtime.deps, await runtime.moment())
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


def _show_stored(receipt: WriteReceipt, page: support.Sheet) -> None:
    known = "recognised" if receipt.recognised else "it was there already"
    again = f" ({known})" if receipt.duplicate else ""
    of = f" of collective {receipt.collective}" if receipt.collective else ""
    since = f", holds since {formatting.format_time(receipt.valid_at)} UTC"
    named = (formatting.to_line(receipt.id or ""), "bold")
    page.fold(Text.assemble("stored ", named, f" in {receipt.level}{of}{since}{again}"))
    page.notes(receipt.warnings, "yellow")


class _Change(options.OfRecord):
    valid_to: str | None = option("--to TIME", "Where the stretch that changes ends.")
    expected_version: int | None = option(
        "--expected-version N", "Refuse when the record that holds has another version."
    )
    as_json: bool = options.RECEIPT_AS_JSON

    def change(self, verb: str, fields: dict[str, Any]) -> None:
        """Apply the change to the memory or link, and print its receipt."""
        kind = CHANGES[verb, "link" if self.is_link else "memory"]
        command = self.validate(kind, {name: value for name, value in fields.items() if name not in SHOWING})
        receipt = self.answer(store_command, command)
        done = DONE.get(verb) or str(fields["resolution_state"]).replace("_", " ")
        again = " (it was there already)" if receipt.duplicate else ""
        named = (formatting.to_line(receipt.id or ""), "bold")
        line = Text.assemble(f"{done} ", named, f"; version {receipt.version}{again}")
        self.show(receipt, lambda receipt, page: _show_change(line, receipt, page))


class _NewContent(_Change, options.OfContent):
    name: str | None = option("--name", "The new name.")
    description: str | None = option("--text --description", "The new text.")
    node_type: str | None = options.NODE_TYPE
    mindstate: str | None = option("--mindstate", "Of a link: the state of mind in which it is made.")
    correction_pattern_id: str | None = option(
        "--reason", "What showed it; the same words each time for the same kind of mistake."
    )
    discovery_energy: float | None = option("--discovery-energy", "How strongly it struck, 0 to 1.")

    def content(self) -> dict[str, Any]:
        """The fields of the change, with those of the learning moment. Raises InvalidRequest without content."""
        fields = self.fields()
        if not fields.keys() - ADDRESS:
            raise InvalidRequest("nothing changes", remedy="Name what changes, such as --text or --state.")
        reason, energy = fields.pop("correction_pattern_id", None), fields.pop("discovery_energy", None)
        return fields | discovery_fields(reason, fields.get("emotion_vector") if reason else None, energy)


class SupersedeCommand(_NewContent, name="supersede"):
    """The world changed: the old content ends, the new begins there. Only what is given changes."""

    effective_at: str | None = option("--at TIME", "When the world changed. Default: now.")

    def run(self) -> None:
        self.change("supersede", self.content())


class CorrectCommand(_NewContent, name="correct"):
    """We were wrong: the corrected content holds over the same time. Only what is given changes."""

    valid_from: str | None = FROM

    def run(self) -> None:
        self.change("correct", self.content())


class RetractCommand(_Change, name="retract"):
    """It does not hold: never, or no longer from --at on, or not between --from and --to."""

    effective_at: str | None = option("--at TIME", "Until when it was true. Default: it never was.")
    valid_from: str | None = FROM

    def run(self) -> None:
        reason = None if self.effective_at is None else "reality_changed"
        self.change("retract", {**self.fields(), "reason": reason})


class ResolveCommand(_Change, name="resolve"):
    """Set the state of the work of a memory or link; all else stays. What follows from it is named."""

    resolution_state: str = option("--state", "resolved, in_progress or blocked.", "resolved")
    effective_at: str | None = option("--at TIME", "Since when. Default: now.")
    cascade: bool = option(
        "--cascade", "Do what follows too: resolve the problem, unblock what waited for it.", False
    )

    def run(self) -> None:
        self.change("resolve", self.fields())


class UndoCommand(options.OfRecord, name="undo"):
    """Revert the last change of a memory or a link. The mistake stays visible in the past."""

    undoes: str | None = option("--command ID", "The command to revert; refused when another came after it.")
    undoes_source: str | None = option("--source SOURCE", "Refuse to undo a change of another source.")
    undoes_key: str | None = option("--key KEY", "Refuse to undo a change made with a key of another id.")
    as_json: bool = options.RECEIPT_AS_JSON

    def run(self) -> None:
        receipt = self.answer(store_command, self.request(UndoLink if self.is_link else Undo))
        named = (formatting.to_line(receipt.id or ""), "bold")
        line = Text.assemble(named, f" is as it was before; version {receipt.version}")
        self.show(receipt, lambda receipt, page: _show_change(line, receipt, page))


def _show_change(line: Text, receipt: WriteReceipt, page: support.Sheet) -> None:
    page.fold(line)
    show_consequences(receipt, page)


def show_consequences(receipt: WriteReceipt, page: support.Sheet) -> None:
    """Print what followed from a resolution, and what could follow."""
    for each in receipt.follows:
        named = formatting.to_line(f"{each.id} ({each.name})" if each.name and each.name != each.id else each.id)
        state = None if each.resolution_state is None else each.resolution_state.value
        if each.outcome == "could":
            page.fold(f"could be {FOLLOWED.get(state or '', state)}: {named}")
        elif each.outcome == "left":
            page.fold(f"left: {named}: {formatting.to_line(each.reason or '')}")
        else:
            page.fold(f"now {(state or 'as before').replace('_', ' ')}: {named}")
    if receipt.further:
        page.fold(f"and {receipt.further} more; the same with --cascade goes on with them")
    page.notes(receipt.warnings, "yellow")
