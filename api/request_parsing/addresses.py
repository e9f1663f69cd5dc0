"""The address of a memory or a link: level and id in the path, citizen and moment in the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Query, Response

from api.problems import invalid_request
from api.runtime.runtime import Runtime
from orchestration.identifiers import link_name
from schemas.base import CitizenId, Identifier, Request
from schemas.collectives import OfCollective, owner_of
from schemas.commands import LinkId
from schemas.errors import NotFound
from schemas.intention import AsOf
from schemas.memory import (
    UNREADABLE_REMEDY,
    ConsciousnessNode,
    ConsciousnessRelationship,
    GraphKey,
    Level,
    SharedLevel,
    graph_key,
)
from schemas.temporal import Instant
from substrate.graphs.names import graph_name
from substrate.store import reader

type Row = Sequence[Any]

MemoryId = Annotated[Identifier, Path(description="Percent-encode special characters; `/` may stay.")]


class CitizenRequest(OfCollective):
    """Whose memory: the citizen, required for N1; in N2 a collective beside the default one."""

    citizen_id: CitizenId | None = None


class MomentRequest(AsOf, CitizenRequest):
    """Whose memory, and when: now, or at `as_of_time` as known at `known_at` (default: `as_of_time`)."""

    @property
    def names_moment(self) -> bool:
        """True when either time is given."""
        return self.as_of_time is not None or self.known_at is not None


class MemoryAddress(NamedTuple):
    level: Level
    memory_id: str


class LinkAddress(NamedTuple):
    level: Level
    link_id: str


async def _memory_address(level: Level, memory_id: MemoryId) -> MemoryAddress:
    return MemoryAddress(level, memory_id)


async def _link_address(
    level: Level,
    link_id: Annotated[
        LinkId, Path(description="Its own id, or `source|TYPE|target`; percent-encode special characters.")
    ],
) -> LinkAddress:
    return LinkAddress(level, link_id)


async def _shared_address(level: SharedLevel, memory_id: MemoryId) -> MemoryAddress:
    return MemoryAddress(level, memory_id)


MemoryInPath = Annotated[MemoryAddress, Depends(_memory_address)]
SharedMemoryInPath = Annotated[MemoryAddress, Depends(_shared_address)]
LinkInPath = Annotated[LinkAddress, Depends(_link_address)]
MomentInQuery = Annotated[MomentRequest, Query()]


def add_notes(
    response: Response, request: Request, shown: ConsciousnessNode | ConsciousnessRelationship | None = None
) -> None:
    """Set `Substrate-Notes`: assumptions about the request, and fields of `shown` that were left out."""
    notes = request.notes
    if shown is not None and shown.unreadable:
        notes = (*notes, f"{', '.join(shown.unreadable)} cannot be shown and was left out; {UNREADABLE_REMEDY}")
    if notes:
        response.headers["Substrate-Notes"] = "; ".join(notes)


async def existing_graph(level: Level, request: CitizenRequest, runtime: Runtime) -> str:
    """The name of the graph. Raises InvalidRequest for N1 without a citizen, NotFound when there is no graph."""
    if level is Level.N1 and request.citizen_id is None:
        raise invalid_request(["citizen_id: level N1 is personal: name its citizen_id"])
    key = graph_key(level, request.collective)
    graph = graph_name(key, request.citizen_id)
    if not await runtime.deps.graphs.for_reading(graph):
        raise NotFound(f"nothing was remembered for {owner_of(key, request.citizen_id)} yet")
    return graph


async def read_memory_row(address: MemoryAddress, request: MomentRequest, runtime: Runtime, now: Instant) -> Row:
    """The record of the memory at the requested moment.

    Raises InvalidRequest for N1 without a citizen, NotFound when there is no record at that moment.
    """
    graph = runtime.deps.graph(await existing_graph(address.level, request, runtime))
    seen = await reader.read_memory(graph, address.memory_id, request.scope(now))
    if seen.row is None:
        raise not_found("memory", address, exists=seen.exists)
    return seen.row


async def read_link_row(address: LinkAddress, request: MomentRequest, runtime: Runtime, now: Instant) -> Row:
    """The record of the link at the requested moment. Raises what `read_memory_row` raises."""
    graph = runtime.deps.graph(await existing_graph(address.level, request, runtime))
    seen = await reader.read_link(graph, link_name(address.link_id), request.scope(now))
    if seen.row is None:
        raise not_found("link", address, exists=seen.exists)
    return seen.row


def key_of(address: MemoryAddress | LinkAddress, request: CitizenRequest) -> GraphKey:
    """The graph of the record."""
    return graph_key(address.level, request.collective)


BEFORE_ALL = "Nothing of it was known then: name a later known_at, or none."


def not_found(
    noun: str, address: MemoryAddress | LinkAddress, *, exists: bool, remedy: str | None = None
) -> NotFound:
    """The error for a record that does not exist at all, or not at the requested moment."""
    level, name = address
    if not exists:
        return NotFound(f"there is no {noun} {name} in {level}")
    return NotFound(
        f"{noun} {name} exists, but not at that moment",
        remedy=remedy or "Its /history shows when each of its records holds.",
    )
