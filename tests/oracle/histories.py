"""Random histories and random questions, as Hypothesis draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hypothesis import strategies as st

NAMES = ("brix", "clov", "dant", "fesk", "gorm", "hulp", "jand", "kelm", "mopt", "nirv", "quas", "tudo")
"""Each memory's name, for good. Under five letters: no other spelling is taken for it."""
WORDS = ("amberlock", "bristlecone", "cindervale", "driftmoor", "embergate", "fallowmere", "gloamhurst")
KINDS = ("NEAR", "CAUSES")
DAYS = 60
"""Effective times lie on these days, some of them past and some to come."""
TICKS = (1, 1, 1_000_000, 43_200_000_000, 86_400_000_000, 5 * 86_400_000_000)
"""How far the clock goes on before a command."""

Verb = Literal["remember", "relate", "supersede", "correct", "retract"]


@dataclass(frozen=True)
class Step:
    """A command in outline. `who` and `other` are places in `NAMES`; the last of them is never remembered."""

    verb: Verb
    who: int
    other: int
    kind: int
    start: int | None
    end: int | None
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
class Instant:
    """One of the instants at which something begins or ends, or a microsecond beside it."""

    place: int
    beside: int


@dataclass(frozen=True)
class Question:
    """A question in outline."""

    ask: Literal["reading", "history", "vector", "traversal", "retrieval"]
    mode: Literal["current", "point_in_time", "evolution", "full_history"]
    valid: Instant
    known: Instant | None
    who: int
    other: int | None
    words: tuple[int, ...]
    limit: int
    min_energy: float
    widely: bool


days = st.sampled_from(range(DAYS))
word_bags = st.lists(st.sampled_from(range(len(WORDS))), min_size=1, max_size=3).map(tuple)
ticks = st.sampled_from(TICKS)
memories = st.sampled_from([*range(8)] * 4 + [*range(8, len(NAMES))])


def verbs(*weighted: tuple[Verb, int]) -> st.SearchStrategy[Verb]:
    return st.sampled_from([verb for verb, weight in weighted for _ in range(weight)])


steps = st.builds(
    Step,
    verb=verbs(("remember", 3), ("relate", 4), ("supersede", 4), ("correct", 3), ("retract", 2)),
    who=memories,
    other=memories,
    kind=st.sampled_from(range(len(KINDS) + 1)),
    start=st.none() | days,
    end=st.none() | days,
    words=word_bags,
    strength=st.sampled_from(range(11)),
    version=st.sampled_from(["any", "any", "any", "seen", "stale"]),
    named=st.booleans(),
    tick=ticks,
)
repeats = st.builds(Again, place=st.sampled_from(range(100)), altered=st.booleans(), tick=ticks)
instants = st.builds(Instant, place=st.sampled_from(range(1000)), beside=st.sampled_from([-1, 0, 0, 1]))
questions = st.builds(
    Question,
    ask=st.sampled_from(["reading", "history", "vector", "vector", "traversal", "retrieval", "retrieval"]),
    mode=st.sampled_from(["current", "point_in_time", "point_in_time", "point_in_time", "evolution", "full_history"]),
    valid=instants,
    known=st.none() | instants,
    who=memories,
    other=st.none() | memories,
    words=word_bags,
    limit=st.integers(1, 6),
    min_energy=st.sampled_from([0.0, 0.0, 0.0, 0.45]),
    widely=st.booleans(),
)  # fmt: skip


def histories(commands: int, asked: int) -> st.SearchStrategy[tuple[list[Step | Again], list[Question]]]:
    """Lives of up to so many commands, each with so many questions."""
    step = st.one_of(steps, steps, steps, steps, repeats)
    return st.tuples(
        st.lists(step, min_size=commands // 2, max_size=commands),
        st.lists(questions, min_size=asked, max_size=asked),
    )
