"""What a list of messages adds to its episode, as commands: new turns, their links, changes of turns. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Literal, NamedTuple

from orchestration.identifiers import identifier, natural_id
from orchestration.ingestion.episodes import (
    IN_ORDER,
    WHO_SPOKE,
    Episode,
    Message,
    Session,
    Turn,
    build_link,
    first_times,
    person_memory,
    session_memory,
    turn_memory,
)
from orchestration.ingestion.transcript import TurnOrder
from schemas.commands import Command, Relate, Unrelate
from schemas.memory import GraphKey, Source

Status = Literal["stored", "duplicate", "superseded", "retracted", "left_out", "refused"]


class Heard(NamedTuple):
    """What becomes of a message: `id` of its turn; `reason` why it was left out or refused."""

    message: Message
    status: Status
    id: str | None = None
    reason: str | None = None


class SessionStart(NamedTuple):
    """The session that a turn begins, and the id of the session before it."""

    key: str
    title: str
    before: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """A turn of the list at its place.

    `before`: id of the turn before it. `after`: id of the turn after it, when that is stored and not in the list.
    `parts`: ids of two stored turns that followed each other and between which it is the last new one.
    """

    turn: Turn
    order: TurnOrder
    time: datetime | None
    is_new: bool
    before: str | None = None
    after: str | None = None
    parts: tuple[str, str] | None = None
    starts: SessionStart | None = None


@dataclass(frozen=True, slots=True)
class Continuation:
    """The commands of a list for its episode. `changes`: of turns that were edited or taken back.

    `known`: ids of turns and sessions that are stored already.
    """

    episode: Episode
    heard: tuple[Heard, ...]
    steps: tuple[Step, ...]
    changes: tuple[Command, ...]
    known: frozenset[str]
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.episode.id

    @property
    def citizen_id(self) -> str:
        return self.episode.citizen_id

    @property
    def graph(self) -> GraphKey:
        return self.episode.graph

    @property
    def command_id(self) -> str:
        return self.episode.command_id

    @property
    def size(self) -> int:
        return sum(1 for _ in self.commands())

    def shared(self) -> frozenset[str]:
        return self.known | frozenset(self.episode.person(step.turn.speaker) for step in self.steps)

    def arranged(self) -> Episode:
        """The episode with its turns under the keys that they are stored under."""
        turns = tuple(replace(step.turn, time=step.time) for step in self.steps)
        sessions = (Session("heard", "heard", None, turns),) if turns else ()
        return replace(self.episode, sessions=sessions, messages=())

    def commands(self) -> Iterator[Command]:
        """Yield the commands: a link comes after both of its ends, a change after everything new."""
        since = first_times(self.episode, ((step.turn, step.time) for step in self.steps))
        met: set[str] = set()
        begun = [*(at for at, step in enumerate(self.steps) if step.starts is not None), len(self.steps)]
        turns_of = {first: self.steps[first:end] for first, end in pairwise(begun)}
        for place, step in enumerate(self.steps):
            speaker = self.episode.person(step.turn.speaker)
            yield from self._session(step, turns_of.get(place, ()))
            turn_id = self._id(step.turn.key)
            yield turn_memory(self.episode, step.turn, turn_id, step.time)
            if speaker not in met:
                met.add(speaker)
                yield person_memory(self.episode, step.turn.speaker, speaker, since.get(speaker))
            yield self._link(turn_id, "SAID_BY", speaker, step)
            if step.starts is not None:
                yield self._link(self._id(step.starts.key), "STARTS_WITH", turn_id, step)
            if step.before is not None:
                yield self._link(step.before, "NEXT", turn_id, step)
            if step.after is not None:
                yield self._link(turn_id, "NEXT", step.after, step)
            if step.parts is not None:
                link_id = natural_id(step.parts[0], "NEXT", step.parts[1])
                parted = Unrelate(citizen_id=self.citizen_id, id=link_id, source=Source.INGESTION)
                yield parted.as_inferred()
        yield from self.changes

    def _session(self, step: Step, following: Sequence[Step]) -> Iterator[Command]:
        if step.starts is None:
            return
        session = Session(step.starts.key, step.starts.title, step.time, tuple(one.turn for one in following))
        session_id = self._id(session.key)
        yield session_memory(self.episode, session, session_id, step.time)
        if step.starts.before is not None:
            yield self._link(self._id(step.starts.before), "NEXT", session_id, step)

    def _link(self, source_id: str, kind: str, target_id: str, step: Step) -> Relate:
        goal = WHO_SPOKE if kind == "SAID_BY" else IN_ORDER
        return build_link(self.episode, source_id, kind, target_id, goal=goal, time=step.time)

    def _id(self, key: str) -> str:
        return identifier(f"{self.episode.id}:{key}")
