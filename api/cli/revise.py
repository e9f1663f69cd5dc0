"""`substrate supersede`, `correct`, `retract` and `resolve`: change one memory or link; its history keeps all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.remember import store_command
from orchestration.mind.dissonance import discovery_fields
from schemas.commands import (
    Command,
    Correct,
    CorrectLink,
    Resolve,
    ResolveLink,
    Retract,
    Supersede,
    SupersedeLink,
    Unrelate,
    WriteReceipt,
)
from schemas.errors import InvalidRequest

OPTIONS: Final = {
    **options.GRAPH, **options.CONTENT, "id": "ID", "name": "--name", "description": "--text",
    "mindstate": "--mindstate", "correction_pattern_id": "--reason", "discovery_energy": "--discovery-energy",
    "effective_at": "--at", "valid_from": "--from", "valid_to": "--to",
    "expected_version": "--expected-version", "cascade": "--cascade",
}  # fmt: skip
"""The option that sets each field, for error texts."""
KINDS: Final[Mapping[str, tuple[type[Command], type[Command]]]] = {
    "supersede": (Supersede, SupersedeLink),
    "correct": (Correct, CorrectLink),
    "retract": (Retract, Unrelate),
    "resolve": (Resolve, ResolveLink),
}
"""The command on a memory, and the one on a link."""
DONE: Final = {"supersede": "superseded", "correct": "corrected", "retract": "retracted"}

Name = Annotated[str | None, typer.Option(help="The new name.")]
Content = Annotated[str | None, typer.Option("--text", "--description", help="The new text.")]
Reason = Annotated[
    str | None,
    typer.Option(help="What showed it; the same words each time for the same kind of mistake."),
]
Discovery = Annotated[float | None, typer.Option(help="How strongly it struck, 0 to 1.")]
From = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Where the stretch that changes begins.")]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Where the stretch that changes ends.")]
Version = Annotated[
    int | None,
    typer.Option("--expected-version", metavar="N", help="Refuse when the record that holds has another version."),
]

app = typer.Typer(add_completion=False)


@app.command()
def supersede(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    identity: options.MemoryOrLink,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    link: options.OfLink = False,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When the world changed. Default: now.")] = None,
    to: To = None,
    name: Name = None,
    text: Content = None,
    node_type: options.NodeType = None,
    energy: options.Energy = None,
    confidence: options.Confidence = None,
    emotion: options.Emotion = None,
    goal: options.Goal = None,
    state: options.State = None,
    importance: options.Importance = None,
    rule: options.Rule = None,
    severity: options.Severity = None,
    tag: options.Tag = None,
    mindstate: options.Mindstate = None,
    reason: Reason = None,
    discovery_energy: Discovery = None,
    version: Version = None,
    as_json: options.ReceiptAsJson = False,
) -> None:
    """The world changed: the old content ends, the new begins there. Only what is given changes."""
    times = _times(at, None, to)
    content = _content(
        name=name, description=text, node_type=node_type, energy=energy, confidence=confidence, emotion=emotion,
        goal=goal, resolution_state=state, importance=importance, rule=rule, severity=severity,
        tag=tag, mindstate=mindstate, reason=reason, discovery_energy=discovery_energy, expected_version=version,
    )  # fmt: skip
    address = options.record(identity, citizen, level, collective)
    _change(ctx, "supersede", {**address, **times, **content}, link=link, as_json=as_json)


@app.command()
def correct(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    identity: options.MemoryOrLink,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    link: options.OfLink = False,
    start: From = None,
    to: To = None,
    name: Name = None,
    text: Content = None,
    node_type: options.NodeType = None,
    energy: options.Energy = None,
    confidence: options.Confidence = None,
    emotion: options.Emotion = None,
    goal: options.Goal = None,
    state: options.State = None,
    importance: options.Importance = None,
    rule: options.Rule = None,
    severity: options.Severity = None,
    tag: options.Tag = None,
    mindstate: options.Mindstate = None,
    reason: Reason = None,
    discovery_energy: Discovery = None,
    version: Version = None,
    as_json: options.ReceiptAsJson = False,
) -> None:
    """We were wrong: the corrected content holds over the same time. Only what is given changes."""
    content = _content(
        name=name, description=text, node_type=node_type, energy=energy, confidence=confidence, emotion=emotion,
        goal=goal, resolution_state=state, importance=importance, rule=rule, severity=severity,
        tag=tag, mindstate=mindstate, reason=reason, discovery_energy=discovery_energy, expected_version=version,
    )  # fmt: skip
    address = options.record(identity, citizen, level, collective)
    _change(ctx, "correct", {**address, **_times(None, start, to), **content}, link=link, as_json=as_json)


@app.command()
def retract(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    identity: options.MemoryOrLink,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    link: options.OfLink = False,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Until when it was true. Default: it never was.")
    ] = None,
    start: From = None,
    to: To = None,
    version: Version = None,
    as_json: options.ReceiptAsJson = False,
) -> None:
    """It does not hold: never, or no longer from --at on, or not between --from and --to."""
    fields = {
        **options.record(identity, citizen, level, collective),
        **_times(at, start, to),
        "reason": None if at is None else "reality_changed",
        "expected_version": version,
    }
    _change(ctx, "retract", fields, link=link, as_json=as_json)


@app.command()
def resolve(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    identity: options.MemoryOrLink,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    link: options.OfLink = False,
    state: Annotated[str, typer.Option(help="resolved, in_progress or blocked.")] = "resolved",
    at: Annotated[str | None, typer.Option(metavar="TIME", help="Since when. Default: now.")] = None,
    to: To = None,
    cascade: Annotated[
        bool,
        typer.Option("--cascade", help="Do what follows too: resolve the problem, unblock what waited for it."),
    ] = False,
    version: Version = None,
    as_json: options.ReceiptAsJson = False,
) -> None:
    """Set the state of the work of a memory or link; all else stays. What follows from it is named."""
    fields = {
        **options.record(identity, citizen, level, collective),
        **_times(at, None, to),
        "resolution_state": state,
        "cascade": cascade or None,
        "expected_version": version,
    }
    _change(ctx, "resolve", fields, link=link, as_json=as_json)


def _times(at: str | None, start: str | None, end: str | None) -> dict[str, Any]:
    return {
        "effective_at": support.parse_time_option("--at", at),
        "valid_from": support.parse_time_option("--from", start),
        "valid_to": support.parse_time_option("--to", end),
    }


def _content(**given: Any) -> dict[str, Any]:
    """The fields of the new content, and of the learning moment, from the options given.

    Raises InvalidRequest when no content is given.
    """
    if all(value is None for name, value in given.items() if name not in ("expected_version", "reason")):
        raise InvalidRequest("nothing changes", remedy="Name what changes, such as --text or --state.")
    tag, reason, energy = given.pop("tag"), given.pop("reason"), given.pop("discovery_energy")
    emotions = support.parse_numbers("--emotion", given.pop("emotion"), "joy=0.7") or None
    content = {**given, "emotion_vector": emotions, "tags": tuple(tag) if tag else None}
    return content | discovery_fields(reason, emotions if reason else None, energy)


def _change(ctx: typer.Context, verb: str, fields: Mapping[str, Any], *, link: bool, as_json: bool) -> None:
    """Apply the change to the memory or link, and print its receipt."""
    of_memory, of_link = KINDS[verb]
    kind = of_link if options.names_link(str(fields["id"]), link=link) else of_memory
    command = support.validate(kind, support.drop_unset(fields), OPTIONS)
    receipt = support.run(store_command(support.read_settings(ctx), command))
    done = DONE.get(verb) or str(fields["resolution_state"]).replace("_", " ")

    def show(receipt: WriteReceipt, console: Console) -> None:
        again = " (it was there already)" if receipt.duplicate else ""
        outcome = f"; version {receipt.version}{again}"
        console.print(Text.assemble(f"{done} ", (formatting.to_line(receipt.id or ""), "bold"), outcome))
        show_consequences(receipt, console)

    support.print_answer(receipt, show, as_json=as_json)


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
