"""Commands told to the engine and to the oracle at once: all that they say of them is compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from api.runtime import Runtime
from orchestration import atomic, erasing, insertion
from schemas.command import Command
from schemas.commands import ANY_COMMAND
from schemas.erasure import EraseMemory
from schemas.memory import Level, ResolutionState
from schemas.temporal import to_datetime, to_instant
from substrate.graph_schema import graph_name
from tests.oracle import wholes
from tests.oracle.histories import KINDS, NAMES, WORDS, Again, Forget, Step, Together
from tests.oracle.shown import as_told, seen_or_none
from tests.oracle.store import Oracle, Refused

DAY = 86_400_000_000
BEGINNING = to_instant(datetime.fromisoformat("2026-01-01T00:00:00Z"))
FIRST_COMMAND = BEGINNING + 20 * DAY
KNOWN_FROM_THE_START = 12
ABOUT_LINKS = ("supersede_link", "correct_link", "resolve_link", "unrelate", "undo_link")
STATES = tuple(ResolutionState)


def on(day: int | None) -> datetime | None:
    return None if day is None else to_datetime(BEGINNING + day * DAY)


@dataclass
class Tally:
    """What was done, and every difference that was found."""

    commands: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


@dataclass
class Telling:
    """A citizen of its own, in an open store, to whom commands are told."""

    runtime: Runtime
    tally: Tally = field(default_factory=Tally)
    citizen: str = field(default_factory=lambda: f"o{uuid4().hex}")
    oracle: Oracle = field(default_factory=Oracle)
    now: int = FIRST_COMMAND
    sent: list[Command] = field(default_factory=list)

    @property
    def graph(self) -> str:
        return graph_name(Level.N1, self.citizen)

    async def begin(self) -> None:
        """The first memories, which most commands then speak of."""
        for who in range(KNOWN_FROM_THE_START):
            start = on(3 * who)
            await self.send(self.command("remember", id=NAMES[who], name=NAMES[who], valid_at=start))

    async def end(self) -> None:
        """Leave nothing behind."""
        await self.runtime.deps.connection.command("GRAPH.DELETE", self.graph)

    async def live(self, act: Step | Again | Together | Forget) -> None:
        """One command, some as a whole, or an erasure, on both sides."""
        self.now += act.tick
        if isinstance(act, Forget):
            await self.forget(NAMES[act.who])
        elif isinstance(act, Together):
            await self.send_together([command for step in act.steps if (command := self.one(step)) is not None])
        elif (command := self.one(act)) is not None:
            await self.send(command)

    def one(self, step: Step | Again) -> Command | None:
        """The command of an outline; None for what no command can say."""
        return self.again(step) if isinstance(step, Again) else self.told(step)

    async def forget(self, memory_id: str) -> None:
        """Erase a memory on both sides."""
        try:
            wholes.erase(self.oracle, memory_id)
            expected = True
        except Refused:
            expected = False
        command = EraseMemory(citizen_id=self.citizen, id=memory_id)
        report = await seen_or_none(erasing.erase(command, self.runtime.deps, self.now, None))
        self.tally.commands["erase" if expected else "erase refused"] += 1
        self.compare(f"erasure of {memory_id}", report is not None, expected)

    async def send_together(self, commands: Sequence[Command]) -> None:
        """Some commands as a whole, at a moment after all before."""
        self.now = max(self.now, self.oracle.clock + 1)
        self.sent += commands
        expected = wholes.together(self.oracle, commands, self.now)
        receipts = await atomic.apply(commands, self.runtime.deps, self.now)
        refused = any(one.status == "refused" for one in expected)
        self.tally.commands[f"atomic list{' refused' if refused else ''}"] += 1
        self.compare(f"receipts of {commands!r}", [as_told(receipt) for receipt in receipts], expected)

    async def send(self, command: Command) -> None:
        self.sent.append(command)
        expected = self.oracle.apply(command, self.now)
        [receipt] = await insertion.apply([command], self.runtime.deps, self.now)
        kind = receipt.command
        self.tally.commands[kind if receipt.status == "stored" else f"{kind} refused"] += 1
        self.compare(f"receipt of {command!r}", as_told(receipt), expected)

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
            start, end = on(step.start), on(step.end)
            if start is not None and end is not None and end <= start:
                return None
            held = {"valid_at": start, "invalid_at": end, **named}
            return self.remembered(step, held) if step.verb == "remember" else self.related(step, held)
        who = self.link(step.who) if step.verb in ABOUT_LINKS else NAMES[step.who]
        seen = self.oracle.latest(who).version if self.oracle.records_of(who) else 1
        versions = {"any": None, "seen": seen, "stale": seen + 1}
        revised = {"id": who, "expected_version": versions[step.version], **named}
        return self.command(step.verb, **revised, **self.change(step))

    def change(self, step: Step) -> dict[str, Any]:
        """What a change of a memory or a link says of it."""
        if step.verb in ("undo", "undo_link"):
            return {"undoes": self.sent[-step.kind].command_id if step.kind else None}
        if step.verb in ("resolve", "resolve_link"):
            return {"resolution_state": STATES[step.kind]}
        content: dict[str, Any] = {}
        if step.verb not in ("correct", "correct_link"):
            content["effective_at"] = on(step.start)
        if step.verb not in ("retract", "unrelate"):
            content["energy"] = energy(step)
        if step.verb in ("supersede", "correct"):
            content["description"] = self.text(step.words)
        return content

    def link(self, place: int) -> str:
        """The id of a link that was made, or of none."""
        made = sorted({record.id for record in self.oracle.records if record.ends is not None})
        return made[place % len(made)] if made else "brix|NEAR|brix"

    def remembered(self, step: Step, held: Mapping[str, Any]) -> Command:
        who = NAMES[step.who]
        content = {"name": who, "description": self.text(step.words), "energy": energy(step)}
        return self.command("remember", id=who, **content, **held)

    def related(self, step: Step, held: Mapping[str, Any]) -> Command:
        ends = {"source_id": NAMES[step.who], "target_id": NAMES[step.other]}
        felt = {"energy": energy(step), "confidence": 0.9, "emotion_vector": {}, "goal": "g", "mindstate": "m"}
        if step.kind == len(KINDS):
            own = {"id": f"own_{step.words[0]}", "relation_type": "OWN"}
            return self.command("relate", **own, **ends, **felt, **held)
        return self.command("relate", relation_type=KINDS[step.kind], **ends, **felt, **held)

    def text(self, words: Iterable[int]) -> str:
        return " ".join(sorted(WORDS[word] for word in words))

    def compare(self, what: str, engine: Any, oracle: Any) -> None:
        if engine != oracle:
            self.tally.differences.append(f"{what}\n  engine: {engine}\n  oracle: {oracle}")


def energy(step: Step) -> float:
    return round(0.3 + 0.05 * step.strength, 2)
