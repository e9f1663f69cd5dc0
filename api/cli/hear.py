"""`substrate hear`: append messages to a conversation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import batched
from typing import Annotated, Any, Final

import orjson
import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from api.client.async_client import MESSAGES_AT_ONCE, join_heard, refused_messages
from orchestration.ingestion.hearing import NewMessages, hear_messages
from orchestration.ingestion.storing import Job
from schemas.base import Identifier
from schemas.collectives import GraphRequest
from schemas.errors import InvalidRequest
from schemas.responses import HeardReport
from schemas.settings import Settings

EXIT_REFUSED: Final = 5
FAULTS_SHOWN: Final = 10
OPTIONS: Final = {**options.GRAPH, "episode_id": "EPISODE"}
app = typer.Typer(add_completion=False)


class HeardConversation(GraphRequest):
    """The conversation that is named."""

    episode_id: Identifier


@app.command()
def hear(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    episode: Annotated[str, typer.Argument(help="The conversation; it begins with its first message.")],
    speaker: Annotated[str | None, typer.Argument(help="Who says it: a name, or user, assistant, …")] = None,
    text: Annotated[str | None, typer.Argument(help="What is said.")] = None,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    time: Annotated[str | None, typer.Option(metavar="TIME", help="When it was said. Default: now.")] = None,
    message_id: Annotated[
        str | None, typer.Option("--id", help="The sender's id: sent again with other words it is an edit.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Its session. Default: a pause of more than an hour begins one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Append a message to a conversation. Without SPEAKER and TEXT, read messages from standard input.

    Standard input holds messages as lines of JSON, new ones or the whole chat as it is now: only what is new is
    stored. Exits with 5 when a message was refused; the others are stored.
    """
    named = {"citizen_id": citizen, "episode_id": episode, **options.graph(level, collective)}
    chosen = support.validate(HeardConversation, named, OPTIONS)
    given = {"speaker": speaker, "text": text, "time": time, "id": message_id, "session": session}
    one = support.drop_unset(given)
    report = support.run(_hear(support.read_settings(ctx), chosen, [one] if one else _read_lines()))
    support.print_answer(report, _show, as_json=as_json)
    if report.refused:
        raise typer.Exit(EXIT_REFUSED)


def _read_lines() -> Iterator[dict[str, Any]]:
    for number, line in enumerate(sys.stdin, start=1):
        if not line.strip():
            continue
        try:
            message = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise _not_a_message(number) from error
        if not isinstance(message, dict):
            raise _not_a_message(number)
        yield message


def _not_a_message(number: int) -> InvalidRequest:
    return InvalidRequest(
        f"line {number} is no JSON object",
        remedy='Each line holds one message, such as {"role": "user", "content": "Hello."}. '
        "What stands before it may be stored; send the whole again: nothing is stored twice.",
    )


async def _hear(settings: Settings, chosen: HeardConversation, messages: Any) -> HeardReport:
    """Store the messages in parts, so that a long chat is never in memory as a whole."""
    reports: list[HeardReport] = []
    async with support.open_store(settings) as runtime:
        for part in batched(messages, MESSAGES_AT_ONCE):
            sent = NewMessages(chosen.owner, chosen.episode_id, part, chosen.graph_key)
            job = Job(runtime.deps, await runtime.moment(), support.writer_of(chosen))
            reports.append(await hear_messages(sent, job))
    return join_heard(reports).model_copy(update={"citizen_id": chosen.citizen_id})


def _show(report: HeardReport, console: Console) -> None:
    counts = ("stored", "superseded", "retracted", "left_out", "refused")
    told = [f"{name.replace('_', ' ')} {getattr(report, name):,}" for name in counts if getattr(report, name)]
    told += [f"there already {report.duplicates:,}"] if report.duplicates else []
    told += [f"can be found now {report.findable:,}"] if report.findable else []
    console.print(Text.assemble((formatting.to_line(report.episode_id), "bold"), f": {', '.join(told)}"))
    for note in report.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", "yellow"))
    for fault in refused_messages(report)[:FAULTS_SHOWN]:
        console.print(Text(f"refused: {formatting.to_line(fault)}", "red"))
