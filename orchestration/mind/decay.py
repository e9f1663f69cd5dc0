"""Energy fades with age, the slower the more open the work is (003, "resolved memories decay faster"). Pure.

It is computed when an answer is made: the stored energy stays what was written, and an answer about the past shows
what the energy had become by then.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, HalfLives
from schemas.temporal import Instant, to_instant

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
