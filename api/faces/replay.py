"""`substrate replay`: the streams of a citizen, and what it knew when it asked for one."""

from __future__ import annotations

import re
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.client import AsyncSubstrate
from api.mcp.tool import Resource
from orchestration.features.replay import flow as ask
from orchestration.features.replay.comparison import tell
from orchestration.features.replay.values import Replay, StreamPage
from orchestration.mind.stream_note import citizen_of
from orchestration.mind.stream_notes import read_last_stream
from schemas.errors import InvalidRequest, NotFound
from schemas.memory import Level
from schemas.paging import Paged
from schemas.settings import Settings

OPTIONS: Final = {"limit": "--limit", "cursor": "--cursor"}

app = typer.Typer(add_completion=False)


@app.command()
def replay(
    ctx: typer.Context,
    stream: Annotated[str | None, typer.Argument(metavar="[STREAM]", help="The stream_id of an answer.")] = None,
    *,
    last: Annotated[bool, typer.Option("--last", help="The last stream of the citizen.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the streams of the citizen.")] = False,
    citizen: options.AnyCitizen = None,
    limit: Annotated[int, typer.Option(help="Streams of the list, 1 to 500.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="The `next` of the page before.")] = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Ask a stream again, as of then and known then: what did it know when it did that?"""
    if sum((stream is not None, last, listed)) != 1:
        raise InvalidRequest("which stream is not said", remedy="Name a stream, or --last, or --list.")
    if stream is None and citizen is None:
        raise InvalidRequest("whose streams is not said", remedy="Name the citizen with --citizen.")
    page = support.validate(Paged, support.drop_unset({"limit": limit, "cursor": cursor}), OPTIONS)
    settings = support.read_settings(ctx)
    if listed:
        answer = support.in_store(
            settings, lambda deps, _: ask.list_streams(citizen or "", page, deps), citizen or ""
        )
        support.print_answer(answer, _show_list, as_json=as_json)
    else:
        support.print_answer(support.run(_replay(settings, stream, citizen or "")), _show, as_json=as_json)


async def _replay(settings: Settings, stream: str | None, citizen: str) -> Replay:
    async with support.open_store(settings) as runtime:
        if stream is None:
            await support.find_graph(runtime, Level.N1, citizen)
            newest = await read_last_stream(citizen, runtime.deps)
            if newest is None:
                raise NotFound(f"{citizen} has asked for no stream yet")
            stream = newest.stream_id
        return await ask.replay(stream, runtime.deps, await runtime.moment())


def _show_list(page: StreamPage, console: Console) -> None:
    table = Table("asked at", "stream", "asked", "shown", box=None)
    for stream in page.streams:
        when = formatting.format_time(stream.asked_at)
        table.add_row(when, stream.stream_id, Text(formatting.to_line(stream.asked)), str(stream.shown))
    if page.streams:
        console.print(table)
    else:
        support.messages().print(Text("no stream is noted", "bright_black"))
    if page.next is not None:
        console.print(Text(f"more: --cursor {page.next}", "bright_black"), soft_wrap=True)


def _show(replayed: Replay, console: Console) -> None:
    for line in tell(replayed):
        console.print(Text(line), soft_wrap=True)


async def _read(client: AsyncSubstrate, stream_id: str) -> str:
    """What became of the memories of a stream. Raises NotFound for one of a citizen out of reach."""
    return "\n".join(tell(await client.replay(stream_id)))


RESOURCES: Final = (
    Resource(
        "stream",
        "substrate://streams/{stream_id}",
        "What a citizen knew when it asked for a stream, and what became of it.",
        re.compile(r"substrate://streams/([^/]+)"),
        citizen_of,
        _read,
    ),
)
