"""Answers of the service besides streams and records: pages, histories, reports, health."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import CitizenId, Frozen
from schemas.commands import WriteReceipt
from schemas.language_model import FactsReport
from schemas.memory import (
    Collective,
    ConsciousnessNode,
    ConsciousnessRelationship,
    Level,
    LinkRecord,
    MemoryRecord,
)
from schemas.mind.appetite import Appetite, Decision
from schemas.stream import ConsciousnessStream
from schemas.stream_forms import SentStream, as_stream

Degraded = Annotated[
    tuple[str, ...], Field(description="Memories or links with a field that cannot be shown and was left out.")
]


class MemoryHistory(Frozen):
    """Records of one memory, in the order they became known; `next` is the cursor of the next page."""

    id: str
    records: tuple[MemoryRecord, ...]
    next: str | None = None
    degraded: Degraded = ()


class MemoryPage(Frozen):
    """Memories in a stable order; `next` is the cursor of the next page.

    `notes`, on the first page, name values of the filters that no memory has.
    """

    memories: tuple[ConsciousnessNode, ...]
    next: str | None = None
    notes: tuple[str, ...] = ()
    degraded: Degraded = ()


class LinkHistory(Frozen):
    """Records of one link, in the order they became known; `next` is the cursor of the next page."""

    id: str
    records: tuple[LinkRecord, ...]
    next: str | None = None
    degraded: Degraded = ()


class LinkPage(Frozen):
    """Links by their source memory, in a stable order; `next` is the cursor of the next page."""

    links: tuple[ConsciousnessRelationship, ...]
    next: str | None = None
    degraded: Degraded = ()


class ReceiptList(Frozen):
    """The receipts of many commands, in their order."""

    receipts: tuple[WriteReceipt, ...]
    stored: int
    refused: int


class IngestReport(Frozen):
    """The content of some files, and the results of storing it.

    `formats` are those of the files, as they were named or guessed. The next five fields count what the files
    hold, without repeats. `stored`, `duplicates` and `refused` add up to the number of commands and of parts that
    could not be read; a duplicate was stored before. Of the stored ones, `superseded` changed a memory and
    `retracted` ended one; `findable` memories with words of their own hold now, so that a question can find them.
    `faults` explains the first refused ones; `notes` says what was assumed or left out.
    """

    formats: tuple[str, ...] = ()
    turns: int = 0
    sessions: int = 0
    persons: int = 0
    memories: int = 0
    links: int = 0
    stored: int = 0
    duplicates: int = 0
    refused: int = 0
    superseded: int = 0
    retracted: int = 0
    findable: int = 0
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class EpisodeReport(IngestReport):
    """The report of a stored conversation; on a shared level `citizen_id` is who told it, if somebody did."""

    citizen_id: str | None = None
    episode_id: str
    level: Level = Level.N1
    collective: Collective = None
    facts: FactsReport | None = None


class HeardMessage(Frozen):
    """What became of a message: `id` of its turn, `message_id` as the sender named it.

    `stored`; `duplicate`: it was stored before; `superseded`: it was edited, and its new text holds from then on;
    `retracted`: it was taken back; `left_out`: it has no text; `refused`. `reason` explains the last two.
    """

    message_id: str | None = None
    status: Literal["stored", "duplicate", "superseded", "retracted", "left_out", "refused"]
    id: str | None = None
    reason: str | None = None


class HeardReport(Frozen):
    """What became of each message of a list, in its order, and how many there are of each kind.

    Of those that were stored or superseded, `findable` hold now, so that a question can find them.
    """

    citizen_id: str | None = None
    episode_id: str
    stored: int = 0
    duplicates: int = 0
    superseded: int = 0
    retracted: int = 0
    left_out: int = 0
    refused: int = 0
    findable: int = 0
    level: Level = Level.N1
    collective: Collective = None
    messages: tuple[HeardMessage, ...] = ()
    notes: tuple[str, ...] = ()


class EpisodeProgress(Frozen):
    """Progress of a conversation stored in the background: `done` of `total` messages.

    `stored` has a `report`, perhaps with faults; `failed` says why in `detail`. Sending it again resumes it.
    """

    citizen_id: str | None = None
    episode_id: str
    level: Level = Level.N1
    collective: Collective = None
    status: Literal["running", "stored", "failed"] = "running"
    done: int = 0
    total: int = 0
    report: EpisodeReport | None = None
    detail: str | None = None


class Alive(Frozen):
    """The process answers."""

    status: Literal["alive"] = "alive"
    open: bool = Field(default=False, description="True when no key is needed.")


class Ready(Frozen):
    """The engine answers, and every index of every graph is operational. Only administrators see `graphs`."""

    status: Literal["ready"] = "ready"
    engine: Literal["embedded", "server"]
    ping_ms: float
    graphs: int | None
    embedding: str
    dimension: int
    open: bool = False
    notes: tuple[str, ...] = Field(
        default=(), description="What will need attention soon, such as a disk that is almost full."
    )


class _Intended(Frozen):
    citizen_id: CitizenId
    appetite: Appetite
    decision: Decision


class Intended(_Intended):
    """The appetite, the decision, and the stream; null where nothing was asked."""

    stream: ConsciousnessStream | None = None


class SentIntended(_Intended):
    """The appetite, the decision, and the stream in the form that was asked for; null where nothing was asked."""

    stream: SentStream | None = None


def expand_intended(sent: SentIntended) -> Intended:
    """The usual form of what was sent."""
    stream = None if sent.stream is None else as_stream(sent.stream)
    return Intended(citizen_id=sent.citizen_id, appetite=sent.appetite, decision=sent.decision, stream=stream)
