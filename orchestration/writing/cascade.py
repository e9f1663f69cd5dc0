"""What follows when a memory or a link of work is resolved, worked out from its open links, and its parts. Pure.

A problem follows a link RESOLVED_BY that is resolved, and a problem follows its solution that is resolved. A
resolved problem takes its open links along. What waited for it (BLOCKED_BY, DEPENDS_ON; BLOCKS and UNBLOCKS the
other way round) can go on, unless it still waits for something else. A circle ends where it meets itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from orchestration.writing.receipts import command_name
from schemas.commands import (
    CHANGES,
    ChangeCommand,
    Command,
    Consequence,
    Resolving,
    Subject,
    Undoing,
)
from schemas.memory import Level, ResolutionState
from schemas.temporal import END_OF_TIME, Period, to_datetime
from substrate.bitemporal import OpenRecords, Record
from substrate.store.rows import StoredReceipt
from substrate.store.threads import RESOLVED_BY, WORK, WorkLink, WorkState

RESOLVED: Final = ResolutionState.RESOLVED
_UNKNOWN: Final = WorkState("", frozenset())


class Step(NamedTuple):
    """A memory or link that follows, and the state that fits it then. `through`: the link that leads to it."""

    id: str
    subject: Subject
    state: ResolutionState
    name: str | None = None
    through: str | None = None


class Waiting(NamedTuple):
    """A blocked memory that could not go on yet, and the names of what it still waits for."""

    id: str
    name: str
    through: str
    awaited: tuple[str, ...]


class Plan(NamedTuple):
    """What follows, in order; `further` counts the steps that are not listed."""

    steps: tuple[Step, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    further: int = 0


class Root(NamedTuple):
    """The memory that is resolved, or the link: then with its type and its ends."""

    id: str
    link: WorkLink | None = None


@dataclass(slots=True)
class Planning:
    """Gathers what follows from `root`. It is told the links and states that it asks for, round by round.

    `frontier`: resolved memories whose links are not read yet. `considered`: by id, the link through which a
    problem may be solved; its state is not known yet. `waiting`: by id, the links over which a memory waits for
    something that is resolved.
    """

    root: Root
    frontier: list[str] = field(default_factory=list)
    considered: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, list[str]] = field(default_factory=dict)
    resolved: set[str] = field(default_factory=set)
    links: dict[str, WorkLink] = field(default_factory=dict)
    states: dict[str, WorkState] = field(default_factory=dict)
    _steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        link = self.root.link
        if link is None:
            self.resolved.add(self.root.id)
            self.frontier.append(self.root.id)
            return
        self.links[link.id] = link
        if link.relation_type == RESOLVED_BY:
            self.considered[link.source_id] = link.id
        elif link.waiting is not None:
            self.waiting[link.waiting] = [link.id]

    def take_frontier(self) -> list[str]:
        """The resolved memories whose links are to be read now."""
        frontier, self.frontier = self.frontier, []
        return frontier

    def add_links(self, links: Iterable[WorkLink]) -> None:
        """Take the open links of resolved memories along, and note what they lead to."""
        for link in links:
            if link.id not in self.links:
                self.links[link.id] = link
                self._steps.append(Step(link.id, "link", RESOLVED))
            if link.awaited == link.at and link.waiting is not None:
                ways = self.waiting.setdefault(link.waiting, [])
                ways += [link.id] if link.id not in ways else []
            elif link.relation_type == RESOLVED_BY and link.target_id == link.at:
                self.considered.setdefault(link.source_id, link.id)

    def add_states(self, states: Mapping[str, WorkState]) -> None:
        """Decide on the problems considered: what is open is resolved; its links are read."""
        self.states.update(states)
        for memory_id, through in self.considered.items():
            if memory_id in self.resolved:
                continue
            state = self.states.get(memory_id, _UNKNOWN)
            if state.is_open:
                self._steps.append(Step(memory_id, "memory", RESOLVED, state.name, through))
            if state.states - {""}:
                self.resolved.add(memory_id)
                self.frontier.append(memory_id)
        self.considered = {}

    def still_waiting(self) -> list[str]:
        """The ids of what may go on: blocked, not resolved itself, in the order found."""
        return [
            memory_id
            for memory_id in self.waiting
            if memory_id not in self.resolved and self.states.get(memory_id, _UNKNOWN).is_blocked
        ]

    def finish(self, waits: Sequence[WorkLink], *, cut: bool, room: int, unread: int = 0) -> Plan:
        """The plan with at most `room` steps. `waits`: the open links over which the blocked ones wait.

        `cut`: there are more such links than were read, so nothing can be said to wait for nothing else.
        `unread`: how many open links were not read.
        """
        awaited: dict[str, set[str]] = {}
        for link in waits:
            if link.id not in self.links and link.waiting == link.at and link.awaited is not None:
                awaited.setdefault(link.at, set()).add(link.awaited)
        free: list[str] = []
        waiting: list[Waiting] = []
        for memory_id in self.still_waiting():
            held = {other for other in awaited.get(memory_id, ()) if self._stands(other)}
            if not held and not cut:
                free.append(memory_id)
                continue
            names = sorted(self.states.get(other, _UNKNOWN).name or other for other in held)
            way = self.waiting[memory_id][0]
            waiting.append(Waiting(memory_id, self.states[memory_id].name, way, tuple(names)))
        groups = self._groups(free)
        steps: list[Step] = []
        for group in groups:
            if len(steps) + len(group) > room:
                break
            steps += group
        total = sum(map(len, groups))
        return Plan(tuple(steps), tuple(waiting[:room]), total - len(steps) + unread)

    def _stands(self, memory_id: str) -> bool:
        """True when something still waits for this memory in vain."""
        return memory_id not in self.resolved and not self.states.get(memory_id, _UNKNOWN).is_over

    def _groups(self, free: Iterable[str]) -> list[list[Step]]:
        """The steps in groups that are done together, those of work first: a memory goes on with its last link."""
        order = sorted(self._steps, key=lambda step: step.subject == "link" and self._rank(step))
        groups = [[step] for step in order]
        place = {step.id: position for position, step in enumerate(order)}
        for memory_id in free:
            ways = self.waiting[memory_id]
            last = max(ways, key=lambda way: place.get(way, -1))
            step = Step(memory_id, "memory", ResolutionState.IN_PROGRESS, self.states[memory_id].name, last)
            if last in place:
                groups[place[last]].append(step)
            else:
                groups.insert(0, [step])
                place = {way: position + 1 for way, position in place.items()}
        return groups

    def _rank(self, step: Step) -> bool:
        return self.links[step.id].relation_type not in WORK


PARTS_AT_MOST: Final = 99
"""With the command itself, as many as an atomic list has commands: all are written in one statement."""
_OPEN: Final = frozenset((ResolutionState.BLOCKED.value, ResolutionState.IN_PROGRESS.value))
_COPIED: Final = (
    "level", "citizen_id", "collective", "source", "effective_at", "valid_to", "undoes_source", "undoes_key",
)  # fmt: skip


type Identity = tuple[Subject, str]
"""A memory or a link, by its id."""


class Part(NamedTuple):
    """A part of a command. `step`: the step of the cascade that it is; None for a part of an undo."""

    command: ChangeCommand
    step: Step | None = None


class Together(NamedTuple):
    """The parts of one command. `plan`: of a cascade. `undoes`: the command that all parts take back.

    `seen`: the last commands on the record that the undo names, when the parts were read.
    """

    parts: tuple[Part, ...]
    plan: Plan | None = None
    undoes: str | None = None
    seen: frozenset[str] = frozenset()


def part_id(command_id: str, number: int) -> str:
    """The id under which the receipt of a part is stored; no sender can choose it."""
    return f"{command_id}|{number}"


def cascade_parts(command: Resolving, plan: Plan) -> Together:
    """The commands that do what follows, with the writer, the source and the stretch of the whole command."""
    parts = tuple(
        Part(_copied(command, CHANGES["resolve", s.subject], s.id, resolution_state=s.state), s)
        for s in plan.steps
    )
    return Together(parts, plan)


def undo_parts(command: Undoing, undoes: str, members: Iterable[Identity]) -> tuple[Part, ...]:
    """The undos of all that the command `undoes` changed (`members`), but for what `command` undoes itself."""
    own = (command.subject, command.id)
    others = (member for member in dict.fromkeys(members) if member != own)
    return tuple(Part(_copied(command, CHANGES["undo", subject], each, undoes=undoes)) for subject, each in others)


def _copied(command: ChangeCommand, kind: type[ChangeCommand], record_id: str, **fields: Any) -> ChangeCommand:
    """A command of this kind on another record, with what `command` says of when and by whom."""
    given = {name: getattr(command, name) for name in _COPIED if name in kind.model_fields}
    start = getattr(command, "valid_from", None) or given.get("effective_at")
    if "effective_at" in given:
        given["effective_at"] = start
    return kind(id=record_id, **given, **fields).with_writer(command.writer)


def over_period(command: ChangeCommand, period: Period) -> ChangeCommand:
    """The same resolution over this stretch of valid time."""
    end = None if period.end == END_OF_TIME else to_datetime(period.end)
    times = {"effective_at": None, "valid_from": to_datetime(period.start), "valid_to": end}
    return command.model_copy(update=times)


def open_periods(held: OpenRecords, stretch: Period, state: ResolutionState) -> list[Period]:
    """The parts of the stretch in which a record may get this state, by valid time.

    What is open may be resolved; only what is blocked may go on.
    """
    before = _OPEN if state is ResolutionState.RESOLVED else {ResolutionState.BLOCKED.value}
    periods: list[Period] = []
    for record in held:
        if not record.valid.overlaps(stretch) or record.content.get("resolution_state") not in before:
            continue
        piece = Period(max(record.valid.start, stretch.start), min(record.valid.end, stretch.end))
        if periods and periods[-1].end == piece.start:
            piece = Period(periods.pop().start, piece.end)
        periods.append(piece)
    return periods


def other_author(command: Command, touched: Sequence[Record]) -> str | None:
    """The author of one of the records, if it is another citizen's on a shared level: a cascade leaves it."""
    own = command.writer.author
    if command.level is Level.N1 or own is None:
        return None
    authors = (record.content.get("author") for record in touched)
    return next((str(author) for author in authors if author not in (None, own)), None)


