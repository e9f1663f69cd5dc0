"""The async client: every method of the API, over HTTP or of an application in this process."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, TypeVar

import httpx
from anyio import sleep, to_thread
from typing_extensions import Self, Unpack

from substrate_client._calls import Calls
from substrate_client.errors import InvalidRequest, Refused, Unavailable
from substrate_client.transport import (
    ATTEMPTS,
    Call,
    Fields,
    ModelOrFields,
    collect_commands,
    quote_segment,
    read_connection,
    without_nulls,
)

if TYPE_CHECKING:
    from substrate_client.models import (
        ChangePage,
        EpisodeReport,
        HeardReport,
        IngestReport,
        Level,
        ReceiptList,
        ValidationResult,
    )

R = TypeVar("R", "EpisodeReport", "HeardReport", "IngestReport")
INSIDE: Final = ("", 0)
"""A caller inside this process has no address."""


WAIT_S: Final = 20.0
"""So long a request of `watch` waits for a change."""
AGAIN_S: Final = 1.0
MESSAGES_AT_ONCE: Final = 500
"""A longer list is sent in parts, each well within the patience of a request."""


class LevelFields(TypedDict, total=False):
    """A graph: its level, and on N2 its collective."""

    level: Level | Literal["N1", "N2", "N3"]
    collective: str | None


class MessageFields(TypedDict, total=False):
    """Further fields of one message."""

    id: str
    timestamp: datetime | str
    session: str
    edited_at: datetime | str
    deleted: bool


class HearFields(MessageFields, LevelFields, total=False):
    """A message, and the shared graph of its conversation."""


class WatchFields(LevelFields, total=False):
    """Which graph, and which of its changes."""

    commands: Sequence[str]
    types: Sequence[str]
    sources: Sequence[str]
    author: str


class FileFields(LevelFields, total=False):
    """How a file is read, and for whom. `timezone`: of times that name none; `strict`: all of it, or nothing."""

    format: str
    timezone: str
    strict: bool


class AsyncSubstrate(Calls):
    """Client of a service at `base_url` with the key `api_key`; both default to the environment.

    Raises the errors of `substrate_client.errors` as the service raised them, Unavailable when it cannot be
    reached. Use it in `async with`, or close it with `aclose`.
    """

    def __init__(
        self, base_url: str | None = None, api_key: str | None = None, *, http: httpx.AsyncClient | None = None
    ) -> None:
        self._http = http or httpx.AsyncClient(**read_connection(base_url, api_key))

    @classmethod
    def inside(cls, app: Any, headers: Mapping[str, str] | None = None, attempts: int = ATTEMPTS) -> Self:
        """A client of an ASGI application in this process that is already started."""
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=INSIDE)
        http = httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers, trust_env=False
        )
        client = cls(http=http)
        client._attempts = attempts
        return client

    async def apply(self, commands: Sequence[ModelOrFields], *, atomic: bool = False) -> ReceiptList:
        """Apply up to 1000 commands in order; each is stored or refused on its own.

        A command sent as fields names its kind in `command`. With `atomic` all are stored or none: at most 100,
        for one graph.
        """
        params = {"atomic": "true"} if atomic else {}
        receipts: ReceiptList = await self._request(
            "ReceiptList", Call("POST", "/v1/commands", collect_commands(commands), params)
        )
        return receipts

    async def validate_link(self, link: Mapping[str, Any]) -> ValidationResult:
        """Errors, warnings and completeness of a link's metadata; stores nothing."""
        call = Call("POST", "/v1/validation/link", dict(link))
        result: ValidationResult = await self._request("ValidationResult", call)
        return result

    async def save_mirror(self, citizen_id: str | None, target: Path | str, **where: Unpack[LevelFields]) -> int:
        """Save the memory of the citizen, or a shared graph, as a tar of Markdown files; returns its bytes.

        Raises FileExistsError when the file exists.
        """
        call = Call("GET", "/v1/files/mirror", params={"citizen_id": citizen_id, **where})
        return await self._save(call, Path(target))

    async def watch(
        self, citizen_id: str | None = None, *, after: str | None = None, **asked: Unpack[WatchFields]
    ) -> AsyncIterator[ChangePage]:
        """What changes in a graph, a page at a time as it changes; without end. `after` as for `changes`.

        Keep the `next` of a page when you have done what it says: go on from there. While the service cannot be
        reached it is asked again. Raises Conflict when the graph has another past than the cursor, as after a
        restore.
        """
        while True:
            params = without_nulls({"citizen_id": citizen_id, "after": after, "wait": WAIT_S, **asked})
            try:
                page: ChangePage = await self._request("ChangePage", Call("GET", "/v1/changes", params=params))
            except Unavailable:
                await sleep(AGAIN_S)
                continue
            after = page.next
            if page.changes or page.erased:
                yield page

    async def hear(
        self,
        episode_id: str,
        speaker: str | None = None,
        text: str | None = None,
        *,
        citizen_id: str | None = None,
        messages: Sequence[Fields] = (),
        raise_on_refusal: bool = True,
        **message: Unpack[HearFields],
    ) -> HeardReport:
        """Append one message to a conversation, or all new ones of `messages`; it begins with the first.

        `speaker` is a name or a role. `messages` may be the new messages, the last ones, or the whole list as it
        is now: only what is new is stored. With `level` or `collective` the conversation is in a shared graph, and
        `citizen_id` is the author. Raises Refused when a message was refused, unless told not to; the others are
        stored.
        """
        one = without_nulls({"speaker": speaker, "text": text, **message})
        where = {
            "citizen_id": citizen_id,
            "level": one.pop("level", None),
            "collective": one.pop("collective", None),
        }
        path = f"/v1/episodes/{quote_segment(episode_id)}/turns"
        reports: list[HeardReport] = []
        heard = list(map(dict, [*messages, *([one] if one else [])]))
        for first in range(0, len(heard), MESSAGES_AT_ONCE):
            body = {**without_nulls(where), "messages": heard[first : first + MESSAGES_AT_ONCE]}
            reports.append(await self._request("HeardReport", Call("POST", path, body)))
        report = join_heard(reports)
        return raise_refused(report, refused_messages(report)) if raise_on_refusal else report

    async def ingest_file(
        self,
        citizen_id: str | None,
        path: str | PathLike[str],
        *,
        raise_on_refusal: bool = True,
        **options: Unpack[FileFields],
    ) -> IngestReport:
        """Store a file of another program, or an archive as it was downloaded: chats, mails, tables, documents.

        Its format is told by what it holds, unless `format` names it. Sending it again, or a later export, adds
        only what is new. Raises Refused when a part of it was refused, unless told not to; the rest is stored.
        """
        file = Path(path)
        content = b64encode(await to_thread.run_sync(file.read_bytes)).decode()
        body = {"citizen_id": citizen_id, "name": file.name, "content": content, **options}
        report: IngestReport = await self._request("IngestReport", Call("POST", "/v1/files", body))
        return raise_refused(report, report.faults) if raise_on_refusal else report

    async def ingest(
        self,
        citizen_id: str | None,
        messages: Sequence[Fields],
        *,
        episode_id: str | None = None,
        known_as_happened: bool = False,
        raise_on_refusal: bool = True,
        **where: Unpack[LevelFields],
    ) -> EpisodeReport:
        """Store a conversation: each message has a `role`, a `content` and, if known, a `timestamp`.

        Sending it again, whole or grown, stores nothing twice. `level` and `collective` as for `hear`. With
        `known_as_happened`, for administrators, each message becomes known when it was said. Raises Refused when a
        part of it was refused, unless told not to; the rest is stored.
        """
        sent = list(map(dict, messages))
        body: dict[str, Any] = {**without_nulls({"citizen_id": citizen_id, **where}), "messages": sent}
        if episode_id is not None:
            body["episode_id"] = episode_id
        if known_as_happened:
            body["known_as_happened"] = True
        report: EpisodeReport = await self._request("EpisodeReport", Call("POST", "/v1/episodes", body))
        return raise_refused(report, report.faults) if raise_on_refusal else report


