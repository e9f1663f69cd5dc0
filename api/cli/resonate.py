"""`substrate resonate`: send a wave signal, and show the memories that resonate."""

from __future__ import annotations

from operator import attrgetter, itemgetter
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import bind, formatting, options, support
from orchestration.resonance.ask import resonate as send
from schemas.wave_signal import Resonances, Resonate

app = typer.Typer(add_completion=False)


class _Resonate(bind.Options):
    query_text: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="What the signal is about, in words.")
    ] = None
    citizen_id: options.Citizen
    by: Annotated[str, typer.Option(help="signal, or shape: what happened as around the memory --id.")] = "signal"
    id: Annotated[str | None, typer.Option("--id", metavar="ID", help="The memory, with --by shape.")] = None
    nodes: Annotated[list[str] | None, typer.Option("--node", metavar="NAME", help="A name or id; repeat.")] = None
    relations: Annotated[
        list[str] | None,
        typer.Option("--relation", metavar="TRIPLE", help="CRITICIZED, or 'Egor|CRITICIZED|code'; repeat."),
    ] = None
    emotion: Annotated[str | None, typer.Option(metavar="NAME", help="loneliness, curiosity …")] = None
    intensity: Annotated[float | None, typer.Option(help="Of the emotion, 0 to 1.")] = None
    result: Annotated[str | None, typer.Option(help="positive, negative, complex, or your own word.")] = None
    window: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text that the citizen sees; the signal is built from it."),
    ] = None
    focus: Annotated[str | None, typer.Option(metavar="TEXT", help="The text that the citizen attends to.")] = None
    drive_bias: Annotated[
        list[str] | None,
        typer.Option("--drive", metavar="NAME=X", help="How satisfied a drive is, 0 to 1; repeat."),
    ] = None
    weights: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="CHANNEL=X", help="nodes=2; 0 turns a channel off; repeat."),
    ] = None
    max_level: Annotated[str, typer.Option(help="Highest abstraction: L0, L1, L2 or L3.")] = "L3"
    overlap: Annotated[
        str, typer.Option(help="Divide the shared nodes by those of the signal or of the memory.")
    ] = "signal"
    as_of_time: options.AsOf = None
    known_at: options.KnownAt = None
    query_levels: options.Levels = None
    collectives: options.Collectives = None
    max_results_per_level: Annotated[int, typer.Option("--limit", help="Results of each level, 1 to 100.")] = 7
    suppress_recent: Annotated[bool, typer.Option(help="What became true within the last day resonates less.")] = (
        True
    )
    rerank: Annotated[
        str | None, typer.Option(metavar="NAME", help="Reorder the best memories: mmr, rrf, llm or custom.")
    ] = None
    filters: options.Filter = None
    plurality: options.Plural = False
    as_json: options.AnswerAsJson = False


@bind.command(app, _Resonate)
def resonate(given: _Resonate) -> None:
    """Send a wave signal into a citizen's memory, and see what resonates and by which channel."""
    signal = given.request(Resonate, max_level=given.max_level.upper())
    support.print_answer(support.answer_question(given.ctx, signal, send), show, as_json=given.as_json)


def show(answer: Resonances, console: Console) -> None:
    """Print the signal in one line, then a table for each level, with the channels that say something in it."""
    console.print(Text(describe_signal(answer), style="bold"))
    for level, resonances in answer.levels.items():
        if not resonances:
            continue
        scores = list(map(attrgetter("channels"), resonances))
        counted = [
            name for name, weight in answer.weights.items() if weight and any(map(itemgetter(name), scores))
        ]
        table = Table("resonance", "memory", *counted, title=level, title_justify="left", box=None)
        for resonance in resonances:
            cells = (f"{resonance.channels[channel]:.2f}" for channel in counted)
            title = Text(formatting.to_line(resonance.memory.name))
            if resonance.shared:
                title.append(" ").append(formatting.to_line(f"[{'; '.join(resonance.shared)}]"), style="dim")
            table.add_row(f"{resonance.resonance:.3f}", title, *cells)
        console.print(table)
    if not any(answer.levels.values()):
        console.print("nothing resonates")
    for rule in answer.rules:
        console.print(Text(f"rule: {formatting.to_line(rule)}"))
    for note in (*answer.notes, *formatting.describe_missing(answer.degraded)):
        console.print(Text(f"note: {formatting.to_line(note)}", style="dim"))


def describe_signal(answer: Resonances) -> str:
    """The signal in one line; shapes are compared without one."""
    if not answer.weights:
        return "by shape"
    sent = answer.signal
    triples = [f"{r.source or '…'} {r.relation_type} {r.target or '…'}" for r in sent.relations]
    felt = [f"{sent.emotion} {sent.intensity:g}"] if sent.emotion else []
    parts = [*sent.nodes, *triples, *felt, *([f"result {sent.result}"] if sent.result else [])]
    said = " · ".join([*parts, *(f"drive {drive}" for drive in sent.drives)]) or "words only"
    return formatting.to_line(f"signal: {said}")