def done(part: Part, record: Record | None) -> Consequence:
    """What a part of a command did; `record` is the last of the memory or link after it."""
    step = part.step
    state = None if record is None else record.content.get("resolution_state")
    return Consequence(
        outcome="done",
        command=command_name(part.command),
        id=part.command.id,
        resolution_state=state if step is None else step.state,
        name=None if step is None else step.name,
        through=None if step is None else step.through,
    )


def done_before(receipt: StoredReceipt) -> Consequence:
    """What a part of a command did, from its receipt: in the place of warnings this has the new state."""
    [state] = orjson.loads(receipt.warnings or '[""]')
    return Consequence(
        outcome="done",
        command=receipt.command,
        id=receipt.id or "",
        resolution_state=ResolutionState(state) if state else None,
    )


def not_done(step: Step, reason: str | None = None) -> Consequence:
    """What could be done, or with a reason what was left."""
    return Consequence(
        outcome="could" if reason is None else "left",
        command=CHANGES["resolve", step.subject].model_fields["command"].default,
        id=step.id,
        resolution_state=step.state,
        name=step.name,
        through=step.through,
        reason=reason,
    )


def still_waiting(plan: Plan) -> list[Consequence]:
    """What could not go on yet, and what it waits for."""
    return [
        not_done(
            Step(each.id, "memory", ResolutionState.IN_PROGRESS, each.name, each.through),
            f"still waits for {', '.join(each.awaited) or 'more than can be read at once'}",
        )
        for each in plan.waiting
    ]


def named_plan(plan: Plan) -> list[Consequence]:
    """All that follows, as it could be done."""
    return [*map(not_done, plan.steps), *still_waiting(plan)]
