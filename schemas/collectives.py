"""Collectives: further graphs of N2 beside the default one. Who names one, and what a list of them says."""

from __future__ import annotations

from typing import Annotated, Final, Protocol, Self

from pydantic import AfterValidator, Field, model_validator

from schemas.base import AtMost, CitizenId, Frozen, Request, each_once
from schemas.errors import InvalidRequest
from schemas.memory import GraphKey, InGraph, Level, collective_of, graph_key

MOST_ASKED: Final = 4
"""At most this many collectives beside the default one are asked by one question: each costs two more queries."""
DEFAULT_NAME: Final = "n2"
"""What the default collective is called in the store; no other may have this name."""


def _check_reserved(name: str) -> str:
    if name.lower() == DEFAULT_NAME:
        raise ValueError("n2 is the default collective: leave the collective out")
    return name


CollectiveId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"), AfterValidator(_check_reserved)]
"""The id of a collective beside the default one: as that of a citizen, but not `n2`."""


class _HasLevels(Protocol):
    @property
    def query_levels(self) -> tuple[Level, ...]: ...
    @property
    def collectives(self) -> tuple[str, ...] | None: ...


class AsksGraphs(Request):
    """`collectives`: further ones to ask, at most 4. Left out: those that the key names one by one."""

    collectives: Annotated[tuple[CollectiveId, ...], AtMost(MOST_ASKED), AfterValidator(each_once)] | None = None

    @property
    def graphs(self: _HasLevels) -> tuple[GraphKey, ...]:
        """The graphs to ask: those of the levels, further collectives right after the default one."""
        further = [graph_key(Level.N2, name) for name in self.collectives or ()]
        asked: list[GraphKey] = []
        for level in self.query_levels:
            asked += [level, *further] if level is Level.N2 else [level]
        return tuple(dict.fromkeys((*asked, *further)))


class OfCollective(Request):
    """A collective beside the default one, on level N2."""

    collective: CollectiveId | None = None


class GraphRequest(InGraph, Request):
    """A request about one graph: of a citizen, of a shared level, or of a `collective` beside the default one.

    With a collective and no level the level is N2.
    """

    level: Level = Level.N1
    citizen_id: CitizenId | None = None
    collective: CollectiveId | None = None

    @model_validator(mode="after")
    def _names_one_graph(self) -> Self:
        if self.collective is not None and "level" not in self.model_fields_set:
            self.__dict__["level"] = Level.N2
        check_collective(self.level, self.collective)
        if self.level is Level.N1 and self.citizen_id is None:
            raise ValueError("level N1 is personal: name its citizen_id")
        return self

    @property
    def owner(self) -> str:
        """Whose graph it is: of the citizen that is named, else of the collective or the level."""
        return self.citizen_id or self.collective or self.level


class AnyGraphRequest(Request):
    """A request about a graph, or without `level` and `collective` about all: of the citizen when one is named."""

    citizen_id: CitizenId | None = None
    level: Level | None = None
    collective: CollectiveId | None = None

    @model_validator(mode="after")
    def _names_one_graph(self) -> Self:
        if self.collective is not None and self.level is None:
            self.__dict__["level"] = Level.N2
        check_collective(self.level, self.collective)
        if self.level is Level.N1 and self.citizen_id is None:
            raise ValueError("level N1 is personal: name its citizen_id")
        return self


class GraphsRequest(Request):
    """A request about the graphs of several levels, of the citizen when one is named; or about a collective."""

    citizen_id: CitizenId | None = None
    levels: Annotated[tuple[Level, ...], Field(min_length=1), AtMost(16)] | None = None
    collective: CollectiveId | None = None

    @model_validator(mode="after")
    def _names_graphs(self) -> Self:
        if self.collective is not None and self.levels is None:
            self.__dict__["levels"] = (Level.N2,)
        if self.collective is not None and self.levels != (Level.N2,):
            raise ValueError("a collective is on level N2 alone: leave levels out")
        if self.levels and Level.N1 in self.levels and self.citizen_id is None:
            raise ValueError("level N1 is personal: name its citizen_id")
        return self


def owner_of(graph: GraphKey, citizen_id: str | None) -> str:
    """Whose graph it is, in words: a collective, a citizen, else the level."""
    collective = collective_of(graph)
    return f"collective {collective}" if collective is not None else citizen_id or graph


def check_collective(level: Level | None, collective: str | None) -> None:
    """Raises ValueError for a collective on another level than N2."""
    if collective is not None and level not in (None, Level.N2):
        raise ValueError(f"a collective is on level N2, not on {level}")


def named_graph(level: Level, collective: str | None) -> GraphKey:
    """The graph of this level. Raises InvalidRequest for a collective on another level than N2."""
    try:
        check_collective(level, collective)
    except ValueError as fault:
        raise InvalidRequest(f"collective: {fault}") from fault
    return graph_key(level, collective)


class CollectivePage(Frozen):
    """Ids of collectives in their order; `next` is the cursor of the next page."""

    collectives: tuple[str, ...]
    next: str | None = None
