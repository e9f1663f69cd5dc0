"""Turns a conversation into commands without a language model: turns, their speakers and their order. Pure.

An episode always makes the same commands, so that ingesting it again changes nothing. For the same reason no clock
is read: the command of a turn without a time has no time, and gets that of its ingestion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final

from orchestration.appraisal import key_phrases
from orchestration.appraisal.own_words import own_words
from orchestration.identifiers import identifier, ingestion_id, person_id
from orchestration.question.reading import ASKING, ROLES
from schemas.commands import Command, Relate, Remember
from schemas.memory import GraphKey, Level, ResolutionState, Source
from schemas.temporal import long_date
from substrate.graphs import names
from substrate.language.text import name_key
from substrate.store.rows import SUBJECTS

IN_ORDER: Final = "keep the conversation in order"
WHO_SPOKE: Final = "remember who said it"
FIRST_TITLE: Final = "session 1"
SUBJECT_TURNS: Final = 200
"""The first turns of a session, by which it is named."""
MOST_TAGS: Final = 16
"""At most this many of the `#tags` that somebody wrote into a turn are its tags."""
STEP: Final = timedelta(seconds=1)
"""The time between two turns without times of their own: enough to keep them in order."""
_UNSEEN: Final = r"\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_JOINERS: Final = r"(?<![^\x00-\u024f])[\u200c\u200d]"
"""Between letters of Persian or Hindi, and in emoji, they are seen."""
_BESIDE_NAME: Final = re.compile(
    rf"[{_UNSEEN}]|{_JOINERS}|\s*[(（\[](?:[^\W\d_A-ZÀ-ÖØ-Þ][^()（）\[\]]*|[A-Z]{{2,5}})[)）\]][\s{_UNSEEN}]*$"
)


def plain_name(speaker: str) -> str:
    return _BESIDE_NAME.sub("", speaker).strip() or speaker


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance. `key` is unique in its episode; `extra` is stored unchanged.

    "Junlei (tech lead)" is `Junlei`: what is written beside a name in brackets and small letters, or as an
    abbreviation, is no part of it, and neither are characters that nobody sees. `extra` keeps what was written.
    """

    key: str
    speaker: str
    text: str
    time: datetime | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = plain_name(self.speaker)
        if name != self.speaker:
            object.__setattr__(self, "extra", {"speaker": self.speaker, **self.extra})
            object.__setattr__(self, "speaker", name)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a list that may grow: its turn, and what only the list says of it.

    `id` is the sender's; `session` the title that the message itself names. `deleted`: it was taken back.
    """

    turn: Turn
    id: str | None = None
    session: str | None = None
    edited_at: datetime | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """A part of a conversation without a long pause. `turns` are in order; `date` is its beginning, if known."""

    key: str
    title: str
    date: datetime | None
    turns: tuple[Turn, ...]

    def times(self) -> tuple[datetime | None, ...]:
        """Return the time of each turn: its own, else one second after the previous turn, from `date` on."""
        times: list[datetime | None] = []
        expected = self.date
        for turn in self.turns:
            time = expected if turn.time is None else turn.time
            times.append(time)
            expected = None if time is None else time + STEP
        return tuple(times)


@dataclass(frozen=True, slots=True)
class Episode:
    """A conversation of a citizen or a shared graph; no session is empty. The same `id` is the same conversation.

    `people`: ids of speakers by name, where the id is not the one that `person_id` makes of the name. `messages`:
    the list that the sessions were made of, when it may be the growing list of a chat. `title`: of the sessions
    that a pause begins, when the messages name none. `graph`: where it is stored.
    """

    id: str
    citizen_id: str
    sessions: tuple[Session, ...]
    people: Mapping[str, str] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    title: str = FIRST_TITLE
    graph: GraphKey = Level.N1

    def person(self, speaker: str) -> str:
        return self.people.get(speaker) or person_id(speaker)

    @property
    def graph_name(self) -> str:
        return names.graph_name(self.graph, self.citizen_id)

    @property
    def command_id(self) -> str:
        return ingestion_id(self.id)

    @property
    def size(self) -> int:
        turns = sum(len(session.turns) for session in self.sessions)
        return max(0, 3 * turns - 1) + max(0, 3 * len(self.sessions) - 1) + len(self.people_ids())

    def shared(self) -> frozenset[str]:
        """Return the ids of the people, whom another episode may have stored before, and of the sessions."""
        return self.people_ids() | {identifier(f"{self.id}:{session.key}") for session in self.sessions}

    def people_ids(self) -> frozenset[str]:
        speakers = {turn.speaker for session in self.sessions for turn in session.turns}
        return frozenset(map(self.person, speakers))

    def commands(self) -> Iterator[Command]:
        return commands(self)


def commands(episode: Episode) -> Iterator[Command]:
    """Yield the commands of an episode: for each session its node, its turns, its new speakers, and their links.

    A link comes after both of its ends. All share one command id; each memory and link has its own id. Raises
    pydantic's ValidationError when a text of the episode cannot be stored.
    """
    known: set[str] = set()
    timed = (zip(session.turns, session.times(), strict=True) for session in episode.sessions)
    since = first_times(episode, chain.from_iterable(timed))
    last_session: str | None = None
    last_turn: str | None = None
    for session in episode.sessions:
        times = session.times()
        session_id = identifier(f"{episode.id}:{session.key}")
        yield session_memory(episode, session, session_id, times[0])
        if last_session is not None:
            yield build_link(episode, last_session, "NEXT", session_id, goal=IN_ORDER, time=times[0])
        for index, (turn, time) in enumerate(zip(session.turns, times, strict=True)):
            turn_id = identifier(f"{episode.id}:{turn.key}")
            yield turn_memory(episode, turn, turn_id, time)
            speaker = episode.person(turn.speaker)
            if speaker not in known:
                known.add(speaker)
                yield person_memory(episode, turn.speaker, speaker, since.get(speaker))
            yield build_link(episode, turn_id, "SAID_BY", speaker, goal=WHO_SPOKE, time=time)
            if index == 0:
                yield build_link(episode, session_id, "STARTS_WITH", turn_id, goal=IN_ORDER, time=time)
            if last_turn is not None:
                yield build_link(episode, last_turn, "NEXT", turn_id, goal=IN_ORDER, time=time)
            last_turn = turn_id
        last_session = session_id


def first_times(episode: Episode, turns: Iterable[tuple[Turn, datetime | None]]) -> dict[str, datetime]:
    """Return the earliest time at which each person speaks; a person without a time is left out."""
    first: dict[str, datetime] = {}
    for turn, time in turns:
        if time is not None:
            speaker = episode.person(turn.speaker)
            first[speaker] = min(time, first.get(speaker, time))
    return first


def valid_at_field(time: datetime | None) -> dict[str, Any]:
    return {} if time is None else {"valid_at": time}


def session_memory(episode: Episode, session: Session, session_id: str, begun: datetime | None) -> Remember:
    """Build the memory of a session. Its text has the day, but neither the speakers nor the length.

    With a name it would match every question that names the speaker; the session may continue in the next file.
    What it is about stands in `extra`: it is shown in the name, and no words to search by.
    """
    subjects = key_phrases.subject_words([turn.text for turn in session.turns[:SUBJECT_TURNS]])
    extra = {"extra": {SUBJECTS: list(subjects)}} if subjects else {}
    day = None if begun is None else long_date(begun)
    return Remember(
        command_id=ingestion_id(episode.id),
        citizen_id=episode.citizen_id,
        id=session_id,
        node_type="Session",
        name=session.title if day is None else f"{session.title} · {day}",
        description=day or "",
        source=Source.INGESTION,
        episode_id=identifier(episode.id),
        **extra,
        **valid_at_field(begun),
    )


def turn_memory(episode: Episode, turn: Turn, turn_id: str, time: datetime | None) -> Remember:
    extra: dict[str, Any] = {"extra": dict(turn.extra)} if turn.extra else {}
    is_human = name_key(turn.speaker) not in ROLES - ASKING
    tags = key_phrases.written_tags(own_words(turn.text)) if is_human and "#" in turn.text else []
    if tags:
        extra["tags"] = [tag for tag in tags if len(tag) <= key_phrases.MAX_LENGTH][:MOST_TAGS]
    return Remember(
        command_id=ingestion_id(episode.id),
        citizen_id=episode.citizen_id,
        id=turn_id,
        node_type="Turn",
        name=turn.key,
        description=turn.text,
        speaker=turn.speaker,
        source=Source.INGESTION,
        episode_id=identifier(episode.id),
        **extra,
        **valid_at_field(time),
    )


def person_memory(episode: Episode, speaker: str, speaker_id: str, time: datetime | None) -> Remember:
    return Remember(
        command_id=ingestion_id(episode.id),
        citizen_id=episode.citizen_id,
        id=speaker_id,
        node_type="Person",
        name=speaker,
        source=Source.INGESTION,
        **valid_at_field(time),
    )


def build_link(
    owner: Any, source_id: str, relation_type: str, target_id: str, *, goal: str, time: datetime | None
) -> Relate:
    """Build a link for `owner` (an Episode or a Notebook).

    The order is certain. Feelings, energy and state are those of its ends; without
    these there is no emotion and no work is open.
    """
    return Relate(
        command_id=ingestion_id(owner.id),
        citizen_id=owner.citizen_id,
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
        episode_id=identifier(owner.id),
        **valid_at_field(time),
    ).as_inferred()