def join_heard(reports: Sequence[HeardReport]) -> HeardReport:
    """The reports of the parts of a list as one. Raises InvalidRequest without any: nothing was said."""
    if not reports:
        raise InvalidRequest("messages: name a speaker and a text, or messages")
    joined: dict[str, Any] = {}
    for name in ("stored", "duplicates", "superseded", "retracted", "left_out", "refused", "findable"):
        joined[name] = sum(getattr(report, name) for report in reports)
    joined["messages"] = tuple(message for report in reports for message in report.messages)
    joined["notes"] = tuple(note for report in reports for note in report.notes)
    return reports[0].model_copy(update=joined)


def refused_messages(report: HeardReport) -> list[str]:
    """Why each refused message was refused, with its number in the list."""
    refused = (pair for pair in enumerate(report.messages, start=1) if pair[1].status == "refused")
    return [f"message {number}: {message.reason}" for number, message in refused]


def raise_refused(report: R, faults: Sequence[str]) -> R:
    """The report. Raises Refused when something was refused."""
    if not report.refused:
        return report
    error = Refused(
        f"{report.refused:,} refused: {faults[0] if faults else 'see the report'}",
        remedy="The rest is stored. Correct what was refused and send it again, or set raise_on_refusal to False.",
        faults=faults,
    )
    error.report = report
    raise error
