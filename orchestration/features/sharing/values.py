"""The shared world: a memory shared up a level, contested by others, and how far they agree on it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import CitizenId, Flag, Frozen, Identifier, Name, Request, Unit
from schemas.collectives import CollectiveId, check_collective
from schemas.memory import Collective, Contest, GraphKey, InGraph, Level, SharedFrom, SharedLevel, graph_key
from schemas.paging import Paged


class Share(Request):
    """Copy a memory to a shared level, in the name of the citizen; sent again, it brings the copy up to date.

    `level` and `collective`: where it goes, as in the answer. `from_level` and `from_collective`: where the memory
    stands now. `with_links`: also its links to memories that the citizen shared there.
    """

    command_id: Identifier | None = None
    citizen_id: CitizenId
    from_level: Literal[Level.N1, Level.N2] = Level.N1
    from_collective: CollectiveId | None = None
    id: Identifier
    level: SharedLevel
    collective: CollectiveId | None = None
    with_links: Flag = True

    @model_validator(mode="after")
    def _goes_up(self) -> Self:
        if self.level <= self.from_level:
            raise ValueError(f"level must be higher than from_level, which is {self.from_level}")
        check_collective(self.level, self.collective)
        check_collective(self.from_level, self.from_collective)
        return self

    @property
    def stands_in(self) -> GraphKey:
        """The key of the graph of the original."""
        return graph_key(self.from_level, self.from_collective)

    @property
    def goes_to(self) -> GraphKey:
        """The key of the graph of the copy."""
        return graph_key(self.level, self.collective)


class Shared(InGraph, Frozen):
    """What became of a share. `id` is the copy's, always the same for the same memory.

    `unchanged`: the copy has this version already. `links`: those copied now. `left`: links that were refused, and
    why. `contested`: who contests the memory or its copy.
    """

    command_id: str
    status: Literal["shared", "updated", "unchanged"]
    level: Level
    collective: Collective = None
    id: str
    version: int | None
    shared_from: SharedFrom
    links: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    contested: tuple[Contest, ...] = ()


class OnSharedLevel(InGraph, Request):
    """A request about a shared level, or a collective of N2."""

    level: SharedLevel = Level.N2
    collective: CollectiveId | None = None

    @model_validator(mode="after")
    def _check_collective(self) -> Self:
        check_collective(self.level, self.collective)
        return self


class Withdraw(OnSharedLevel):
    """Take back what the citizen said against a shared memory."""

    command_id: Identifier | None = None
    citizen_id: CitizenId
    id: Identifier


class ContestRequest(Withdraw):
    """Contest a shared memory of another in the name of the citizen; sent again, it gives another reason."""

    reason: Name


class Contested(InGraph, Frozen):
    """A shared memory that somebody contests now."""

    level: Level
    collective: Collective = None
    id: str
    name: str
    author: str | None = None
    contested: tuple[Contest, ...] = ()


class ContestedQuery(OnSharedLevel, Paged):
    """A page of what is contested on a level; optionally what `by` contests, or what `author` wrote."""

    by: CitizenId | None = None
    author: CitizenId | None = None


class ContestedPage(Frozen):
    """`next` is the cursor of the next page; null on the last one."""

    memories: tuple[Contested, ...]
    next: str | None = None


class Agreement(InGraph, Frozen):
    """How far the citizens agree on a shared memory: those who hold it among all who spoke, in [0, 1].

    A citizen holds it who wrote these words there, as its own or as a copy; `shared_by` are those with a copy.
    Who holds and contests counts as contesting. Null where nobody spoke.
    """

    level: Level
    collective: Collective = None
    id: str
    agreement: Annotated[Unit, Field(description="Holders among all who spoke.")] | None
    held_by: tuple[str, ...] = ()
    contested_by: tuple[str, ...] = ()
    shared_by: tuple[str, ...] = ()
