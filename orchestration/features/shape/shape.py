"""The shape of what happened around a memory, its words and names left out, and how alike two are (004). Pure.

A shape is a bag of traits: what the memory is (its state, result and feelings), each step from it (the type and
direction of a link, with the state, result and feelings where it leads), each way of two steps, and what follows
what in time within two links. The labels of steps and ways are those of Weisfeiler and Lehman (JMLR 12, 2011) of
the first and second round; pairs of neighbours in time are bigrams. Traits are weighed by TF-IDF over the memories
compared, and two shapes are as alike as the cosine of their weights.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product
from typing import Final, NamedTuple

from orchestration.features.shape.queries import Mark, Step
from schemas.temporal import Instant
from substrate.emotions import NEGATIVE, POSITIVE

TOO_LITTLE: Final = (
    "too little shape to say: a shape is made of links and of the states, results and feelings that they lead to"
)
FEWEST_TELLING: Final = 3
"""A shape with fewer telling traits than this says too little to be compared."""
COMMON: Final = 0.5
"""A trait that more than this share of the memories compared have tells nothing."""
CROWDED: Final = 16
"""No second step leads over a memory with more links than this."""
OF_A_CHAT: Final = frozenset(("NEXT", "STARTS_WITH", "SAID_BY"))
"""Links that every message has. They lead to states and feelings, but are no trait of their own."""
SHOWN_TRAITS: Final = 6
"""At most this many traits that two shapes share are named."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The memories around those to compare, with their marks, and the steps from each."""

    marks: Mapping[str, Mark]
    steps: Mapping[str, Sequence[Step]]

    @classmethod
    def of(cls, marks: Mapping[str, Mark], steps: Iterable[Step]) -> Neighbourhood:
        """The neighbourhood of these memories; a step to another memory, or from one to itself, is left out."""
        kept: defaultdict[str, list[Step]] = defaultdict(list)
        for step in dict.fromkeys(steps):
            if step.memory_id in marks and step.other_id in marks and step.memory_id != step.other_id:
                kept[step.memory_id].append(step)
        return cls(marks, kept)

    def onward(self, memory_id: str) -> Sequence[Step]:
        """The second steps over a memory; none where it is crowded, as a speaker or a day is."""
        steps = self.steps.get(memory_id, ())
        return steps if len(steps) <= CROWDED else ()

    def near(self, memory_id: str) -> set[str]:
        """The memory, and those within two links of it."""
        ways = [step.other_id for step in self.steps.get(memory_id, ())]
        far = (step.other_id for way in ways for step in self.onward(way))
        return {memory_id, *ways, *far}


class Likeness(NamedTuple):
    """How alike the shape around a memory is, 0 to 1, and the traits shared, those that weigh most first."""

    memory_id: str
    likeness: float
    shared: tuple[str, ...]


def compare(probe_id: str, candidate_ids: Iterable[str], around: Neighbourhood) -> list[Likeness] | None:
    """The candidates by how alike their shape is to that of the probe, the most alike first.

    What lies within two links of the probe is left out: it is the same story. Those without any likeness are left
    out too. None when the shape of the probe says too little: it has no link, or too few telling traits.
    """
    if not around.steps.get(probe_id):
        return None
    near = around.near(probe_id)
    others = [memory_id for memory_id in dict.fromkeys(candidate_ids) if memory_id not in near]
    bags = {memory_id: traits(memory_id, around) for memory_id in (probe_id, *others)}
    held = Counter(chain.from_iterable(bags.values()))
    rarity = {trait: math.log((len(bags) + 1) / number) for trait, number in held.items()}
    if len(bags) > 1 and sum(rarity[trait] > -math.log(COMMON) for trait in bags[probe_id]) < FEWEST_TELLING:
        return None
    probe = _direction(bags[probe_id], rarity)
    alike: list[Likeness] = []
    for memory_id in others:
        other = _direction(bags[memory_id], rarity)
        parts = {trait: weight * other[trait] for trait, weight in probe.items() if trait in other}
        heaviest = sorted(parts, key=lambda trait: (-parts[trait], trait))[:SHOWN_TRAITS]
        if (likeness := min(1.0, sum(parts.values()))) > 0.0:
            alike.append(Likeness(memory_id, likeness, tuple(heaviest)))
    return sorted(alike, key=lambda one: (-one.likeness, one.memory_id))


def traits(memory_id: str, around: Neighbourhood) -> Counter[str]:
    """The traits of the shape around a memory, and how often each occurs."""
    return Counter([*_say_mark(around.marks[memory_id]), *_steps(memory_id, around), *_order(memory_id, around)])


def _say_mark(mark: Mark) -> list[str]:
    """What a memory is, in words; of its feelings also whether they are good or bad."""
    said = [mark.state] if mark.state else []
    said += [f"{mark.result.lower()} result"] if mark.result else []
    felt = {"good" if name in POSITIVE else "bad" for name in mark.emotions if name in POSITIVE | NEGATIVE}
    return [*said, *mark.emotions, *(f"{value} feeling" for value in sorted(felt))]


def _steps(memory_id: str, around: Neighbourhood) -> Iterator[str]:
    for first in around.steps.get(memory_id, ()):
        way, arrow = _in_words(first), _arrow(first)
        if first.relation_type not in OF_A_CHAT:
            yield way
        for trait in _say_mark(around.marks[first.other_id]):
            yield f"{way} {trait}"
            yield f"{arrow} {trait}"
        for second in around.onward(first.other_id):
            if second.other_id != memory_id:
                if not OF_A_CHAT.issuperset((first.relation_type, second.relation_type)):
                    yield f"{way} {_in_words(second)}"
                for trait in _say_mark(around.marks[second.other_id]):
                    yield f"{arrow} {_arrow(second)} {trait}"


def _arrow(step: Step) -> str:
    return "→" if step.leaves else "←"


def _in_words(step: Step) -> str:
    return f"{_arrow(step)} {step.relation_type}"


def _order(memory_id: str, around: Neighbourhood) -> Iterator[str]:
    """What follows what among the memories within two links, by the times at which they became true."""
    marks = around.marks
    moments: defaultdict[Instant, list[str]] = defaultdict(list)
    for near in around.near(memory_id):
        moments[marks[near].valid_at] += _say_mark(marks[near])
    lived = [sorted(set(moments[moment])) for moment in sorted(moments)]
    for before, after in pairwise(filter(None, lived)):
        yield from (f"{one} then {other}" for one, other in product(before, after))


def _direction(bag: Counter[str], rarity: Mapping[str, float]) -> dict[str, float]:
    """The unit vector of a bag: (1 + log of the count) × rarity of each trait."""
    weights = {trait: (1.0 + math.log(count)) * rarity[trait] for trait, count in bag.items()}
    length = math.hypot(*weights.values())
    return {trait: weight / length for trait, weight in weights.items()} if length else {}
