"""What a feature adds to the core. The core knows these values alone, and no feature by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from schemas.operation import Operation
from substrate.store.kept import CORE, Kept

if TYPE_CHECKING:
    from orchestration.dependencies import Deps
    from orchestration.upkeep.job import Job

type SectionName = Literal[
    "contested", "learned", "offers", "pressure", "rules", "by_shape", "calibration", "outcome", "learning"
]
"""What an answer may have of a feature.

- `contested`: who contests the shared memories that are shown. `offers`: the open ones, for a waking.
- `learned`: what the feedback of the citizen teaches the ranking. `pressure`: that of reality, for a waking.
- `rules`: those in force, for an answer that tells them. `by_shape`: the answer to a resonance by shape.
- `calibration`: how right the predictions of a citizen were. `outcome`: what came of one, see the feature.
- `learning`: the beliefs of a citizen that changed, for the demo.
"""
type Section = Callable[..., Awaitable[Any]]


class Keeper(Protocol):
    """Keeps files beside the store in step with it, below `directory`."""

    directory: Path

    def keep(self, deps: Deps) -> AbstractAsyncContextManager[None]:
        """Within the context, do so."""
        ...

    async def write_changed(self) -> None:
        """Write the files of the graphs that were written to. A failure is logged; the next write tries anew."""
        ...

    async def note_all(self) -> None:
        """Look at all files: somebody may have written or erased while no service ran."""
        ...

    async def erased(self, deps: Deps, graph: str | None, directory: Path) -> None:
        """Take out of the files what a graph no longer holds; with None, the files of lost graphs.

        Raises InvalidRequest when a file cannot be written, Unavailable when the store does not answer.
        """
        ...


class Feature(NamedTuple):
    """`operations`: what is asked of it. `kept`: what it stores beside records. `jobs`: what upkeep may do.

    `sections`: see `SectionName`. `needs`: features without which it cannot be. `keeper` makes what keeps files in
    a directory in step with the store.
    """

    name: str
    operations: Sequence[Operation] = ()
    kept: Sequence[Kept] = ()
    jobs: Sequence[Job] = ()
    sections: Mapping[SectionName, Section] = {}
    keeper: Callable[[Path], Keeper] | None = None
    needs: Sequence[str] = ()


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

    def make_keeper(self, directory: Path) -> Keeper | None:
        """What keeps files in the directory in step; None where no feature does."""
        return next((feature.keeper(directory) for feature in self.all if feature.keeper is not None), None)

    async def read(self, name: SectionName, *asked: Any, **named: Any) -> Any:
        """What the section of this name says; None where no feature has it."""
        section = self._sections.get(name)
        return None if section is None else await section(*asked, **named)
