"""Messages that are heard: their fields, and the reports of a long list as one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypedDict

from schemas.errors import InvalidRequest, Refused
from schemas.responses import EpisodeReport, HeardReport

MESSAGES_AT_ONCE: Final = 500
"""A longer list is sent in parts, each well within the patience of a request."""


class MessageFields(TypedDict, total=False):
    """Further fields of one message."""

    id: str
    timestamp: datetime | str
    session: str
    edited_at: datetime | str
    deleted: bool


def join_heard(reports: Sequence[HeardReport]) -> HeardReport:
    """The reports of the parts of a list as one. Raises InvalidRequest without any: nothing was said."""
    if not reports:
        raise InvalidRequest("messages: name a speaker and a text, or messages")
    joined: dict[str, Any] = {}
    for name in ("stored", "duplicates", "superseded", "retracted", "left_out", "refused"):
        joined[name] = sum(getattr(report, name) for report in reports)
    joined["messages"] = tuple(message for report in reports for message in report.messages)
    joined["notes"] = tuple(note for report in reports for note in report.notes)
    return reports[0].model_copy(update=joined)


def refused_messages(report: HeardReport) -> list[str]:
    """Why each refused message was refused, with its number in the list."""
    refused = (pair for pair in enumerate(report.messages, start=1) if pair[1].status == "refused")
    return [f"message {number}: {message.reason}" for number, message in refused]


def raise_refused[R: (EpisodeReport, HeardReport)](report: R, faults: Sequence[str]) -> R:
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
