"""Two services on one store, whose own clocks differ, over HTTP: both tell the same, and what the oracle tells.

Commands go to the one or to the other, questions to both. The moment of a command is told by its receipt, and must
lie between sending and answer by the clock of this host, which is that of the engine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx
import orjson

from schemas.commands import Command, WriteReceipt
from schemas.memory import ConsciousnessNode, LinkRecord, MemoryRecord
from schemas.stream import TemporalDissonance
from schemas.temporal import to_datetime
from tests.acceptance.conftest import Service
from tests.oracle import wholes
from tests.oracle.held import Refused, Told, Window, moment, present
from tests.oracle.histories import NAMES, WORDS, Act, Forget, InOrder, Together, an_act, an_instant
from tests.oracle.learnt import moments, told_moments
from tests.oracle.outlines import DAY, Outlines, Tally, outlined
from tests.oracle.raw import exported, pointed_to, raw
from tests.oracle.shown import Shown, as_told, of_bond, of_held, of_node
from tests.oracle.wholes import identity_of

AHEAD_S = (60, -3600, 86_400)
"""By how much the clock of the second service is wrong."""
WRONG_CLOCK = """
import time
_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + {seconds}
time.time_ns = lambda: _time_ns() + {seconds} * 1_000_000_000
"""
COMMANDS = 40
"""Of one life, and as many questions."""
Params = Mapping[str, Any]


class Wrong(Service):
    """A service on the store of another whose own clock is wrong by so many seconds."""

    def __init__(self, of: Service, seconds: int) -> None:
        self.before = WRONG_CLOCK.format(seconds=seconds)
        super().__init__(of.data, of.embedding, of.key_given)


def host_clock() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


@dataclass(kw_only=True)
class Pair(Outlines):
    """A citizen of its own, of whom two services are told, now the one and now the other."""

    doors: tuple[httpx.Client, httpx.Client]
    chance: Random

    def through(self, commands: int, asked: int) -> None:
        """A life of so many commands, and so many questions in between."""
        self.beginning = host_clock() - 75 * DAY
        for command in self.first():
            self.tell([command])
        for _ in range(commands):
            self.live(an_act(self.chance))
            for _ in range(max(1, asked // commands)):
                self.ask()

    # --- commands -----------------------------------------------------------------------------------------

    def live(self, act: Act) -> None:
        """One command, some at once, or an erasure."""
        if isinstance(act, Forget):
            self.forget(NAMES[act.who])
        elif isinstance(act, Together):
            if commands := self.whole(act):
                self.tell(commands, atomic=True)
        elif isinstance(act, InOrder):
            if commands := self.all(act.steps):
                self.tell(commands)
        elif (command := self.one(act)) is not None:
            self.tell([command])

    def tell(self, commands: Sequence[Command], *, atomic: bool = False) -> None:
        """Tell one of the services; the other must know."""
        self.sent += commands
        before, door = host_clock(), self.chance.choice(self.doors)
        said = [command.model_dump(mode="json", exclude_unset=True) for command in commands]
        answer = door.post("/v1/commands", json=said, params={"atomic": atomic})
        after = host_clock()
        assert answer.status_code == 200, answer.text
        receipts = [as_told(WriteReceipt.model_validate(one)) for one in answer.json()["receipts"]]
        begun = [
            (one.created_at or 0) - (0 if atomic else place)
            for place, one in enumerate(receipts)
            if one.status == "stored" and not one.duplicate
        ]
        self.now = max(begun[0] if begun else before, self.oracle.clock + 1)
        if atomic:
            due = wholes.together(self.oracle, commands, self.now, self.now)
        else:
            due = self.expected(commands, receipts)
        self.tally.commands["two services"] += len(commands)
        what = outlined(*commands)
        self.compare(
            f"receipts of {what}", [versionless(one) for one in receipts], [versionless(one) for one in due]
        )
        self.compare(f"moment of {what}", not begun or before <= begun[0] <= after, True)
        for identity in {identity_of(command) for command in commands}:
            self.versions_of(identity)

    def versions_of(self, identity: str) -> None:
        """Take over versions: within an atomic list they may skip numbers, but keep their order."""
        due = sorted(self.oracle.records_of(identity), key=lambda one: one.version)
        found = self.records(self.chance.choice(self.doors), identity)
        for one, node in zip(due, found, strict=False):
            one.version = node.version
        shown = [of_record(one) for one in found]
        self.compare(f"records of {identity}", shown, [of_held(one) for one in due])

    def records(self, door: httpx.Client, identity: str) -> list[Any]:
        """The history of a memory or a link, in the order of the versions."""
        answer = self.get(door, f"{place_of(identity)}/history", {"limit": 500})
        kind = LinkRecord if is_link(identity) else MemoryRecord
        told = [] if answer is None else answer["records"]
        return sorted((kind.model_validate(one) for one in told), key=lambda one: one.version)

    def forget(self, memory_id: str) -> None:
        """Erase a memory."""
        door = self.chance.choice(self.doors)
        answer = door.post(f"/v1/memories/N1/{memory_id}/erase", json={"citizen_id": self.citizen})
        try:
            wholes.erase(self.oracle, memory_id)
            expected = True
        except Refused:
            expected = False
        self.compare(f"erasure of {memory_id}", answer.is_success, expected)

    # --- questions ----------------------------------------------------------------------------------------

    def ask(self) -> None:
        """One question to both services."""
        ways = (self.reading, self.listing, self.identity, self.export, self.receipt, self.learnt, self.stream)
        way = self.chance.choice(ways)
        self.tally.questions[f"two services: {way.__name__}"] += 1
        way()

    def times(self) -> tuple[Params, Window]:
        """The present, or a moment with or without another at which it was known."""
        self.now = max(host_clock(), self.oracle.clock)
        if self.chance.choice((True, False)):
            return {}, present(self.now)
        valid, known = self.instant(), self.instant()
        if self.chance.choice((True, False)):
            return {"as_of_time": text(valid)}, moment(valid, valid)
        return {"as_of_time": text(valid), "known_at": text(known)}, moment(valid, known)

    def instant(self) -> int:
        """An instant at which something begins or ends, or beside it."""
        at, instants = an_instant(self.chance), self.oracle.instants()
        return instants[at.place % len(instants)] + at.beside

    def get(self, door: httpx.Client, path: str, params: Params) -> Any:
        """What is answered, None where nothing is."""
        whose = {} if path.startswith("/v1/citizens") else {"citizen_id": self.citizen}
        answer = door.get(path, params={**whose, **params})
        if answer.status_code == 404:
            return None
        assert answer.status_code == 200, answer.text
        return answer.json()

    def both(self, path: str, params: Params) -> Any:
        """What both answer, which must be the same but for the moment at which they were asked."""
        one, other = (without_moment(self.get(door, path, params)) for door in self.doors)
        self.compare(f"{path} {params} of the other service", other, one)
        return one

    def reading(self) -> None:
        """One memory or link."""
        params, window = self.times()
        who = self.chance.choice((NAMES[self.chance.choice(range(12))], self.link(self.chance.choice(range(100)))))
        told = self.both(place_of(who), params)
        kind = LinkRecord if is_link(who) else MemoryRecord
        found = [] if told is None else [kind.model_validate(told)]
        shown = [of_record(one) for one in found]
        due = [of_held(one) for one in self.oracle.seen(window) if one.id == who]
        self.compare(f"{who} {params}", shown, due)

    def listing(self) -> None:
        """All memories or links, each page from another service, with commands in between."""
        params, window = self.times()
        links = self.chance.choice((True, False))
        due = [of_held(one) for one in self.oracle.seen(window) if (one.ends is not None) is links]
        found: list[Any] = []
        cursor: Params = {}
        while True:
            page = self.get(
                self.chance.choice(self.doors),
                f"/v1/{'links' if links else 'memories'}",
                {"limit": 5, **params, **cursor},
            )
            found += (
                [of_bond(LinkRecord.model_validate(one)) for one in page["links"]]
                if links
                else [of_node(MemoryRecord.model_validate(one)) for one in page["memories"]]
            )
            if page["next"] is None:
                break
            cursor = {"cursor": page["next"]}
            act = an_act(self.chance)
            if not isinstance(act, Forget):
                self.live(act)
        self.compare(f"listing {params}", sorted(found, key=str), sorted(due, key=str))

    def identity(self) -> None:
        """The memories to which others point."""
        params, window = self.times()
        told = self.both(f"/v1/citizens/{self.citizen}/identity", {"limit": 100, **params})
        found = [(one["node_id"], one["name"], one["appearances"]) for one in told["entities"]]
        self.compare(f"identity {params}", found, pointed_to(self.oracle.seen(window)))

    def export(self) -> None:
        """Every record."""
        one, other = (door.get(f"/v1/citizens/{self.citizen}/export").text for door in self.doors)
        self.compare("export of the other service", other, one)
        said = [orjson.loads(line) for line in one.splitlines()]
        found = [exported(line) for line in said if line["kind"] in ("memory", "record", "link")]
        self.compare("export", sorted(found, key=str), sorted((raw(one) for one in self.oracle.records), key=str))

    def receipt(self) -> None:
        """A receipt, read again."""
        named = [one.command_id for one in self.sent if one.command_id is not None]
        if named:
            name = self.chance.choice(named)
            told = self.both(f"/v1/receipts/{name}", {})
            found = [] if told is None else [versionless(as_told(WriteReceipt.model_validate(told)))]
            due = [versionless(self.oracle.done[name][1])] if name in self.oracle.done else []
            self.compare(f"receipt {name}", found, due)

    def learnt(self) -> None:
        """The beliefs that changed."""
        told = self.both(f"/v1/citizens/{self.citizen}/dissonances", {"limit": 500})
        found = told_moments(map(TemporalDissonance.model_validate, told["dissonances"]))
        self.compare("changes of belief", found, moments(self.oracle.records))

    def stream(self) -> None:
        """The four ways that bring memories: the same from both, all of them seen at the moment."""
        params, window = self.times()
        way = self.chance.choice(("retrieve", "wake", "resonate", "associate"))
        words = f"{self.chance.choice(NAMES)} {self.chance.choice(WORDS)}"
        mode = {"temporal_mode": "point_in_time"} if params and way == "retrieve" else {}
        ways: dict[str, dict[str, Any]] = {
            "retrieve": {"query_text": words, "max_results_per_level": 100, **mode},
            "wake": {"current_energy": 0.5, "current_emotions": {}, "query_mode": "find_what_i_was_doing"},
            "resonate": {"nodes": [words.split()[0]], "max_results_per_level": 100},
            "associate": {"query_text": words},
        }
        body = {"citizen_id": self.citizen, "query_levels": ["N1"], **ways[way], **params}
        one, other = (door.post(f"/v1/{way}", json=body) for door in self.doors)
        assert one.status_code == other.status_code == 200, one.text
        found, again = ([of_node(node) for node in memories(way, told.json())] for told in (one, other))
        self.compare(f"{way} {body} of the other service", again, found)
        seen = {of_held(record) for record in self.oracle.seen(window) if record.ends is None}
        self.compare(f"{way} {body} beyond what is seen", set(found) - seen, set())


def memories(way: str, told: Any) -> list[ConsciousnessNode]:
    """The memories that a stream brings."""
    if way == "associate":
        found = [one["memory"] for one in (*told["anchors"], *told["neighbours"])]
    elif way == "resonate":
        found = [one["memory"] for level in told["levels"].values() for one in level]
    else:
        levels = told["levels"].values()
        found = [one for level in levels for one in (*level["vector_results"], *level["graph_results"])]
    return [ConsciousnessNode.model_validate(one) for one in found]


def without_moment(told: Any) -> Any:
    """An answer without the moment for which it stands, which is that of the question where none was named."""
    return {key: one for key, one in told.items() if key not in ("as_of_time", "known_at")} if told else told


def text(instant: int) -> str:
    return to_datetime(instant).isoformat()


def is_link(identity: str) -> bool:
    return "|" in identity or identity.startswith("own_")


def place_of(identity: str) -> str:
    """The address of a memory or a link."""
    return f"/v1/{'links' if is_link(identity) else 'memories'}/N1/{identity}"


def of_record(one: MemoryRecord | LinkRecord) -> Shown:
    """A record of either kind, as it is shown."""
    return of_node(one) if isinstance(one, MemoryRecord) else of_bond(one)


def versionless(told: Told) -> Told:
    """A receipt without its number: within an atomic list it may skip."""
    return told._replace(version=None)


def compare(data: Path, questions: int, seed: int, tally: Tally) -> None:
    """Lives of two services until so many questions have been asked."""
    chance = Random(seed)
    service = Service(data, "tests.oracle.likeness:Tiny")
    other = Wrong(service, chance.choice(AHEAD_S))
    try:
        due = tally.questions.total() + questions
        while tally.questions.total() < due:
            Pair(doors=(service.http, other.http), chance=chance, tally=tally).through(COMMANDS, COMMANDS)
    finally:
        other.stop()
        service.stop()
