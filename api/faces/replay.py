"""`substrate replay`: the streams of a citizen, and what it knew when it asked for one."""

from __future__ import annotations

import re
from typing import Final

from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import argument, option
from api.client import AsyncSubstrate
from api.mcp.tool import Resource
from orchestration.dependencies import Deps
from orchestration.features.replay import comparison, flow
from orchestration.features.replay.values import Replay, StreamPage
from orchestration.mind.stream_note import citizen_of
from orchestration.mind.stream_notes import read_last_stream
from schemas.errors import InvalidRequest, NotFound
from schemas.paging import Paged
from schemas.temporal import Instant


class ReplayCommand(options.StoreCommand, name="replay"):
    """Ask a stream again, as of then and known then: what did it know when it did that?"""

    stream: str | None = argument("[STREAM]", "The stream_id of an answer.", None)
    last: bool = option("--last", "The last stream of the citizen.", False)
    listed: bool = option("--list", "List the streams of the citizen.", False)
    citizen_id: str | None = options.ANY_CITIZEN
    limit: int = option("--limit", "Streams of the list, 1 to 500.", 50)
    cursor: str | None = options.CURSOR
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        if sum((self.stream is not None, self.last, self.listed)) != 1:
            raise InvalidRequest("which stream is not said", remedy="Name a stream, or --last, or --list.")
        if self.stream is None and self.citizen_id is None:
            raise InvalidRequest("whose streams is not said", remedy="Name the citizen with --citizen.")
        page, citizen = self.request(Paged), self.citizen_id or ""
        if self.listed:
            self.show(self.answer(flow.list_streams, citizen, page, of=citizen), _show_list)
        elif self.stream is not None:
            self.show(self.answer(flow.replay, self.stream), _show)
        else:
            self.show(self.answer(_replay_last, citizen, of=citizen), _show)


async def _replay_last(citizen: str, deps: Deps, now: Instant) -> Replay:
    newest = await read_last_stream(citizen, deps)
    if newest is None:
        raise NotFound(f"{citizen} has asked for no stream yet")
    return await flow.replay(newest.stream_id, deps, now)


def _show_list(answer: StreamPage, page: support.Sheet) -> None:
    table = Table("asked at", "stream", "asked", "shown", box=None)
    for stream in answer.streams:
        when = formatting.format_time(stream.asked_at)
        table.add_row(when, stream.stream_id, Text(formatting.to_line(stream.asked)), str(stream.shown))
    if answer.streams:
        page.print(table)
    else:
        support.remark("no stream is noted")
    page.cursor(answer.next)


def _show(replayed: Replay, page: support.Sheet) -> None:
    for line in comparison.tell(replayed):
        page.say(line)


async def _read(client: AsyncSubstrate, stream_id: str) -> str:
    """What became of the memories of a stream. Raises NotFound for one of a citizen out of reach."""
    return "\n".join(comparison.tell(await client.replay(stream_id)))


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
