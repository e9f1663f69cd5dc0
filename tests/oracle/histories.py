"""Random commands and random questions in outline; Hypothesis or a seed brings the chance."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal

NAMES = (
    "brix", "clov", "dant", "fesk", "gorm", "hulp", "jand", "kelm", "mopt", "nirv",
    "quas", "tudo", "velk", "wyse", "zarn", "ophi", "ruft", "smeg", "pylo", "ibex",
)  # fmt: skip
"""Each memory's name, for good. Under five letters: no other spelling is taken for it."""
WORDS = ("amberlock", "bristlecone", "cindervale", "driftmoor", "embergate", "fallowmere", "gloamhurst")
TAGS = ("harbour", "quarry")
KINDS = ("NEAR", "CAUSES")
DAYS = 150
"""Effective times lie on these days, some of them past and some to come."""
TICKS = (
    -86_400_000_000, -1, 0, 1, 1, 1_000_000, 1_000_000, 43_200_000_000, 43_200_000_000,
    86_400_000_000, 86_400_000_000, 5 * 86_400_000_000,
)  # fmt: skip
"""How far the clock goes before a command: mostly on."""

SPOKEN_OF = (*[*range(12)] * 3, *range(12, len(NAMES)))
"""Mostly the memories that are there from the start."""

Verb = Literal[
    "remember", "supersede", "correct", "resolve", "retract", "undo",
    "relate", "supersede_link", "correct_link", "resolve_link", "unrelate", "undo_link",
]  # fmt: skip
VERBS: tuple[Verb, ...] = (
    "remember", "remember", "remember", "supersede", "supersede", "supersede", "supersede", "correct", "correct",
    "resolve", "retract", "undo", "undo", "relate", "relate", "relate", "relate", "supersede_link",
    "supersede_link", "supersede_link", "correct_link", "resolve_link", "unrelate", "undo_link", "undo_link",
)  # fmt: skip


Ask = Literal[
    "reading", "history", "listing", "vector", "traversal", "retrieval",
    "receipt", "export", "identity", "learnt", "wake", "resonate", "associate",
]  # fmt: skip
ASKED: tuple[Ask, ...] = (
    "reading", "reading", "history", "history", "listing", "listing", "vector", "vector", "vector", "traversal",
    "traversal", "retrieval", "retrieval", "retrieval", "receipt", "export", "identity", "identity", "learnt",
    "wake", "resonate", "associate",
)  # fmt: skip
Mode = Literal["current", "point_in_time", "evolution", "full_history"]
MODES: tuple[Mode, ...] = (
    "current", "current", "point_in_time", "point_in_time", "point_in_time", "evolution", "full_history",
)  # fmt: skip

OF_ONE: tuple[Verb, ...] = (
    "remember", "supersede", "supersede", "correct", "resolve", "retract", "undo", "undo", "relate", "undo_link",
)  # fmt: skip
"""In a list about one memory."""

Naming = Literal["nothing", "effective", "from", "from_to", "effective_to", "to", "both", "period"]
NAMINGS: tuple[Naming, ...] = (
    "nothing", "nothing", "nothing", "effective", "effective", "effective", "from", "from_to", "from_to",
    "from_to",     "effective_to", "to", "both", "period", "period",
)  # fmt: skip
"""By which of its fields a change says on which stretch of valid time it acts."""


@dataclass(frozen=True)
class Edge:
    """A boundary of what is known of the memory spoken of, or an instant beside it."""

    place: int
    beside: int


@dataclass(frozen=True)
class Step:
    """A command in outline. `who` and `other` are places in `NAMES`. An edge, where given, stands for its day."""

    verb: Verb
    who: int
    other: int
    kind: int
    start: int | None
    end: int | None
    naming: Naming
    edges: tuple[Edge | None, Edge | None]
    words: tuple[int, ...]
    strength: int
    version: Literal["any", "seen", "stale"]
    named: bool
    tick: int


@dataclass(frozen=True)
class Again:
    """An earlier command once more: as it was, or under its id with another content."""

    place: int
    altered: bool
    tick: int


@dataclass(frozen=True)
class Together:
    """Commands that are carried out as a whole or not at all. `able`: those that would be refused are left out."""

    steps: tuple[Step | Again, ...]
    tick: int
    able: bool


