"""What is asked of the feed of a graph, and what it tells."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.base import AtMost, CitizenId, Frozen, Name, ShortText
from schemas.collectives import GraphRequest
from schemas.memory import Collective, InGraph, Level, Source
from schemas.paging import MOST

LONGEST_WAIT_S = 30.0
EVENTS: Final = {
    "state": "The state of the citizen changed: `set`, by `feedback` of a stream, or at the end of a `cycle`.",
    "learn": "A question found that a belief changed: `id` tells what holds instead of the memory `of`.",
    "run": "A run of upkeep ended that changed something or failed; `type` is its job, `of` how it ended.",
}
"""What the feed of any graph tells beside commands."""

After = Annotated[
    Annotated[str, Field(max_length=8000)] | None,
    Field(
        description="The `next` of the page before, or the `cursor` of a change: what came after it. `now`: only "
        "what comes from now on. Left out: from the first."
    ),
]


class ChangeFilter(GraphRequest):
    """A graph; optionally only some commands, types, sources, or one author.

    `commands` are kinds of change, such as `remember`, `correct` and `ingest`; `types` are those of memories and
    of links.
    """

    commands: Annotated[tuple[ShortText, ...], AtMost(16)] = ()
    types: Annotated[tuple[Name, ...], AtMost(16)] = ()
    sources: Annotated[tuple[Source, ...], AtMost(16)] = ()
    author: CitizenId | None = None

    def passes(self, change: AppliedChange) -> bool:
        """Whether the change is asked for."""
        return (
            (not self.commands or change.command in self.commands)
            and (not self.types or change.type in self.types)
            and (not self.sources or change.source in self.sources)
            and (self.author is None or change.author == self.author)
        )


class ChangesRequest(ChangeFilter):
    """What changed in a graph after a cursor; optionally only some commands, types, sources, or one author.

    `commands` are kinds of change, such as `remember`, `correct` and `ingest`; `types` are those of memories and
    of links. With `wait` an answer with nothing new waits so many seconds for something.
    """

    after: After = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = 100
    wait: Annotated[float, Field(ge=0, le=LONGEST_WAIT_S, allow_inf_nan=False)] = 0.0


class AppliedChange(InGraph, Frozen):
    """A command that was applied, or an event: which memory or link it changed, since when that is known, by whom.

    `version` is the record that it wrote or closed, `type` that of the memory or link. All are null for a
    conversation, whose `command` is `ingest`; it comes again when more of it is stored, and `part` counts that.
    Events have the commands `state`, `learn`, `run`, `quarantine` and ids that begin with `event-`.
    """

    cursor: str
    command_id: str
    command: str
    known_at: datetime
    level: Level
    collective: Collective | None = None
    citizen_id: str | None = None
    subject: Literal["memory", "link"] | None = None
    id: str | None = None
    version: int | None = None
    type: str | None = None
    of: str | None = None
    name: str | None = None
    source: Source | None = None
    author: str | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    part: int = 1


class ChangePage(Frozen):
    """The next changes of a graph, in the order in which they were applied; `next` is the cursor behind them.

    `more`: there are more already. `erased`: something was erased since the cursor; nothing says what, so read
    anew what you keep of the graph. `epoch` rises when the graph has another past, as after a restore; cursors of
    an earlier one are refused.
    """

    changes: tuple[AppliedChange, ...] = ()
    next: str
    more: bool = False
    erased: bool = False
    epoch: int
