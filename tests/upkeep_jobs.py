"""Jobs of upkeep made for tests: values that say what each page does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orchestration.upkeep.job import JobContext, Page
from schemas.commands import Command
from schemas.memory import Level
from schemas.upkeep.runs import JobName

type PageMaker = Callable[[JobContext], Page | Sequence[Command]]


@dataclass
class PagedJob:
    """A job with a list of pages; each is made when it is planned. `fails_at`: the pages that raise, once each."""

    pages: Sequence[PageMaker]
    name: JobName = "tags"
    levels: tuple[Level, ...] = (Level.N1,)
    period_s: int = 3600
    undoable: bool = True
    default: bool = True
    fails_at: set[int] = field(default_factory=set)
    planned: list[int] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        place = int(cursor or 0)
        self.planned.append(place)
        if place in self.fails_at:
            self.fails_at.discard(place)
            raise RuntimeError("the words of a memory")
        made = self.pages[place](context)
        page = made if isinstance(made, Page) else Page(len(made), commands=tuple(made))
        following = str(place + 1) if place + 1 < len(self.pages) else None
        return page._replace(next=following)

    async def keep(self, context: JobContext, page: Page) -> int:
        self.kept += page.beside
        return len(page.beside)

    async def undo(self, context: JobContext) -> int:
        undone = len(self.kept) if self.undoable else 0
        self.kept = self.kept[undone:]
        return undone
