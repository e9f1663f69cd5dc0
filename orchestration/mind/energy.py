"""Energy: what a stream does to that of a citizen, how it returns (003, 5c), how that of a memory fades. Pure.

The energy of a memory or link fades with its age, the slower the more open the work is (003, "resolved memories
decay faster"). That is computed when an answer is made: the stored energy stays what was written, and an answer
about the past shows what the energy had become by then.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from schemas.memory import (
    ConsciousnessNode,
    ConsciousnessRelationship,
    GraphKey,
    HalfLives,
    ResolutionState,
    Source,
)
from schemas.stream import EnergyShare
from schemas.temporal import Instant, to_instant

MULTIPLIERS: Final = {
    ResolutionState.RESOLVED: 0.3,
    ResolutionState.IN_PROGRESS: 1.0,
    ResolutionState.BLOCKED: 1.5,
}
"""Factor on a transfer: resolved work counts little, blocked work much (003, component 5c)."""
MOST_MULTIPLIED: Final = max(MULTIPLIERS.values())
MAX_EMOTION: Final = 2.0
"""Greatest factor of emotions on a transfer (003, component 5c)."""
MAX_TRANSFER: Final = 150.0
"""The sum of transfers is divided by this: 50 links × energy 1.0 × 1.5 blocked × 2.0 emotion (003)."""
WEIGHT: Final = 0.3
NEUTRAL: Final = 0.5
"""The relative potential at which feedback leaves the energy as it is."""
REACH: Final = 0.8
"""Feedback carries the energy over at most this share of the way from the ordinary energy to 0 or to 1."""
GREATEST_SHARE: Final = 0.5
"""One stream carries the energy over at most this share of what is left of that way."""
DRIFT_HALF_LIFE: Final[Instant] = 12 * 3_600_000_000
"""After this many microseconds (12 hours) half of what feedback did to the energy is left."""
ORDINARY: Final = 0.5
"""The ordinary energy of a citizen that never declared one and whose memories tell none."""
_MADE_BY: Final = frozenset((Source.INGESTION, Source.UPKEEP))
_MADE_OF: Final = frozenset(("ingestion", "extraction", "named in the text", "told in the text"))
"""What forms the links that the service makes."""
_ORDER: Final = frozenset(("NEXT", "STARTS_WITH"))
"""The links of the order of a chat."""


type Identity = tuple[GraphKey, str]
"""A memory by its level and id."""


class Energy(NamedTuple):
    """The energy of a citizen at a moment, and the ordinary one to which it returns, both in [0, 1]."""

    now: float
    ordinary: float


def relationship_transfer(link: ConsciousnessRelationship) -> float:
    """The energy that one link transfers, in [0, 3] (003, component 5c).

    energy × transfer coefficient × multiplier of the resolution state × emotion multiplier. The emotion multiplier
    is the sum of the intensities, at most 2.0; 1.0 for a link without emotions.
    """
    emotions = link.emotion_vector
    amplified = min(sum(emotions.values()), MAX_EMOTION) if emotions else 1.0
    base = link.energy * link.energy_transfer_coefficient
    return base * MULTIPLIERS[link.resolution_state] * amplified


def energy_feedback_potential(links: Iterable[ConsciousnessRelationship]) -> float:
    """The sum of the transfers of the links / 150, in [0, 1]; 0 without links (003, component 5c)."""
    return min(math.fsum(map(relationship_transfer, links)) / MAX_TRANSFER, 1.0)


def tells_work(link: ConsciousnessRelationship) -> bool:
    """Whether the resolution state of a link says something: a writer gave it, or a memory at its end has it.

    The service calls its own links resolved where no end has a state: that is no finished work. And the order of a
    chat is no work at all: of two turns it has the less finished state, so a turn that tells of a solution would
    count as what it solves.
    """
    made = link.source in _MADE_BY or link.formation_trigger in _MADE_OF
    if made and link.relation_type in _ORDER:
        return False
    told = link.resolution_state is not ResolutionState.RESOLVED or "resolution_state" in link.unset
    return told or not made


def relative_potential(
    links: Iterable[ConsciousnessRelationship], places: Mapping[Identity, int] | None = None
) -> float:
    """The share of the greatest transfer that these very links could give, in [0, 1].

    Σ weight × transfer / Σ weight × greatest transfer, over the links that tell of work (`tells_work`). The
    greatest transfer of a link is the one it would give with its own energy, coefficient and emotions if its work
    were blocked. So it is 1 where all is blocked, 2/3 where all is in progress, 0.2 where all is resolved, and
    their weighted mean where they are mixed. 0.5, which changes nothing, without such links, or where none of them
    has energy to give.

    `places`: of the memories by activation, the most active at 0. A link weighs 1 / (1 + the place of its more
    active end): what is in focus is on the mind, what is in the background hardly. Without places all weigh 1.
    """
    given: list[float] = []
    greatest: list[float] = []
    for link in filter(tells_work, links):
        weight = 1.0
        if places is not None:
            source, target = (link.graph_key, link.source_id), (link.graph_key, link.target_id)
            weight = 1.0 / (1.0 + min(places.get(source, len(places)), places.get(target, len(places))))
        transfer = weight * relationship_transfer(link)
        given.append(transfer)
        greatest.append(transfer / MULTIPLIERS[link.resolution_state] * MOST_MULTIPLIED)
    whole = math.fsum(greatest)
    return min(1.0, math.fsum(given) / whole) if whole > 0.0 else NEUTRAL


def energy_shares(links: Iterable[ConsciousnessRelationship]) -> list[EnergyShare]:
    """The transfer of each link: the greatest first, equal ones by link id."""
    shares = [EnergyShare(link_id=link.link_id, transfer=relationship_transfer(link)) for link in links]
    return sorted(shares, key=lambda share: (-share.transfer, share.link_id))


def apply_energy_feedback(current: float, potential: float, weight: float = WEIGHT) -> float:
    """The energy after feedback, in [0, 1]: current + (potential − 0.5) × weight (003, component 5c).

    A potential above 0.5 raises the energy, one below 0.5 lowers it.
    """
    return max(0.0, min(1.0, current + (potential - NEUTRAL) * weight))


def bounds(ordinary: float) -> tuple[float, float]:
    """The least and the greatest energy to which feedback carries a citizen with this ordinary energy."""
    return ordinary * (1.0 - REACH), ordinary + REACH * (1.0 - ordinary)


def feed_back(energy: Energy, relative: float) -> float:
    """The energy after a stream with this relative potential, in [0, 1].

    It is that of `apply_energy_feedback`, but goes at most half the way to the bound (`bounds`) that lies in that
    direction: so however many streams follow each other at once, and whatever they show, the energy stays within
    the bounds. An energy that lies outside already is carried back only.
    """
    least, greatest = bounds(energy.ordinary)
    asked = apply_energy_feedback(energy.now, relative)
    if relative > NEUTRAL:
        return max(energy.now, min(asked, energy.now + GREATEST_SHARE * (greatest - energy.now)))
    return min(energy.now, max(asked, energy.now - GREATEST_SHARE * (energy.now - least)))


def drift(energy: float, ordinary: float, age: Instant) -> float:
    """The energy this many microseconds after feedback set it: what feedback did halves every 12 hours.

    An age below zero, of clocks that are apart, counts as zero.
    """
    return ordinary + (energy - ordinary) * math.exp2(-max(0, age) / DRIFT_HALF_LIFE)


def energy_at(
    stored: float | None, declared: float | None, fed_at: Instant | None, moment: Instant, *, derived: float | None
) -> Energy:
    """The energy at a moment from what is stored of it.

    `stored`: the energy of the record; None when none was set. `fed_at`: when feedback set it; None when the
    citizen declared it, and then it is its ordinary energy and does not drift. `declared`: what the citizen had
    declared before that feedback. `derived`: what its memories tell, which counts where nothing was declared.
    """
    told = ORDINARY if derived is None else derived
    if stored is None:
        return Energy(told, told)
    if fed_at is None:
        return Energy(stored, stored)
    ordinary = told if declared is None else declared
    return Energy(drift(stored, ordinary, moment - fed_at), ordinary)


DAY: Final = 86_400_000_000
"""Microseconds."""


class Decay(NamedTuple):
    """How energy fades until a moment. Without half-lives nothing is computed, and nothing is shown."""

    half_lives: HalfLives | None
    moment: Instant

    def column(
        self, energies: Iterable[float], states: Iterable[str | None], changed: Iterable[Instant]
    ) -> list[float | None]:
        """The effective energies of many records, to four digits. `changed`: when their valid times began."""
        if self.half_lives is None:
            return []
        half_lives, rows = self.half_lives, zip(energies, states, changed, strict=True)
        return [
            round(effective_energy(float(energy), state, self.moment - int(at), half_lives), 4)
            for energy, state, at in rows
        ]

    def show[T: (ConsciousnessNode, ConsciousnessRelationship)](self, records: Sequence[T]) -> tuple[T, ...]:
        """The records with their effective energies; as they are without half-lives."""
        energies = self.column(
            [record.energy for record in records],
            [record.resolution_state for record in records],
            [to_instant(record.valid_at) for record in records],
        )
        if not energies:
            return tuple(records)
        each = zip(records, energies, strict=True)
        return tuple(record.model_copy(update={"effective_energy": energy}) for record, energy in each)


FOR_DECAY: Final = ("energy", "resolution_state", "valid_at")
"""The columns that decay is computed from."""
NO_DECAY: Final = Decay(None, 0)


def effective_energy(energy: float, state: str | None, age: Instant, half_lives: HalfLives) -> float:
    """energy × 2^(−age / half-life of the resolution state), in [0, `energy`].

    `age`: microseconds since the record last changed, in valid time: since what it says became true. An age below
    zero, of a change to come or of clocks that are apart, counts as zero. `state` None: the record has none.
    """
    half_life: float = getattr(half_lives, state or "unset")
    return energy * math.exp2(-max(0, age) / (half_life * DAY))
