"""Questions to the doors that tell records as they are: one, all of one, all that a moment sees, or all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from api.request_parsing.reading import (
    LINKS,
    MEMORIES,
    HistoryRequest,
    ListRequest,
    MomentRequest,
    RecordAddress,
    ShownPage,
)
from orchestration.features.identity.feature import read_identity
from orchestration.features.identity.learning import learning_page
from orchestration.features.identity.values import IdentityEntity, LearningPage, WhoIs
from orchestration.transfer.exporter import export
from orchestration.writing.receipts import rebuild_receipt
from schemas.memory import Level
from schemas.paging import MOST
from schemas.stream import TemporalDissonance
from schemas.temporal import to_datetime
from substrate.graphs.names import GraphOf
from substrate.store import reader, rows
from tests.oracle.asking import Asking
from tests.oracle.held import Window, ever, present
from tests.oracle.histories import NAMES, Act, Question
from tests.oracle.learnt import moments, told_moments
from tests.oracle.raw import exported, pointed_to, raw
from tests.oracle.shown import Shown, as_told, of_bond, of_held, of_link, of_memory, of_node, seen_or_none


@dataclass
class Ways(Asking):
    """What is read, listed, exported and told again."""

    told_of: dict[tuple[int, int], list[TemporalDissonance]] = field(default_factory=dict)
    """What had been learnt at a moment, and how often was forgotten before it was asked."""

    def at_moment(self, question: Question) -> dict[str, datetime]:
        """The moment of the question, for the doors that know no range."""
        return {name: at for name, at in self.times(question).items() if name in ("as_of_time", "known_at")}

    def seen_by(self, question: Question) -> Window:
        """The same as the oracle takes it."""
        return self.window(question) if self.at_moment(question) else present(self.now)

    async def reading(self, question: Question) -> None:
        """One memory, or one link, as it is or was."""
        asked = MomentRequest.model_validate({"citizen_id": self.citizen, **self.at_moment(question)})
        window = self.seen_by(question)
        kind, who = (LINKS, self.link(question.who)) if question.widely else (MEMORIES, NAMES[question.who])
        deps, told = self.runtime.deps, of_link if question.widely else of_memory
        row = await seen_or_none(kind.read_row(RecordAddress(Level.N1, who), asked, deps, self.now))
        due = [told(record) for record in self.oracle.seen(window) if record.id == who]
        found = [] if row is None else self.shown([row], window.known_to, links=question.widely)
        self.compare(self.words_of(question), found, due)

    async def history(self, question: Question) -> None:
        """All records of one memory or of one link, as known now or at a moment, page by page under writes."""
        known_at = self.known(question)
        times = {} if known_at is None else {"known_at": to_datetime(known_at)}
        asked = HistoryRequest.model_validate({"citizen_id": self.citizen, "limit": question.limit, **times})
        who = self.link(question.who) if question.widely else NAMES[question.who]
        window = ever(None, None if known_at is None else known_at + 1)
        due = [of_held(record) for record in self.oracle.seen(window) if record.id == who]
        found: list[Shown] = []
        acts = iter(question.acts)
        while True:
            at, deps = RecordAddress(Level.N1, who), self.runtime.deps
            if question.widely:
                links = await seen_or_none(LINKS.read_history(at, asked, deps, self.now))
                found += [] if links is None else [of_bond(one) for one in links.records]
                after = None if links is None else links.next
            else:
                told = await seen_or_none(MEMORIES.read_history(at, asked, deps, self.now))
                found += [] if told is None else [of_node(one) for one in told.records]
                after = None if told is None else told.next
            if after is None:
                break
            asked = asked.model_copy(update={"cursor": after})
            await self.written(next(acts, None))
        self.compare(self.words_of(question), sorted(found, key=str), sorted(due, key=str))

    async def listing(self, question: Question) -> None:
        """All memories, or all links, of the moment of the first page, whatever is written meanwhile."""
        seen = self.oracle.seen(self.seen_by(question))
        asked = ListRequest.model_validate(
            {"citizen_id": self.citizen, "limit": question.limit, **self.at_moment(question)}
        )
        found: list[Shown] = []
        acts = iter(question.acts)
        while True:
            page = await self.page(asked, links=question.widely)
            found += self.shown(page.rows, page.known_to, links=question.widely)
            if page.next is None:
                break
            asked = asked.model_copy(update={"cursor": page.next})
            await self.written(next(acts, None))
        links = [of_link(record) for record in seen if record.ends is not None]
        due = links if question.widely else [of_memory(record) for record in seen if record.ends is None]
        self.compare(self.words_of(question), sorted(found, key=str), sorted(due, key=str))

    async def page(self, asked: ListRequest, *, links: bool) -> ShownPage:
        """One page of a listing."""
        return await (LINKS if links else MEMORIES).read_page(asked, self.runtime.deps, self.now)

    def shown(self, found: Sequence[Sequence[Any]], known_to: int, *, links: bool) -> list[Shown]:
        """Rows as they are shown to those who ask."""
        if links:
            return [of_bond(rows.link(row[2:], (row[0], row[1]), Level.N1, known_to)) for row in found]
        return [of_node(rows.node(row, Level.N1, known_to)) for row in found]

    async def receipt(self, question: Question) -> None:
        """The receipt of a command that was sent some time, of a refused or a forgotten one none."""
        named = [command.command_id for command in self.sent if command.command_id is not None]
        if not named:
            return
        name = named[question.valid.place % len(named)]
        kept = await reader.receipts(self.runtime.deps.graph(self.graph), [name])
        found = [as_told(rebuild_receipt(one, Level.N1)) for one in kept.values()]
        due = [self.oracle.done[name][1]] if name in self.oracle.done else []
        self.compare(f"receipt of {name}", found, due)

    async def export(self, question: Question) -> None:
        """Every record of everything, as known now or at a moment."""
        known_at = self.known(question)
        origin = GraphOf(Level.N1, self.citizen)
        lines = await export([origin], self.runtime.deps, embeddings=False, known_at=known_at)
        said = [orjson.loads(line) for line in lines]
        found = [exported(line) for line in said if line["kind"] in ("memory", "record", "link")]
        seen = self.oracle.seen(ever(None, None if known_at is None else known_at + 1))
        due = [raw(record) for record in seen]
        self.compare(f"export as known at {known_at}", sorted(found, key=str), sorted(due, key=str))

    async def identity(self, question: Question) -> None:
        """The memories to which others point, those with most of them first, page by page under writes."""
        asked = WhoIs.model_validate(
            {"citizen_id": self.citizen, "limit": question.limit, **self.at_moment(question)}
        )
        due = pointed_to(self.oracle.seen(self.seen_by(question)))
        told: list[IdentityEntity] = []
        acts = iter(question.acts)
        while True:
            page = await read_identity(asked, self.runtime.deps, self.now)
            told += page.entities
            if page.next is None:
                break
            asked = asked.model_copy(update={"cursor": page.next})
            await self.written(next(acts, None))
        self.compare(self.words_of(question), [(one.node_id, one.name, one.appearances) for one in told], due)

    async def learnt(self, question: Question) -> None:
        """The beliefs that changed: page by page under writes the same as at once, and as of a moment for good."""
        known_at = self.known(question)
        times = {} if known_at is None else {"known_at": to_datetime(known_at)}
        at_once = await self.changes(LearningPage(limit=MOST, **times), ())
        due = moments(self.oracle.seen(ever(None, None if known_at is None else known_at + 1)))
        self.compare(f"changes of belief as known at {known_at}", told_moments(at_once), due)
        paged = await self.changes(LearningPage(limit=question.limit, **times), question.acts)
        self.compare(f"learnt as known at {known_at}", paged, at_once)
        if known_at is not None and known_at <= self.oracle.clock:
            before = self.told_of.setdefault((known_at, self.erasures), at_once)
            self.compare(f"learnt as known at {known_at}, asked again", at_once, before)

    async def changes(self, asked: LearningPage, acts: Sequence[Act]) -> list[TemporalDissonance]:
        """All pages, with commands in between."""
        written, found = iter(acts), list[TemporalDissonance]()
        while True:
            page = await learning_page(self.citizen, asked, self.runtime.deps, self.now)
            found += page.dissonances
            if page.next is None:
                return found
            asked = asked.model_copy(update={"cursor": page.next})
            await self.written(next(written, None))
