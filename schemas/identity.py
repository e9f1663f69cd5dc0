"""Who a citizen is: a query over what it lived (000)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from schemas.base import CitizenId, Frozen, Request
from schemas.citizen import CitizenState
from schemas.paging import Cursor
from schemas.temporal import Moment


class AsOf(Request):
    """As of when, and of how many: `as_of_time` asks on both axes, `known_at` moves what was known apart."""

    as_of_time: Moment | None = None
    known_at: Moment | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    cursor: Cursor = None


class WhoIs(AsOf):
    """Whose identity is asked for."""

    citizen_id: CitizenId


class AttachedRule(Frozen):
    """A rule, and in how many of the entity's memories it stands."""

    rule: str
    memories: int


class IdentityEntity(Frozen):
    """An entity by the memories that point to it. `emotions`: in how many of them each is felt, most first."""

    node_id: str
    name: str
    node_type: str
    appearances: int
    emotions: dict[str, int] = Field(default_factory=dict)
    rules: tuple[AttachedRule, ...] = ()


class Identity(Frozen):
    """The most connected entities, most first: the first is the self, its emotions the personality, its rules
    the values (000). Empty when nothing was lived yet at that moment. `state` is that of the same moment,
    `next` the cursor of the page behind.
    """

    citizen_id: str
    as_of_time: datetime
    known_at: datetime
    entities: tuple[IdentityEntity, ...] = ()
    state: CitizenState
    next: str | None = None
    notes: tuple[str, ...] = ()
