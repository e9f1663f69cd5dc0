"""Places the messages of a list among the stored turns of its episode: what is new becomes commands. Pure.

A new message stands behind the message before it in the list; where the list goes on with a stored turn, between
the two. An edited message supersedes its turn, one marked deleted retracts it, one left out changes nothing. One
that is stamped ahead of the clock holds from now on, as if it had no time; its turn keeps the stamp.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from orchestration.ingestion.episodes import (
    STEP,
    Episode,
    Message,
    Session,
    SessionStart,
    Step,
    step_commands,
    turn_memory,
)
from orchestration.ingestion.formats.messages import STAMP, read_stamp
from orchestration.ingestion.formats.reader import move
from orchestration.ingestion.transcript import Alignment, StoredTurn, Transcript, TurnOrder, align, speech_key
from orchestration.ranking.times import SESSION_GAP
from orchestration.writing.records import fingerprint
from schemas.commands import Command, Correct, Retract, Supersede
from schemas.memory import GraphKey, Source
from schemas.temporal import Instant, to_datetime, to_instant
from substrate.language.text import count_of

AHEAD: Final = 60_000_000
"""Microseconds that the clock of a sender may be ahead without a note."""
NAMED_LEFT_OUT: Final = 5
TWICE: Final = "its id stands twice in this list, with other words"
NO_TEXT: Final = "it has no text"
Status = Literal["stored", "duplicate", "superseded", "retracted", "left_out", "refused"]


class MessageOutcome(NamedTuple):
    """What becomes of a message: `id` of its turn; `reason` why it was left out or refused."""

    message: Message
    status: Status
    id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Continuation:
    """The commands of a list for its episode. `changes`: of turns that were edited or taken back.

    `known`: ids of turns and sessions that are stored already.
    """

    episode: Episode
    heard: tuple[MessageOutcome, ...]
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

    def memory_ids(self) -> set[str]:
        """The ids of the memories among the commands."""
        starts = (step.starts.key for step in self.steps if step.starts is not None)
        keys = chain((step.turn.key for step in self.steps), starts)
        return {*self.shared(), *map(self.episode.memory_id, keys)}

    def arranged(self) -> Episode:
        """The episode with its turns under the keys that they are stored under."""
        turns = tuple(replace(step.turn, time=step.time) for step in self.steps)
        sessions = (Session("heard", "heard", None, turns),) if turns else ()
        return replace(self.episode, sessions=sessions, messages=())

    def commands(self) -> Iterator[Command]:
        """Yield the commands; a change comes after everything new."""
        return chain(step_commands(self.episode, self.steps), self.changes)


def continue_episode(
    episode: Episode,
    transcript: Transcript,
    now: Instant,
    *,
    fewest: int = 1,
    found: Mapping[int, str] = MappingProxyType({}),
) -> Continuation:
    """Decide what becomes of each message of the list. `fewest` and `found` as `transcript.align`."""
    alignment = align(episode.messages, transcript, fewest=fewest, found=found)
    return _Arranger(episode, transcript, now).arrange(alignment)


class _Arranger:
    """Places the messages of a list, one after another."""

    def __init__(self, episode: Episode, transcript: Transcript, now: Instant) -> None:
        self.episode = episode
        self.transcript = transcript
        self.now = now
        self.heard: list[MessageOutcome] = []
        self.changes: list[Command] = []
        self.stamps: list[datetime | None] = []
        self.placed: list[tuple[TurnOrder, Message, datetime | None, bool]] = []
        self.new_orders: list[TurnOrder] = []
        self.last: TurnOrder | None = None
        self.sayings: dict[str, int] = {}
        self.new_ids: dict[str, str] = {}
        self.times: dict[TurnOrder, Instant] = {}
        self.session_keys = sorted(transcript.sessions, key=_session_order)
        firsts = (session for session in transcript.sessions.values() if "." not in session.key)
        self.numbers = {session.title: _session_number(session.key) for session in firsts}
        self.groups = {number: title for title, number in self.numbers.items()}

    def arrange(self, alignment: Alignment) -> Continuation:
        messages = self.episode.messages
        following = self._following(alignment.positions)
        expected: datetime | None = None
        title: str | None = None
        for place, (message, at) in enumerate(zip(messages, alignment.positions, strict=True)):
            if message.session is not None and message.session != title:
                title, expected = message.session, None
            time = expected if message.turn.time is None else message.turn.time
            stored = None if at is None else self.transcript.turns[at]
            if time is not None and self._is_ahead(message, time, stored):
                # As one without a time; the stamp that was sent stands in `extra` of its turn.
                stamp = {} if message.turn.time is None else {STAMP: message.turn.time.isoformat()}
                turn = replace(message.turn, time=None, extra={**message.turn.extra, **stamp})
                message, time = replace(message, turn=turn), None
            if stored is not None:
                self._meet_again(message, stored, time)
            else:
                self._meet(message, time, title=title, following=following[place])
            expected = None if time is None else time + STEP
        steps = self._steps()
        notes = _left_out_note(self.episode.id, [self.transcript.turns[at] for at in alignment.left_out])
        notes += ahead_note(self.stamps, "message", self.now)
        known = frozenset(self._known(steps))
        return Continuation(self.episode, tuple(self.heard), steps, tuple(self.changes), known, notes)

    def _is_ahead(self, message: Message, time: datetime, stored: StoredTurn | None) -> bool:
        """True for a message whose time is, or was when it was heard, ahead of the clock."""
        if stored is None:
            return to_instant(time) > self.now
        return stored.stamp is not None or (message.turn.time is None and to_instant(time) > stored.since)

    def _known(self, steps: Sequence[Step]) -> Iterator[str]:
        for step in steps:
            if not step.is_new:
                yield self.episode.memory_id(step.turn.key)
            if step.starts is not None and step.starts.key in self.transcript.sessions:
                yield self.episode.memory_id(step.starts.key)

    def _meet_again(self, message: Message, turn: StoredTurn, time: datetime | None) -> None:
        self.last = turn.order
        status, reason = self._compare(message, turn)
        self.heard.append(MessageOutcome(message, status, turn.id, reason))
        if status in ("superseded", "retracted"):
            self.changes.append(self._change(message, turn, status))
        elif status == "duplicate" and not turn.gone:
            self.placed.append((turn.order, message, time, False))
            if turn.since > self.now + AHEAD:  # an earlier release hid it until its time
                named = {"citizen_id": self.episode.citizen_id, "id": turn.id, "source": Source.INGESTION}
                self.changes.append(Correct(**named, valid_at=to_datetime(self.now)))

    def _compare(self, message: Message, turn: StoredTurn) -> tuple[Status, str | None]:
        if turn.gone:
            return "duplicate", None
        if message.deleted:
            return "retracted", None
        if speech_key(message.turn.speaker, message.turn.text) == turn.said:
            return "duplicate", None
        if not message.turn.text:
            return "left_out", NO_TEXT
        if message.turn.speaker != turn.speaker:
            return "refused", "a message with this id was said by another speaker; only a text can be edited"
        if message.edited_at is None:
            keyed = replace(message.turn, key=turn.order.key)
            first = turn_memory(self.episode, keyed, turn.id, message.turn.time)
            if turn.fingerprint == fingerprint(move(first, self.episode.graph)):
                return "duplicate", None  # stored from this very message, and changed since
        return "superseded", None

    def _change(self, message: Message, turn: StoredTurn, status: Status) -> Command:
        named = {"citizen_id": self.episode.citizen_id, "id": turn.id, "source": Source.INGESTION}
        at = self._changed_at(message, turn)
        started = {} if at <= turn.since else {"effective_at": to_datetime(at)}
        if status == "retracted":
            return Retract(**named, **started, reason="reality_changed")
        if not started:
            return Correct(**named, description=message.turn.text)
        return Supersede(**named, **started, description=message.turn.text)

    def _changed_at(self, message: Message, turn: StoredTurn) -> Instant:
        """When a message was edited or taken back: as it says, else at its own later time, else now."""
        told = message.edited_at or message.turn.time
        time = None if told is None else to_instant(told)
        if time is None or (message.edited_at is None and (time <= turn.since or message.deleted)):
            return self.now
        self.stamps.append(told)
        return min(self.now, time)

    def _following(self, positions: Sequence[int | None]) -> list[TurnOrder | None]:
        """For each message the place of the next one in the list that is stored."""
        following: list[TurnOrder | None] = []
        next_one: TurnOrder | None = None
        for at in reversed(positions):
            following.append(next_one)
            next_one = next_one if at is None else self.transcript.turns[at].order
        return following[::-1]

    def _meet(
        self, message: Message, time: datetime | None, *, title: str | None, following: TurnOrder | None
    ) -> None:
        status, reason = self._judge_new(message)
        if status != "stored":
            self.heard.append(MessageOutcome(message, status, self.new_ids.get(message.id or ""), reason))
            return
        order = self._new_order(title, following)
        insort(self.new_orders, order)
        self.last = order
        self.stamps.append(read_stamp(message.turn.extra))
        self.placed.append((order, message, time, True))
        turn_id = self.episode.memory_id(order.key)
        if message.id is not None:
            self.new_ids[message.id] = turn_id
        self.heard.append(MessageOutcome(message, "stored", turn_id))

    def _judge_new(self, message: Message) -> tuple[Status, str | None]:
        if message.deleted:
            return "left_out", "it is marked deleted and was never stored"
        if not message.turn.text:
            return "left_out", NO_TEXT
        words = speech_key(message.turn.speaker, message.turn.text)
        if message.id is not None and self.sayings.setdefault(message.id, words) != words:
            return "refused", TWICE
        return ("duplicate" if message.id in self.new_ids else "stored"), None

    def _new_order(self, title: str | None, following: TurnOrder | None) -> TurnOrder:
        """Behind the message before it in the list; where a stored one follows there, before the next turn."""
        number = self._number(title)
        if title is None and self.last is None and following is not None:
            number = following.session
        end = self._before(TurnOrder(number + 1, (0,)), number)
        if end is None:
            return TurnOrder(number, (1,))
        before = self.last if self.last is not None and self.last.session == number else None
        if following is None or following.session != number or before == end:
            return end.next()
        if before is None:
            before = self._before(following, number) or TurnOrder(number, (0,))
        after = self._after(before)
        return end.next() if after is None or after.session != number else before.before(after)

    def _number(self, title: str | None) -> int:
        """The number of the session with this title; without a title, of the message before."""
        if title is None:
            if self.last is not None:
                return self.last.session
            turns = self.transcript.turns
            return turns[-1].order.session if turns else self._numbered(self.episode.title)
        return self._numbered(title)

    def _numbered(self, title: str) -> int:
        number = self.numbers.setdefault(title, 1 + max(self.numbers.values(), default=0))
        self.groups.setdefault(number, title)
        return number

    def _before(self, order: TurnOrder, session: int | None = None) -> TurnOrder | None:
        """The last place before `order` that has a turn, stored or new; with `session` only one of that."""
        stored, new = self._stored_at(order), bisect_left(self.new_orders, order)
        found = [self.transcript.turns[stored - 1].order] if stored else []
        found += [self.new_orders[new - 1]] if new else []
        last = max(found, default=None)
        return None if last is None or session not in (None, last.session) else last

    def _after(self, order: TurnOrder) -> TurnOrder | None:
        following = TurnOrder(order.session, (*order.place, 0))
        stored, new = self._stored_at(following), bisect_left(self.new_orders, following)
        found = [turn.order for turn in self.transcript.turns[stored : stored + 1]]
        return min(found + self.new_orders[new : new + 1], default=None)

    def _stored_at(self, order: TurnOrder) -> int:
        return bisect_left(self.transcript.turns, order, key=lambda turn: turn.order)

    def _steps(self) -> tuple[Step, ...]:
        """The placed turns in their order, with their neighbours and the sessions that they begin."""
        placed_at = {order for order, *_ in self.placed}
        self.times = {o: self.now if time is None else to_instant(time) for o, _, time, _ in self.placed}
        steps: list[Step] = []
        for order, message, time, is_new in sorted(self.placed, key=lambda placed: placed[0]):
            before, after = self._before(order), self._after(order)
            starts = self._start(order, before, message, time=time, is_new=is_new)
            steps.append(
                Step(
                    turn=replace(message.turn, key=order.key),
                    time=time,
                    is_new=is_new,
                    before=None if before is None else self.episode.memory_id(before.key),
                    after=None
                    if not is_new or after is None or after in placed_at
                    else self.episode.memory_id(after.key),
                    parts=self._parts(order, after) if is_new else None,
                    starts=starts,
                )
            )
        return tuple(steps)

    def _parts(self, order: TurnOrder, after: TurnOrder | None) -> tuple[str, str] | None:
        """The stored turns on both sides of a new one, when the turn after it is stored."""
        at = self._stored_at(order)
        around = self.transcript.turns[at - 1 : at + 1] if at else ()
        return (around[0].id, around[1].id) if len(around) == 2 and around[1].order == after else None

    def _start(
        self, order: TurnOrder, before: TurnOrder | None, message: Message, *, time: datetime | None, is_new: bool
    ) -> SessionStart | None:
        """The session that the turn begins: the first of its title, or the next part after a pause."""
        base = f"session_{order.session}"
        key: str | None = None
        title = self.groups.get(order.session, f"session {order.session}")
        if before is None or before.session != order.session:
            key = base
        elif not is_new:
            key = self._stored_start(order.session, time)
        elif message.session is None and self._pause(before, time) > SESSION_GAP:
            part = 2 + sum(known.startswith(f"{base}.") for known in self.session_keys)
            key, title = f"{base}.{part}", f"{title} ({part})"
        if key is None or (not is_new and key not in self.transcript.sessions):
            return None
        stored = self.transcript.sessions.get(key)
        if key not in self.session_keys:
            insort(self.session_keys, key, key=_session_order)
        position = self.session_keys.index(key)
        earlier = self.session_keys[position - 1] if position else None
        return SessionStart(key, title if stored is None else stored.title, earlier)

    def _stored_start(self, number: int, time: datetime | None) -> str | None:
        since = None if time is None else to_instant(time)
        keys = (key for key, session in self.transcript.sessions.items() if session.since == since)
        return next((key for key in keys if "." in key and _session_number(key) == number), None)

    def _pause(self, before: TurnOrder, time: datetime | None) -> Instant:
        """Microseconds between a turn and the one before it."""
        at = self._stored_at(before)
        stored = self.transcript.turns[at : at + 1]
        is_stored = stored and stored[0].order == before
        earlier = stored[0].since if is_stored else self.times.get(before, self.now)
        return (self.now if time is None else to_instant(time)) - earlier


def not_ahead(time: datetime | None, now: Instant) -> datetime | None:
    """The time from which what is dated so holds; None, from now on, where that is to come."""
    return None if time is None or to_instant(time) > now else time


def ahead_note(times: Iterable[datetime | None], noun: str, now: Instant) -> tuple[str, ...]:
    """What is to be said of times that are more than a little ahead of the clock."""
    count = sum(time is not None and to_instant(time) > now + AHEAD for time in times)
    return (f"{count_of(count, noun)} dated ahead of the clock: true from now on",) if count else ()


def _session_order(key: str) -> tuple[int, ...]:
    """`session_3.2` stands behind `session_3` and before `session_4`."""
    return tuple(int(part) for part in key.removeprefix("session_").split(".") if part.isdecimal())


def _session_number(key: str) -> int:
    return next(iter(_session_order(key)), 0)


def _left_out_note(episode_id: str, turns: Sequence[StoredTurn]) -> tuple[str, ...]:
    if not turns:
        return ()
    names = ", ".join(turn.message_id or turn.id for turn in turns[:NAMED_LEFT_OUT])
    more = f" and {len(turns) - NAMED_LEFT_OUT:,} more" if len(turns) > NAMED_LEFT_OUT else ""
    return (
        f"{episode_id}: the list leaves out stored messages ({names}{more}); they stay: send them with "
        "deleted true to take them back",
    )
