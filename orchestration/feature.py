"""What a feature adds to the core. The core knows these values alone, and no feature by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from substrate.store.kept import CORE, Kept

if TYPE_CHECKING:
    from orchestration.upkeep.job import Job

type SectionName = Literal[
    "contested", "learned", "offers", "pressure", "rules", "by_shape", "calibration", "outcome"
]
"""What an answer may have of a feature.

- `contested`: who contests the shared memories that are shown. `offers`: the open ones, for a waking.
- `learned`: what the feedback of the citizen teaches the ranking. `pressure`: that of reality, for a waking.
- `rules`: those in force, for an answer that tells them. `by_shape`: the answer to a resonance by shape.
- `calibration`: how right the predictions of a citizen were. `outcome`: what came of one, see the feature.
"""
type Section = Callable[..., Awaitable[Any]]


class Feature(NamedTuple):
    """`kept`: what it stores beside records. `jobs`: what it lets the upkeep do. `sections`: see `SectionName`."""

    name: str
    kept: Sequence[Kept] = ()
    jobs: Sequence[Job] = ()
    sections: Mapping[SectionName, Section] = {}


@dataclass(frozen=True)
class Features:
    """All features of a service, by what they add."""

    all: Sequence[Feature] = ()

    @cached_property
    def kept(self) -> tuple[Kept, ...]:
        """All that is kept in a graph, one entry a label: that of the core first."""
        return (*CORE, *(kept for feature in self.all for kept in feature.kept))

    @cached_property
    def _sections(self) -> dict[SectionName, Section]:
        return {name: section for feature in self.all for name, section in feature.sections.items()}

    async def read(self, name: SectionName, *asked: Any, **named: Any) -> Any:
        """What the section of this name says; None where no feature has it."""
        section = self._sections.get(name)
        return None if section is None else await section(*asked, **named)
