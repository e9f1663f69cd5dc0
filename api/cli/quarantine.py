"""`substrate quarantine`: hide what came from a distrusted source, list it, release it, or make it final."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from orchestration.dependencies import Deps
from orchestration.features.withholding import quarantine as flow
from orchestration.features.withholding.values import SELECTS, Quarantine, QuarantineChange, QuarantineRequest
from schemas.collectives import GraphRequest, owner_of
from schemas.errors import InvalidRequest
from schemas.memory import graph_key
from schemas.settings import Settings
from schemas.temporal import Instant
from substrate.language.text import count_of

OPTIONS: Final = {
    **options.GRAPH,
    **options.named("source", "speaker", "tag", "note", "by", "until"),
    "episode_id": "--episode",
    "key_id": "--key",
}
By = Annotated[str, typer.Option(metavar="SOURCE", help="The source that orders it; more trust reaches more.")]

app = typer.Typer(add_completion=False)


@app.command()
def quarantine(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    source: Annotated[str | None, typer.Option(help="What this source wrote: tool, ingestion, …")] = None,
    episode: Annotated[str | None, typer.Option(metavar="ID", help="What came from this conversation.")] = None,
    key: Annotated[str | None, typer.Option(metavar="ID", help="What was written with this key.")] = None,
    speaker: Annotated[str | None, typer.Option(help="What this speaker said.")] = None,
    tag: Annotated[str | None, typer.Option(help="What has this tag.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="What was written from then on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="What was written before.")] = None,
    note: Annotated[str | None, typer.Option(help="A reason, for the list.")] = None,
    by: By = "citizen",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be hidden.")] = False,
    show: Annotated[str | None, typer.Option(metavar="ID", help="Show a quarantine.")] = None,
    release: Annotated[str | None, typer.Option(metavar="ID", help="Bring back what it hid.")] = None,
    retract: Annotated[str | None, typer.Option(metavar="ID", help="Make it final.")] = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Hide what came from a source, and what follows from it; without a choice, list the quarantines.

    All that is given must fit. Hidden memories stand in no answer about now; --release brings them back.
    """
    settings = support.read_settings(ctx)
    graph = {"citizen_id": citizen, **options.graph(level, collective)}
    chosen = {
        "source": source,
        "episode_id": episode,
        "key_id": key,
        "speaker": speaker,
        "tag": tag,
        "since": support.parse_time_option("--since", since),
        "until": support.parse_time_option("--until", until),
    }
    given = support.drop_unset(chosen)
    named = [each for each in (show, release, retract) if each is not None]
    if len(named) + bool(given) > 1:
        raise InvalidRequest(f"--show, --release, --retract and a choice ({', '.join(SELECTS)}): give one of them")
    if given:
        fields = {**graph, **given, "by": by, "dry_run": dry_run, **support.drop_unset({"note": note})}
        request = support.validate(QuarantineRequest, fields, OPTIONS)
        answer = support.in_store(settings, lambda deps, now: flow.quarantine(request, deps, now), request)
        support.print_answer(answer, _show, as_json=as_json)
        return
    change = support.validate(QuarantineChange, {**graph, "by": by}, OPTIONS)
    if not named:
        _list(settings, change, as_json=as_json)
        return
    answer = support.in_store(settings, _action(change, show, release, retract), change)
    support.print_answer(answer, _show, as_json=as_json)


type _Flow = Callable[[Deps, Instant], Awaitable[Quarantine]]


def _action(change: QuarantineChange, show: str | None, release: str | None, retract: str | None) -> _Flow:
    if show is not None:
        return lambda deps, _: flow.read_quarantine(show, change, deps)
    if release is not None:
        return lambda deps, now: flow.release(release, change, deps, now)
    return lambda deps, now: flow.retract(str(retract), change, deps, now)


def _list(settings: Settings, request: GraphRequest, *, as_json: bool) -> None:
    found = support.in_store(settings, lambda deps, _: flow.list_quarantines(request, deps), request).quarantines
    for each in found:
        support.print_answer(each, _show, as_json=as_json)
    if not found and not as_json:
        support.messages().print(Text("nothing was quarantined", "bright_black"))


def _show(shown: Quarantine, console: Console) -> None:
    counts = ", ".join(
        (
            f"{count_of(shown.memories, 'memory')} and {count_of(shown.links, 'link')} hidden",
            f"{shown.taken_back:,} taken back",
            f"{count_of(shown.feedback, 'feedback')} put aside",
            f"{shown.kept:,} kept",
            f"{shown.refused:,} refused",
        )
    )
    name = shown.id or f"of {owner_of(graph_key(shown.level, shown.collective), shown.citizen_id)}"
    console.print(Text.assemble((shown.status.replace("_", " "), "bold"), f" {name}: {counts}"), soft_wrap=True)
    for thing in shown.things:
        described = f"{formatting.to_line(thing.id)} {formatting.to_line(thing.name)}".strip()
        why = thing.why.replace("_", " ")
        console.print(Text(f"  {thing.fate.replace('_', ' ')}: {described} ({why})"), soft_wrap=True)
    if shown.not_released:
        console.print(Text(f"  {shown.not_released:,} were changed since and stay as they are", "yellow"))
    if shown.status == "hidden":
        before = shown.known_before.isoformat().replace("+00:00", "Z")
        console.print(Text(f"  the present before: --known-at {before}", "bright_black"), soft_wrap=True)
