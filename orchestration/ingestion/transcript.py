"""The turns of an episode that are stored already, and where the messages of a list stand among them. Pure.

A message with an id is found by it. A list without ids is laid over the stored turns: as the end of what is stored
and more (a grown list, or a window on its end), as a part of it (sent again), or with some texts edited.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from orchestration.ingestion.episodes import Message, plain_name
from schemas.temporal import Instant, to_instant

MOST_OFFSETS: Final = 64
"""At most this many places at which a list may begin are tried: a long chat has many turns that say "ok"."""
ANCHORS: Final = 3
"""The first messages of a list by which its place is looked for: the very first may have been edited."""
FARTHEST: Final = 16
"""A list without ids may leave out, or hold more than is stored, at most this many messages in one place."""
ENOUGH: Final = 3
"""This many messages without times say what is stored by chance no longer: then they were sent before."""
_KEY: Final = re.compile(r"D(\d{1,9}):(\d{1,9}(?:\.\d{1,9})*)\Z")


class TurnOrder(NamedTuple):
    """The place of a turn: the number of its session, and its place there. `2.1` stands between `2` and `3`."""

    session: int
    place: tuple[int, ...]

    @classmethod
    def of(cls, key: str) -> TurnOrder | None:
        match = _KEY.match(key)
        return match and cls(int(match[1]), tuple(map(int, match[2].split("."))))

    @property
    def key(self) -> str:
        return f"D{self.session}:{'.'.join(map(str, self.place))}"

    def next(self) -> TurnOrder:
        return TurnOrder(self.session, (self.place[0] + 1,))

    def before(self, later: TurnOrder) -> TurnOrder:
        """A place after this one and before `later`, in this session."""
        place = (*self.place, 1)
        while later.session == self.session and place >= later.place:
            place = (*place[:-1], 0, 1)
        return TurnOrder(self.session, place)


@dataclass(slots=True)
class StoredTurn:
    """A stored turn as it is now. `since`: when its text began to hold; `said`: a key of speaker and text.

    `gone`: it holds no longer. `version`: of its latest record; 0 when that was closed. `stamp`: the time that was
    sent with it, where that was ahead of the clock.
    """

    id: str
    order: TurnOrder
    speaker: str
    said: int
    since: Instant
    message_id: str | None
    fingerprint: int | None
    version: int = 1
    gone: bool = False
    stamp: datetime | None = None


class StoredSession(NamedTuple):
    """A stored session: its key in the episode, its title, its beginning."""

    key: str
    title: str
    since: Instant


def speech_key(speaker: str, text: str) -> int:
    """A number that is equal for the same words of the same speaker, in this process."""
    return hash((plain_name(speaker), text))  # what is stored may be from before roles were told apart


@dataclass(slots=True)
class Transcript:
    """The stored turns of an episode in their order, and its sessions by key."""

    turns: list[StoredTurn] = field(default_factory=list)
    sessions: dict[str, StoredSession] = field(default_factory=dict)
    _by_said: dict[int, list[int]] = field(default_factory=dict)
    _by_message: dict[str, int] = field(default_factory=dict)
    _by_id: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.turns)

    def add(self, turns: Sequence[StoredTurn]) -> None:
        """Add turns. Those behind the last one cost no more in a long episode than in a short one."""
        known = len(self.turns)
        ahead = not known or all(turn.order > self.turns[-1].order for turn in turns)
        self.turns += sorted(turns, key=lambda turn: turn.order)
        if not ahead:
            self.turns.sort(key=lambda turn: turn.order)
        self.index(known if ahead else 0)

    def index(self, start: int = 0) -> None:
        """Note where each turn stands, from position `start` on."""
        if not start:
            self._by_said, self._by_message, self._by_id = {}, {}, {}
        for position in range(start, len(self.turns)):
            turn = self.turns[position]
            self._by_id[turn.id] = position
            self._by_said.setdefault(turn.said, []).append(position)
            if turn.message_id is not None:
                self._by_message.setdefault(turn.message_id, position)

    def versions(self, ids: Collection[str]) -> dict[str, int]:
        """The version of each of these turns."""
        found = (self.turns[at] for turn_id in ids if (at := self._by_id.get(turn_id)) is not None)
        return {turn.id: turn.version for turn in found}

    def positions(self, message: Message) -> Sequence[int]:
        """Where the words of the message stand, the last ones first."""
        found = self._by_said.get(speech_key(message.turn.speaker, message.turn.text), ())
        return found[: -MOST_OFFSETS - 1 : -1]

    def position_of(self, message: Message, turn_id: str = "") -> int | None:
        """Where the turn stands, or one with the id of the message."""
        own = None if message.id is None else self._by_message.get(message.id)
        return self._by_id.get(turn_id, own)


class Alignment(NamedTuple):
    """The position of the stored turn that each message is, or None for a new one; and how many were left out."""

    positions: tuple[int | None, ...]
    left_out: tuple[int, ...] = ()


def align(
    messages: Sequence[Message],
    transcript: Transcript,
    *,
    fewest: int,
    found: Mapping[int, str] = MappingProxyType({}),
) -> Alignment:
    """Lay the messages over the stored turns.

    `fewest`: this many messages must be as they are stored before others are taken for edited. `found`: by place
    in the list, the turns of messages that were found before.
    """
    by_id = [transcript.position_of(one, found.get(place, "")) for place, one in enumerate(messages)]
    if any(position is not None for position in by_id):
        return _with_left_out(_extend(messages, by_id, transcript), transcript)
    return _with_left_out(_by_content(messages, transcript, fewest), transcript)


def is_same(message: Message, turn: StoredTurn) -> bool:
    """True when the message has the words, the speaker and, if it names one, the time of the stored turn."""
    if speech_key(message.turn.speaker, message.turn.text) != turn.said:
        return False
    if message.id is not None and turn.message_id is not None:
        return message.id == turn.message_id
    time = message.turn.time
    return time is None or turn.version != 1 or to_instant(time) == turn.since or time == turn.stamp


def _with_left_out(positions: Sequence[int | None], transcript: Transcript) -> Alignment:
    """The alignment, with the stored turns between those of the list that the list does not have."""
    found = {position for position in positions if position is not None}
    between = range(min(found), max(found)) if found else ()
    left_out = (at for at in between if at not in found and not transcript.turns[at].gone)
    return Alignment(tuple(positions), tuple(left_out))


def _extend(messages: Sequence[Message], by_id: Sequence[int | None], transcript: Transcript) -> list[int | None]:
    """Find messages beside one that was found by its id: a list may have ids for some messages alone."""
    positions = list(by_id)
    taken = {position for position in by_id if position is not None}
    for step, order in ((1, range(len(messages))), (-1, range(len(messages) - 1, -1, -1))):
        last: int | None = None
        for place in order:
            beside = -1 if last is None else last + step
            is_free = positions[place] is None and 0 <= beside < len(transcript.turns) and beside not in taken
            if is_free and is_same(messages[place], transcript.turns[beside]):
                positions[place] = beside
                taken.add(beside)
            last = positions[place]
    return positions


def _by_content(messages: Sequence[Message], transcript: Transcript, fewest: int) -> Sequence[int | None]:
    stored = transcript.turns
    offsets = {0: None} if stored and len(messages) > 1 else {}  # where the list may begin
    for place, message in enumerate(messages[:ANCHORS]):
        offsets |= {at - place: None for at in transcript.positions(message) if at >= place}
    whole = [start for start in offsets if _runs_along(messages, stored, start)]
    at_end = [start for start in whole if start + len(messages) >= len(stored)]
    if at_end:
        return _at(min(at_end), len(messages), len(stored))
    timed = all(message.turn.time is not None for message in messages)
    inside = [start for start in whole if timed or start == 0 or len(messages) >= ENOUGH]
    if inside:
        return _at(max(inside), len(messages), len(stored))
    walks = (_walk(messages, stored, start) for start in offsets)
    good = [walk for walk in walks if walk.same >= (fewest if walk.start == 0 else max(fewest, 2)) and walk.holds]
    return max(good, key=lambda walk: walk.same).positions if good else [None] * len(messages)


def _runs_along(messages: Sequence[Message], stored: Sequence[StoredTurn], start: int) -> bool:
    """True when every message that lies over a stored turn is that turn."""
    length = min(len(messages), len(stored) - start)
    return all(is_same(messages[place], stored[start + place]) for place in range(length))


def _at(start: int, length: int, stored: int) -> list[int | None]:
    return [start + place if start + place < stored else None for place in range(length)]


class _Walk(NamedTuple):
    """A list laid over the stored turns from `start` on, with some edited, left out or between."""

    start: int
    positions: Sequence[int | None]
    same: int
    edited: int
    end: int
    stored: int

    @property
    def holds(self) -> bool:
        """True when most of it is as it is stored and the list reaches the end of that, or almost all of it is."""
        return self.same >= self.edited and (self.end >= self.stored or self.same >= FARTHEST * (1 + self.edited))


def _walk(messages: Sequence[Message], stored: Sequence[StoredTurn], start: int) -> _Walk:
    """Lay the list over the turns from `start` on; where they differ, the nearest place where both go on alike."""
    positions: list[int | None] = []
    same = edited = 0
    at = start
    while len(positions) < len(messages):
        place = len(positions)
        if at >= len(stored):
            positions.append(None)
        elif is_same(messages[place], stored[at]):
            positions.append(at)
            same, at = same + 1, at + 1
        else:
            if edited > same + 2 * FARTHEST:
                break  # another conversation; a long list would be compared in vain
            ahead = 2 * FARTHEST
            more, fewer = _resume(messages[place : place + ahead], stored[at : at + ahead])
            pairs = min(more, fewer)
            for step in range(pairs):
                alike = messages[place + step].turn.speaker == stored[at + step].speaker
                positions.append(at + step if alike else None)
                edited += 1
            positions += [None] * (more - pairs)
            at += fewer
    return _Walk(start, positions, same, edited, at, len(stored))


def _resume(messages: Sequence[Message], stored: Sequence[StoredTurn]) -> tuple[int, int]:
    """How many messages and how many turns to pass until both go on alike; all of the shorter one if never."""
    for distance in range(1, 2 * FARTHEST):
        for more in sorted(range(distance + 1), key=lambda more: abs(2 * more - distance)):
            fewer = distance - more
            if more < len(messages) and fewer < len(stored) and is_same(messages[more], stored[fewer]):
                return more, fewer
    ahead = min(len(messages), len(stored))
    return ahead, ahead
