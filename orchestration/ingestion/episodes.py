"""Turns a conversation into commands without a language model: turns, their speakers and their order. Pure.

An episode always makes the same commands, so that ingesting it again changes nothing. For the same reason no clock
is read: the command of a turn without a time has no time, and gets that of its ingestion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, Final, NamedTuple

from orchestration.appraisal import key_phrases
from orchestration.appraisal.names import own_words
from orchestration.identifiers import identifier, ingestion_id, natural_id, person_id
from orchestration.question.reading import ASKING, ROLES
from schemas.commands import Command, Relate, Remember, Unrelate
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
        return self.people_ids() | {self.memory_id(session.key) for session in self.sessions}

    def people_ids(self) -> frozenset[str]:
        speakers = {turn.speaker for session in self.sessions for turn in session.turns}
        return frozenset(map(self.person, speakers))

    def memory_id(self, key: str) -> str:
        """The id of a turn or a session."""
        return identifier(f"{self.id}:{key}")

    def commands(self) -> Iterator[Command]:
        """Yield for each session its memory, its turns, its new speakers, and their links (`step_commands`)."""
        steps: list[Step] = []
        before: str | None = None
        last_session: str | None = None
        for session in self.sessions:
            starts: SessionStart | None = SessionStart(session.key, session.title, last_session)
            for turn, time in zip(session.turns, session.times(), strict=True):
                steps.append(Step(turn, time, before=before, starts=starts))
                before, starts = self.memory_id(turn.key), None
            last_session = session.key
        return step_commands(self, steps)


class SessionStart(NamedTuple):
    """The session that a turn begins, and the key of the session before it."""

    key: str
    title: str
    before: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """A turn at its place.

    `before`: id of the turn before it. `after`: id of the turn after it, when that is stored and not in the list.
    `parts`: ids of two stored turns that followed each other and between which it is the last new one.
    """

    turn: Turn
    time: datetime | None
    is_new: bool = True
    before: str | None = None
    after: str | None = None
    parts: tuple[str, str] | None = None
    starts: SessionStart | None = None


def step_commands(episode: Episode, steps: Sequence[Step]) -> Iterator[Command]:
    """Yield the commands of turns of an episode. A link comes after both of its ends.

    All share one command id; each memory and link has its own id. Raises pydantic's ValidationError when a text of
    the episode cannot be stored.
    """
    since = _first_times(episode, steps)
    met: set[str] = set()
    for place, step in enumerate(steps):
        link = partial(build_link, episode, time=step.time)
        turn_id, starts = episode.memory_id(step.turn.key), step.starts
        if starts is not None:
            following = takewhile(lambda one: one.starts is None, steps[place + 1 : place + SUBJECT_TURNS])
            texts = [step.turn.text, *(one.turn.text for one in following)]
            yield _session_memory(episode, starts, texts, step.time)
            if starts.before is not None:
                ends = (episode.memory_id(starts.before), "NEXT", episode.memory_id(starts.key))
                yield link(*ends, goal=IN_ORDER)
        yield turn_memory(episode, step.turn, turn_id, step.time)
        speaker = episode.person(step.turn.speaker)
        if speaker not in met:
            met.add(speaker)
            named = {"id": speaker, "node_type": "Person", "name": step.turn.speaker}
            yield _remember(episode, since.get(speaker), **named)
        yield link(turn_id, "SAID_BY", speaker, goal=WHO_SPOKE)
        first = None if starts is None else episode.memory_id(starts.key)
        order = ((first, "STARTS_WITH", turn_id), (step.before, "NEXT", turn_id), (turn_id, "NEXT", step.after))
        for source, kind, target in order:
            if source is not None and target is not None:
                yield link(source, kind, target, goal=IN_ORDER)
        if step.parts is not None:
            link_id = natural_id(step.parts[0], "NEXT", step.parts[1])
            yield Unrelate(citizen_id=episode.citizen_id, id=link_id, source=Source.INGESTION).as_inferred()


def _first_times(episode: Episode, steps: Iterable[Step]) -> dict[str, datetime]:
    """Return the earliest time at which each person speaks; a person without a time is left out."""
    first: dict[str, datetime] = {}
    for step in steps:
        if step.time is not None:
            speaker = episode.person(step.turn.speaker)
            first[speaker] = min(step.time, first.get(speaker, step.time))
    return first


def valid_at_field(time: datetime | None) -> dict[str, Any]:
    return {} if time is None else {"valid_at": time}


def _remember(episode: Episode, time: datetime | None, **content: Any) -> Remember:
    named = {"command_id": episode.command_id, "citizen_id": episode.citizen_id, "source": Source.INGESTION}
    return Remember(**named, **content, **valid_at_field(time))


def _session_memory(
    episode: Episode, starts: SessionStart, texts: Sequence[str], begun: datetime | None
) -> Remember:
    """Build the memory of a session. Its text has the day, but neither the speakers nor the length.

    With a name it would match every question that names the speaker; the session may continue in the next file.
    What it is about stands in `extra`: it is shown in the name, and no words to search by.
    """
    subjects = key_phrases.subject_words(texts)
    day = None if begun is None else long_date(begun)
    return _remember(
        episode,
        begun,
        id=episode.memory_id(starts.key),
        node_type="Session",
        name=starts.title if day is None else f"{starts.title} · {day}",
        description=day or "",
        episode_id=identifier(episode.id),
        **({"extra": {SUBJECTS: list(subjects)}} if subjects else {}),
    )


def turn_memory(episode: Episode, turn: Turn, turn_id: str, time: datetime | None) -> Remember:
    extra: dict[str, Any] = {"extra": dict(turn.extra)} if turn.extra else {}
    is_human = name_key(turn.speaker) not in ROLES - ASKING
    tags = key_phrases.written_tags(own_words(turn.text)) if is_human and "#" in turn.text else []
    if tags:
        extra["tags"] = [tag for tag in tags if len(tag) <= key_phrases.MAX_LENGTH][:MOST_TAGS]
    return _remember(
        episode,
        time,
        id=turn_id,
        node_type="Turn",
        name=turn.key,
        description=turn.text,
        speaker=turn.speaker,
        episode_id=identifier(episode.id),
        **extra,
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
