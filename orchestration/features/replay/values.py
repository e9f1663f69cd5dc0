"""What is kept of the streams of a citizen, and what is said when one is asked again."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from schemas.base import Frozen
from schemas.memory import Collective, InGraph, Level

type Way = Literal["retrieve", "wake"]
type Fate = Literal["same", "closed", "erased", "only_then", "only_now"]
type Cause = Literal[
    "weights", "model", "erased", "degraded", "reranker", "written_meanwhile", "imported", "unknown"
]


class ShownMemory(InGraph, Frozen):
    """A memory that a stream showed, by its version."""

    level: Level
    collective: Collective | None = None
    id: str
    version: int


class ShownTiers(Frozen):
    """The memories that a stream showed, best first."""

    focus: tuple[ShownMemory, ...] = ()
    peripheral: tuple[ShownMemory, ...] = ()
    background: tuple[ShownMemory, ...] = ()


class StreamSummary(Frozen):
    """One stream of a list: when it was asked for, how, what was asked, and how many memories it showed."""

    stream_id: str
    asked_at: datetime
    way: Way
    asked: str
    levels: tuple[Level, ...]
    shown: int


class StreamPage(Frozen):
    """A page of the streams of a citizen, the newest first."""

    citizen_id: str
    streams: tuple[StreamSummary, ...]
    next: str | None = None


class StreamRecord(StreamSummary):
    """What is kept of a stream.

    It saw what held in `[valid_from, valid_to)` as known in `[known_from, known_to)`; null: without an end.
    `request`: as it was sent, with every option. `tiers`: what it showed. `hidden`: memories of shared graphs that
    this key may not read, which are left out. `weights` and `model`: names of what ranked it and of the model of
    its vectors; another name is another one. `degraded`: queries whose results were missing.
    """

    citizen_id: str
    goal: str | None = None
    request: dict[str, Any]
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    known_from: datetime | None = None
    known_to: datetime | None = None
    tiers: ShownTiers
    hidden: int = 0
    weights: str
    model: str
    degraded: tuple[str, ...] = ()


class Replacement(Frozen):
    """The record that a memory has now in place of one that was closed."""

    version: int
    name: str
    description: str


class ReplayedMemory(InGraph, Frozen):
    """What has become of a memory that a stream showed, or that it shows only now.

    `fate`: `same`; `closed` since, at `closed_at`, because of `reason`, and `replaced_by` what holds now (null
    where nothing does); `erased` since, of which nothing is shown; found `only_then`, or `only_now`, for one of
    `causes`. `place_then` and `place_now` count from 1, without what was erased.
    """

    level: Level
    collective: Collective | None = None
    id: str
    version: int
    fate: Fate
    name: str | None = None
    place_then: int | None = None
    place_now: int | None = None
    closed_at: datetime | None = None
    reason: str | None = None
    replaced_by: Replacement | None = None
    causes: tuple[Cause, ...] = ()


class Replay(Frozen):
    """A stream that was asked again as of then, known then.

    `same`: the memories and their order are those of then, but for what was erased. If not, `causes` says why:
    other `weights` (of the channels, or what feedback taught, which was taken back), another `model` of vectors,
    something `erased` that weighed on the rest, a `degraded` answer then or now, a `reranker` that is a model,
    `written_meanwhile` (while it was asked), `imported` with an earlier date; `unknown`: none of these.
    """

    stream_id: str
    citizen_id: str
    way: Way
    asked: str
    asked_at: datetime
    same: bool
    order_changed: bool = False
    causes: tuple[Cause, ...] = ()
    memories: tuple[ReplayedMemory, ...]
    hidden: int = 0
