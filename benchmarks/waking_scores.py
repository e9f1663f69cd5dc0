"""Scores what came back of a life against what its reader expected: wakings, identity, and what was inferred."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from benchmarks.life import Life, Person, Waking
from benchmarks.scoring import recall_at
from orchestration.features.identity.values import Identity
from substrate.language.text import name_key

CUTOFF: Final = 10
ROLES: Final = frozenset(("user", "assistant", "system", "tool", "human", "ai"))
"""Speakers of a chat that are no people."""


@dataclass(frozen=True)
class Found:
    """How many were shown, how many were to be found, and how many are both."""

    right: int = 0
    shown: int = 0
    expected: int = 0

    def __add__(self, other: Found) -> Found:
        return Found(self.right + other.right, self.shown + other.shown, self.expected + other.expected)

    def as_dict(self) -> dict[str, Any]:
        """Return counts, precision and recall; without anything shown or expected the rate is None."""
        return {
            "right": self.right,
            "shown": self.shown,
            "expected": self.expected,
            "precision": self.right / self.shown if self.shown else None,
            "recall": self.right / self.expected if self.expected else None,
        }


@dataclass(frozen=True)
class Rates:
    """Mean recall of the expected messages, and the share of probes that begin with one that must not."""

    probes: int
    expected: float
    not_first: float

    def as_dict(self) -> dict[str, Any]:
        """Return the figures, ready for JSON."""
        return {"probes": self.probes, f"expected@{CUTOFF}": self.expected, "not_first": self.not_first}


@dataclass(frozen=True)
class Known:
    """What a life's stored memories say: resolution states, goals, felt turns and rules by message, and pairs."""

    states: Mapping[str, str]
    goals: Collection[str]
    felt: Collection[str]
    rules: Collection[str]
    pairs: Collection[tuple[str, str]]


def compare(shown: Iterable[Any], expected: Iterable[Any]) -> Found:
    """Count what was shown and what was expected, each once."""
    one, other = set(shown), set(expected)
    return Found(len(one & other), len(one), len(other))


def compare_known(known: Known, life: Life) -> dict[str, Found]:
    """Compare what was inferred with the labels; a pair is an open message and the one that tells it solved."""
    solved = [(thread.open, thread.solved) for thread in life.threads if thread.solved]
    return {
        "resolution_state": compare(
            known.states.items(), [(key, str(value)) for key, value in life.states.items()]
        ),
        "goal": compare(known.goals, life.goals),
        "feelings": compare(known.felt, life.feelings),
        "RESOLVED_BY": compare(known.pairs, solved),
        "rules": compare(known.rules, life.instructions),
    }


def rate_wakings(wakings: Sequence[Waking], rankings: Sequence[Sequence[str]]) -> dict[str, Rates]:
    """Score the ranking of each waking, over all and by mode. Raises ValueError when there are none."""
    groups: defaultdict[str, list[tuple[Waking, Sequence[str]]]] = defaultdict(list)
    for waking, ranking in zip(wakings, rankings, strict=True):
        groups["all"].append((waking, ranking))
        groups[waking.mode.value].append((waking, ranking))
    if not groups:
        raise ValueError("there are no wakings to score")
    return {name: _rates(group) for name, group in groups.items()}


def _rates(group: Sequence[tuple[Waking, Sequence[str]]]) -> Rates:
    return Rates(
        len(group),
        fmean(recall_at(ranking, frozenset(waking.expected), CUTOFF) for waking, ranking in group),
        fmean(bool(ranking) and ranking[0] in waking.not_first for waking, ranking in group),
    )


def compare_identity(identity: Identity, person: Person) -> dict[str, Found]:
    """Compare an identity with the person: name and role that it tells, people, and roles shown as people."""
    shown = [each.name for each in identity.people]
    role = name_key(identity.role.value) if identity.role else ""
    return {
        "name": _found([person.name], [identity.name.value] if identity.name else []),
        "role": Found(int(any(name_key(word) in role for word in person.roles)), int(bool(role)), 1),
        "people": _found(person.people, shown),
        "roles as people": Found(0, sum(name_key(name) in ROLES for name in shown), 0),
    }


def is_same_name(name: str, other: str) -> bool:
    """Whether all words of one name stand in the other: "Gord" and "Gord Halloran" do."""
    one, two = set(name_key(name).split()), set(name_key(other).split())
    return bool(one and two) and (one <= two or two <= one)


def _found(expected: Sequence[str], shown: Sequence[str]) -> Found:
    right = sum(_is_shown(name, shown) for name in expected)
    return Found(right, len(shown), len(expected))


def _is_shown(name: str, shown: Sequence[str]) -> bool:
    return any(is_same_name(name, other) for other in shown)
