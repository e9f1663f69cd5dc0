"""What a feature adds to the core. The core knows these values alone, and no feature by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

from schemas.upkeep.applied_changes import EVENTS
from schemas.upkeep.runs import JobName

if TYPE_CHECKING:
    from orchestration.dependencies import Deps
    from orchestration.upkeep.job import Job
    from schemas.operation import Operation
    from substrate.store.kept import Kept

type SectionName = Literal[
    "contested",
    "learned",
    "offers",
    "pressure",
    "rules",
    "by_shape",
    "calibration",
    "outcome",
    "learning",
    "pages",
]
"""What an answer may have of a feature.

- `contested`: who contests the shared memories that are shown. `offers`: the open ones, for a waking.
- `learned`: what the feedback of the citizen teaches the ranking. `pressure`: that of reality, for a waking.
- `rules`: those in force, for an answer that tells them. `by_shape`: the answer to a resonance by shape.
- `calibration`: how right the predictions of a citizen were. `outcome`: what came of one, see the feature.
- `learning`: the beliefs of a citizen that changed, for the demo. `pages`: a graph as files, for who reads files.
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

    `tells`: what it adds to the feed that is no command, each kind with what it says; the statement that does it
    tells it (`fragments.TELL_FEED`). `sections`: see `SectionName`. `needs`: features without which it cannot be.
    `work` is done beside requests, each second. `keeper` makes what keeps files in step with the store.
    """

    name: str
    operations: Sequence[Operation] = ()
    kept: Sequence[Kept] = ()
    jobs: Sequence[Job] = ()
    tells: Mapping[str, str] = {}
    sections: Mapping[SectionName, Section] = {}
    work: Callable[[Deps], Awaitable[None]] | None = None
    keeper: Callable[[Path], Keeper] | None = None
    needs: Sequence[str] = ()


class Features:
    """All features of a service: what each adds, by their names. One is loaded when something of it is needed.

    `adds`: the names of its jobs and sections, and `kept`, `tells`, `work` and `keeper` where it has these.
    """

    def __init__(self, adds: Mapping[str, Sequence[str]] | None = None) -> None:
        self.adds = adds or {}

    def _adding(self, *any_of: str) -> Iterator[Feature]:
        return (load_feature(name) for name, added in self.adds.items() if not set(any_of).isdisjoint(added))

    @cached_property
    def all(self) -> tuple[Feature, ...]:
        """Every feature, in the order of the list."""
        return tuple(map(load_feature, self.adds))

    @cached_property
    def kept(self) -> tuple[Kept, ...]:
        """All that is kept in a graph, one entry a label: that of the core first."""
        from substrate.store.kept import CORE  # noqa: PLC0415  (a question keeps nothing)

        return (*CORE, *(kept for feature in self._adding("kept") for kept in feature.kept))

    @cached_property
    def tells(self) -> Mapping[str, str]:
        """Every kind of event of the feed with what it says: those of the core first."""
        return dict(chain(EVENTS.items(), *(feature.tells.items() for feature in self._adding("tells"))))

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """What the features may do in upkeep."""
        return tuple(job for feature in self._adding(*self.job_names) for job in feature.jobs)

    @property
    def job_names(self) -> tuple[str, ...]:
        """The names of the jobs, in their order."""
        return tuple(filter(get_args(JobName).__contains__, chain(*self.adds.values())))

    async def work(self, deps: Deps) -> None:
        """Do once what is done each second. Raises as reads and writes do."""
        for feature in self._adding("work"):
            if feature.work is not None:
                await feature.work(deps)

    def make_keeper(self, directory: Path) -> Keeper | None:
        """What keeps files in the directory in step; None where no feature does."""
        return next((feature.keeper(directory) for feature in self._adding("keeper") if feature.keeper), None)

    async def read(self, name: SectionName, *asked: Any, **named: Any) -> Any:
        """What the section of this name says; None where no feature has it."""
        feature = next(self._adding(name), None)
        return None if feature is None else await feature.sections[name](*asked, **named)


def load_feature(name: str) -> Feature:
    """The feature of this name."""
    feature: Feature = import_module(f"orchestration.features.{name}.feature").FEATURE
    return feature
