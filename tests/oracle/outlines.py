"""Commands in outline become those that are sent, by what the oracle holds of what they speak of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from schemas.commands import ANY_COMMAND, Command
from schemas.memory import ResolutionState
from schemas.temporal import END_OF_TIME, to_datetime, to_instant
from tests.oracle import wholes
from tests.oracle.held import Told
from tests.oracle.histories import KINDS, NAMES, TAGS, WORDS, Again, Edge, Naming, Step, Together
from tests.oracle.store import UNNAMED, Oracle
from tests.oracle.stretches import sayable
from tests.oracle.wholes import identity_of

DAY = 86_400_000_000
BEGINNING = to_instant(datetime.fromisoformat("2026-01-01T00:00:00Z"))
FIRST_COMMAND = BEGINNING + 20 * DAY
KNOWN_FROM_THE_START = 12
ABOUT_LINKS = ("supersede_link", "correct_link", "resolve_link", "unrelate", "undo_link")
STATES = tuple(ResolutionState)


@dataclass
class Tally:
    """What was done, and every difference that was found."""

    commands: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class Outlines:
    """A citizen of its own, what the oracle holds of it, and all that was sent."""

    tally: Tally = field(default_factory=Tally)
    citizen: str = field(default_factory=lambda: f"o{uuid4().hex}")
    oracle: Oracle = field(default_factory=Oracle)
    now: int = FIRST_COMMAND
    sent: list[Command] = field(default_factory=list)
    beginning: int = BEGINNING

    def first(self) -> list[Command]:
        """The first memories, of which most commands then speak."""
        known = enumerate(NAMES[:KNOWN_FROM_THE_START])
        return [self.command("remember", id=name, name=name, valid_at=self.on(3 * who)) for who, name in known]

    def on(self, day: int | None) -> datetime | None:
        """A day."""
        return None if day is None else to_datetime(self.beginning + day * DAY)

    def whole(self, act: Together) -> list[Command]:
        """The commands of an atomic list."""
        commands = self.all(act.steps)
        return wholes.able(self.oracle, commands, self.now) if act.able else commands

    def all(self, steps: Sequence[Step | Again]) -> list[Command]:
        """The commands of a list. What one expects of what another leaves, its sender cannot know."""
        named: set[str] = set()
        commands = [command for step in steps if (command := self.one(step)) is not None]
        for place, command in enumerate(commands):
            if (
                identity_of(command) in named
                and getattr(command, "expected_version", None)
                and command not in self.sent
            ):
                commands[place] = command.model_copy(update={"expected_version": None})
            named.add(identity_of(command))
        return commands

    def one(self, step: Step | Again) -> Command | None:
        """The command of an outline; None for what no command can say."""
        return self.again(step) if isinstance(step, Again) else self.told(step)

    def expected(self, commands: Sequence[Command], found: Sequence[Told]) -> list[Told]:
        """What the oracle tells of commands that are sent at once, each a microsecond after the one before."""
        ahead, due = self.oracle.ahead(self.now), []
        for place, (command, receipt) in enumerate(zip(commands, found, strict=True)):
            now = self.now + place
            due.append(self.oracle.at(command, now, self.oracle.moment(now, receipt, ahead=ahead)))
        return due

    def command(self, verb: str, **fields: Any) -> Command:
        known = {name: value for name, value in fields.items() if value is not None}
        return ANY_COMMAND.validate_python({"command": verb, "citizen_id": self.citizen, **known})

    def again(self, step: Again) -> Command:
        """An earlier command once more, or another one under its id."""
        command = self.sent[step.place % len(self.sent)]
        if not step.altered:
            return command
        other = {"energy": 0.123} if "energy" in type(command).model_fields else {"id": NAMES[step.place % 7]}
        return command.model_copy(update=other)

    def told(self, step: Step) -> Command | None:
        """The command of an outline; None for what no command can say."""
        named = {"command_id": uuid4().hex if step.named else None}
        if step.verb in ("remember", "relate"):
            start, end = self.on(step.start), self.on(step.end)
            if start is not None and end is not None and end <= start:
                return None
            held = {"valid_at": start, "invalid_at": end, **named}
            return self.remembered(step, held) if step.verb == "remember" else self.related(step, held)
        who = self.link(step.who) if step.verb in ABOUT_LINKS else NAMES[step.who]
        seen = self.version_seen(who, step)
        versions = {"any": None, "seen": seen, "stale": seen + 1}
        revised = {"id": who, "expected_version": versions[step.version], **named}
        revised = {name: value for name, value in revised.items() if value is not None}
        timed = {} if step.verb in ("undo", "undo_link") else self.moments(step, who)
        return self.said({"command": step.verb, **revised, **timed, **self.change(step, who)})

    def last_named(self, who: str) -> str | None:
        """The id under which the last change of a memory or link was sent."""
        if not self.oracle.records_of(who):
            return None
        by = [name for name in self.oracle.last_change(who)[1] if name and not name.startswith(UNNAMED)]
        return min(by, default=None)

    def version_seen(self, who: str, step: Step) -> int:
        """The version of one of the records that are believed, or the one before it."""
        held = self.oracle.believed(who)
        if held:
            return held[step.strength % len(held)].version
        return self.oracle.highest(who) if self.oracle.records_of(who) else 1

    def said(self, fields: dict[str, Any]) -> Command | None:
        """The command that says this; None where it may not be said, on both sides."""
        try:
            command = ANY_COMMAND.validate_python({"citizen_id": self.citizen, **fields})
        except ValidationError:
            command = None
        self.tally.commands["unsayable"] += command is None
        self.compare(f"whether this may be said: {fields}", command is not None, sayable(fields))
        return command

    def change(self, step: Step, who: str) -> dict[str, Any]:
        """What a change of a memory or a link says of it."""
        if step.verb in ("undo", "undo_link"):
            undoes = (None, self.last_named(who), self.sent[-1].command_id)[step.kind % 3]
            return {} if undoes is None else {"undoes": undoes}
        if step.verb in ("resolve", "resolve_link"):
            return {"resolution_state": STATES[step.kind]}
        if step.verb in ("retract", "unrelate"):
            return {"reason": "reality_changed"} if step.strength % 3 == 0 else {}
        content: dict[str, Any] = {"energy": energy(step)}
        if step.verb in ("supersede", "correct"):
            content |= {"description": self.text(step.words), **self.tagged(step)}
            content |= ({}, {}, {"goal": None}, {"goal": WORDS[step.words[0]]})[step.strength % 4]
        return content

    def moments(self, step: Step, who: str) -> dict[str, datetime | None]:
        """The times that a change names, those too that no command may name together."""
        days = zip((step.start, step.end), step.edges, strict=True)
        start, end = (self.instant_of(day, edge, who) for day, edge in days)
        named: Mapping[Naming, Mapping[str, datetime | None]] = {
            "effective": {"effective_at": start},
            "from": {"valid_from": start},
            "from_to": {"valid_from": start, "valid_to": end},
            "effective_to": {"effective_at": start, "valid_to": end},
            "to": {"valid_to": end},
            "both": {"effective_at": start, "valid_from": end},
            "period": {"valid_at": start, "invalid_at": end},
        }
        times = named.get(step.naming, {})
        return {name: at for name, at in times.items() if at is not None or (name == "invalid_at" and step.kind)}

    def instant_of(self, day: int | None, edge: Edge | None, who: str) -> datetime | None:
        """A day, or where something begins or ends in the life of the memory or link."""
        records = self.oracle.records_of(who)
        ends = sorted({at for one in records for at in (one.valid_at, one.invalid_at)} - {END_OF_TIME})
        if edge is None or not ends:
            return self.on(day)
        return to_datetime(ends[edge.place % len(ends)] + edge.beside)

    def link(self, place: int) -> str:
        """The id of a link that was made, or of none."""
        made = sorted({record.id for record in self.oracle.records if record.ends is not None})
        return made[place % len(made)] if made else "brix|NEAR|brix"

    def remembered(self, step: Step, held: Mapping[str, Any]) -> Command:
        who = NAMES[step.who]
        content = {"name": who, "description": self.text(step.words), "energy": energy(step), **self.tagged(step)}
        return self.command("remember", id=who, **content, **held)

    def related(self, step: Step, held: Mapping[str, Any]) -> Command:
        ends = {"source_id": NAMES[step.who], "target_id": NAMES[step.other]}
        felt = {"energy": energy(step), "confidence": 0.9, "emotion_vector": {}, "goal": "g", "mindstate": "m"}
        if step.kind == len(KINDS):
            own = {"id": f"own_{step.words[0]}", "relation_type": "OWN"}
            return self.command("relate", **own, **ends, **felt, **held)
        return self.command("relate", relation_type=KINDS[step.kind], **ends, **felt, **held)

    def tagged(self, step: Step) -> dict[str, Any]:
        """The tags that a command sets, if it does: one, another, or none."""
        return {} if step.kind == len(KINDS) else {"tags": TAGS[: step.strength % (len(TAGS) + 1)]}

    def text(self, words: Iterable[int]) -> str:
        return " ".join(sorted(WORDS[word] for word in words))

    def compare(self, what: str, engine: Any, oracle: Any) -> None:
        if engine != oracle:
            self.tally.differences.append(f"{what}\n  engine: {engine}\n  oracle: {oracle}")


def energy(step: Step) -> float:
    return round(0.3 + 0.05 * step.strength, 2)


def outlined(*commands: Command) -> str:
    """What the commands say, for a reader."""
    return str([one.model_dump(exclude_unset=True, exclude={"citizen_id"}, mode="json") for one in commands])
