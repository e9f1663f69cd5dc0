"""The calls that store conversations, message by message or as a whole."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import datetime
from itertools import batched
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, Unpack

from anyio import to_thread

from api.client.transport import Call, Fields, Sender, quote_segment
from schemas.base import without_nulls
from schemas.errors import InvalidRequest, Refused
from schemas.memory import Level
from schemas.responses import EpisodeReport, HeardReport, IngestReport

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


class FileFields(LevelFields, total=False):
    """How a file is read, and for whom. `timezone`: of times that name none; `strict`: all of it, or nothing."""

    format: str
    timezone: str
    strict: bool


class ConversationCalls(Sender):
    """The calls of a client that store conversations."""

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
        for part in batched([*messages, *([one] if one else [])], MESSAGES_AT_ONCE):
            body = {**without_nulls(where), "messages": list(map(dict, part))}
            reports.append(await self._request(HeardReport, Call("POST", path, body)))
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
        report = await self._request(IngestReport, Call("POST", "/v1/files", body))
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
        report = await self._request(EpisodeReport, Call("POST", "/v1/episodes", body))
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


def raise_refused[R: (EpisodeReport, HeardReport, IngestReport)](report: R, faults: Sequence[str]) -> R:
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