@dataclass(frozen=True)
class InOrder:
    """Commands that are sent at once, each of which stands for itself."""

    steps: tuple[Step | Again, ...]
    tick: int


@dataclass(frozen=True)
class Forget:
    """The erasure of a memory."""

    who: int
    tick: int


type Act = Step | Again | Together | InOrder | Forget


@dataclass(frozen=True)
class Instant:
    """One of the instants at which something begins or ends, or a microsecond beside it."""

    place: int
    beside: int


def a_step(chance: Random) -> Step | Again:
    """A command in outline; one in six is an earlier one sent again."""
    tick = chance.choice(TICKS)
    if chance.choice(range(6)) == 0:
        return Again(chance.choice(range(100)), chance.choice((False, True)), tick)
    return Step(
        verb=chance.choice(VERBS),
        who=chance.choice(SPOKEN_OF),
        other=chance.choice(SPOKEN_OF),
        kind=chance.choice(range(len(KINDS) + 1)),
        start=chance.choice((None, *range(DAYS))) if chance.choice((True, False)) else None,
        end=chance.choice(range(DAYS)) if chance.choice(range(3)) == 0 else None,
        naming=chance.choice(NAMINGS),
        edges=(an_edge(chance), an_edge(chance)),
        words=a_few_words(chance),
        strength=chance.choice(range(11)),
        version=chance.choice(("any", "any", "any", "any", "any", "seen", "seen", "stale")),
        named=chance.choice((True, False)),
        tick=tick,
    )


def an_act(chance: Random) -> Act:
    """A command, now and then some at once or as one, and now and then an erasure."""
    kind = chance.choice(range(60))
    if kind == 0:
        return Forget(chance.choice(SPOKEN_OF), chance.choice(TICKS))
    if kind > 12:
        return a_step(chance)
    if kind > 7:
        return InOrder(a_list(chance), chance.choice(TICKS))
    return Together(a_list(chance), chance.choice(TICKS), chance.choice((True, True, False)))


def a_list(chance: Random) -> tuple[Step | Again, ...]:
    """Some commands, half of the lists about one memory."""
    steps = [a_step(chance) for _ in range(chance.choice((2, 3, 5)))]
    who = chance.choice((None, chance.choice(SPOKEN_OF)))
    if who is None:
        return tuple(steps)
    return tuple(
        step if isinstance(step, Again) else replace(step, who=who, other=who, verb=chance.choice(OF_ONE))
        for step in steps
    )


def an_edge(chance: Random) -> Edge | None:
    """Half of the times lie where something begins or ends."""
    return chance.choice((None, Edge(chance.choice(range(100)), chance.choice((0, 0, 0, -1, 1)))))


@dataclass(frozen=True)
class Question:
    """A question in outline."""

    ask: Ask
    mode: Mode
    valid: Instant
    known: Instant | None
    known_alone: bool
    who: int
    other: int | None
    words: tuple[int, ...]
    limit: int
    min_energy: float
    widely: bool
    acts: tuple[Act, ...] = field(repr=False)


def a_question(chance: Random) -> Question:
    """A question in outline."""
    return Question(
        ask=chance.choice(ASKED),
        mode=chance.choice(MODES),
        valid=an_instant(chance),
        known=chance.choice((None, an_instant(chance))),
        known_alone=chance.choice(range(4)) == 0,
        who=chance.choice(SPOKEN_OF),
        other=chance.choice((None, chance.choice(SPOKEN_OF))),
        words=a_few_words(chance),
        limit=chance.choice(range(1, 7)),
        min_energy=chance.choice((0.0, 0.0, 0.0, 0.45)),
        widely=chance.choice((False, True)),
        acts=tuple(an_act(chance) for _ in range(chance.choice((0, 0, 1, 3)))),
    )


def an_instant(chance: Random) -> Instant:
    return Instant(chance.choice(range(1000)), chance.choice((-1, 0, 0, 1)))


def a_few_words(chance: Random) -> tuple[int, ...]:
    return tuple(chance.choice(range(len(WORDS))) for _ in range(chance.choice((1, 2, 3))))
