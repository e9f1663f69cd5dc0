"""A conversation as commands, with no language model: turns, who said them, and their order. Pure.

Said twice, an episode makes the same commands, so that ingesting it again changes nothing. That is why no
clock is read here: a turn without any time is left without one and takes the time of its ingestion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from orchestration.identifiers import identifier, person_id
from schemas.commands import Command, Relate, Remember
from schemas.memory import ResolutionState, Source
from schemas.temporal import long_date

IN_ORDER: Final = "keep the conversation in order"
WHO_SAID: Final = "remember who said it"
STEP: Final = timedelta(seconds=1)
"""Between turns whose own times are not known: enough to keep them in order."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `key` is its place, unique in its episode; `extra` is kept as it came."""

    key: str
    speaker: str
    text: str
    time: datetime | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """Turns of one sitting, in order. `date` is its beginning, if known."""

    key: str
    title: str
    date: datetime | None
    turns: tuple[Turn, ...]

    def times(self) -> tuple[datetime | None, ...]:
        """When each turn was said: its own time, else one second after the turn before, from `date` on."""
        found: list[datetime | None] = []
        expected = self.date
        for turn in self.turns:
            said = expected if turn.time is None else turn.time
            found.append(said)
            expected = None if said is None else said + STEP
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Episode:
    """A conversation of one citizen; no session is empty. The same `id` is the same conversation.

    `people` has by their names the ids of speakers who are known to be others than their names alone would say.
    """

    id: str
    citizen_id: str
    sessions: tuple[Session, ...]
    people: Mapping[str, str] = field(default_factory=dict)

    def person(self, speaker: str) -> str:
        """The id of the person who speaks."""
        return self.people.get(speaker) or person_id(speaker)

    @property
    def command_id(self) -> str:
        """Of the one command that it is."""
        return identifier(f"ingest:{self.id}")

    @property
    def size(self) -> int:
        """The number of its commands."""
        turns = sum(len(session.turns) for session in self.sessions)
        return max(0, 3 * turns - 1) + max(0, 3 * len(self.sessions) - 1) + len(self.shared())

    def shared(self) -> frozenset[str]:
        """Ids of the people: another episode may have made them too."""
        speakers = {turn.speaker for session in self.sessions for turn in session.turns}
        return frozenset(self.person(speaker) for speaker in speakers)

    def commands(self) -> Iterator[Command]:
        """Its memories and links; a link comes after both of its ends."""
        return commands(self)


def commands(episode: Episode) -> Iterator[Command]:
    """The commands of an episode: per session its node, its turns, the people as they first speak, links.

    All carry one command id: the episode is the command, its parts are told apart by their own ids. Raises
    pydantic's ValidationError when a text of the episode is not storable.
    """
    known: set[str] = set()
    met = _first_met(episode)
    last_session: str | None = None
    last_turn: str | None = None
    for session in episode.sessions:
        times = session.times()
        session_id = identifier(f"{episode.id}:{session.key}")
        yield _session(episode, session, session_id, times[0])
        if last_session is not None:
            yield link(episode, (last_session, "NEXT", session_id), IN_ORDER, times[0])
        for place, (turn, time) in enumerate(zip(session.turns, times, strict=True)):
            turn_id = identifier(f"{episode.id}:{turn.key}")
            yield _turn(episode, turn, turn_id, time)
            speaker = episode.person(turn.speaker)
            if speaker not in known:
                known.add(speaker)
                yield _person(episode, turn.speaker, speaker, met.get(speaker))
            yield link(episode, (turn_id, "SAID_BY", speaker), WHO_SAID, time)
            if place == 0:
                yield link(episode, (session_id, "STARTS_WITH", turn_id), IN_ORDER, time)
            if last_turn is not None:
                yield link(episode, (last_turn, "NEXT", turn_id), IN_ORDER, time)
            last_turn = turn_id
        last_session = session_id


def _first_met(episode: Episode) -> dict[str, datetime]:
    """When each person speaks first, whatever the order of the sessions; without whom no time is known of."""
    met: dict[str, datetime] = {}
    for session in episode.sessions:
        for turn, time in zip(session.turns, session.times(), strict=True):
            speaker = episode.person(turn.speaker)
            if time is not None:
                met[speaker] = min(time, met.get(speaker, time))
    return met


def valid_from(time: datetime | None) -> dict[str, Any]:
    """The field `valid_at`, left out when there is no time."""
    return {} if time is None else {"valid_at": time}


def _session(episode: Episode, session: Session, session_id: str, begun: datetime | None) -> Remember:
    """A session says when, not who, nor how long it was.

    A name in it would answer every question that names a speaker, and it may go on in the next ingestion.
    """
    day = None if begun is None else long_date(begun)
    return Remember(
        command_id=identifier(f"ingest:{episode.id}"),
        citizen_id=episode.citizen_id,
        id=session_id,
        node_type="Session",
        name=session.title if day is None else f"{session.title} · {day}",
        description=day or "",
        source=Source.INGESTION,
        episode_id=identifier(episode.id),
        **valid_from(begun),
    )


def _turn(episode: Episode, turn: Turn, turn_id: str, time: datetime | None) -> Remember:
    extra = {"extra": dict(turn.extra)} if turn.extra else {}
    return Remember(
        command_id=identifier(f"ingest:{episode.id}"),
        citizen_id=episode.citizen_id,
        id=turn_id,
        node_type="Turn",
        name=turn.key,
        description=turn.text,
        speaker=turn.speaker,
        source=Source.INGESTION,
        episode_id=identifier(episode.id),
        **extra,
        **valid_from(time),
    )


def _person(episode: Episode, speaker: str, speaker_id: str, time: datetime | None) -> Remember:
    return Remember(
        command_id=identifier(f"ingest:{episode.id}"),
        citizen_id=episode.citizen_id,
        id=speaker_id,
        node_type="Person",
        name=speaker,
        source=Source.INGESTION,
        **valid_from(time),
    )


def link(of: Any, ends: tuple[str, str, str], goal: str, time: datetime | None) -> Relate:
    """A link that ingestion makes for `of` (its `id` and `citizen_id`); `ends` is (source, TYPE, target).

    Its metadata say what is known and no more: the order is certain, nothing was felt, nothing is open.
    """
    source_id, relation_type, target_id = ends
    return Relate(
        command_id=identifier(f"ingest:{of.id}"),
        citizen_id=of.citizen_id,
        source_id=source_id,
        target_id=target_id,
        relation_type=relation_type,
        goal=goal,
        mindstate="ingestion",
        energy=0.5,
        confidence=1.0,
        emotion_vector={},
        energy_transfer_coefficient=0.5,
        resolution_state=ResolutionState.RESOLVED,
        formation_trigger="ingestion",
        source=Source.INGESTION,
        episode_id=identifier(of.id),
        **valid_from(time),
    )
