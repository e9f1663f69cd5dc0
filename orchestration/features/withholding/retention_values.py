"""Retention: policies that say how long memories are kept, and what they reach."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from orchestration.features.withholding.quarantine_values import require_one_of
from schemas.base import Flag, Frozen, Identifier, Name, ShortText, Whole
from schemas.collectives import GraphRequest
from schemas.memory import Source

ASKS_FROM: Final = 0.5
"""A policy that reaches more than this share of a graph asks for confirmation."""
MOST_SHOWN: Final = 20
"""So many memories that a policy reaches are shown; all are counted."""
KEEPS: Final = ("keep_days", "keep_newest", "keep_until_resolved")

Age = Literal["written", "happened"]


class PolicyRule(GraphRequest):
    """Which memories of a graph are kept, and what happens to the others.

    It is about the memories that fit all of `source`, `tag` and `node_type`; without any of them about all but
    names (people, places, things). Of these it keeps what is younger than `keep_days`, the `keep_newest` newest,
    and with `keep_until_resolved` what is not resolved; several of these keep what any of them keeps. `age`: since
    it was last `written`, or since it `happened` (its valid time began). What is not kept is retracted, or with
    `action` erase removed for good. `by`: the source that acts; what it may not change stays.
    """

    model_config = ConfigDict(json_schema_extra=partial(require_one_of, KEEPS))

    source: Source | None = None
    tag: ShortText | None = None
    node_type: Name | None = None
    keep_days: Annotated[float, Field(strict=True, gt=0, le=100_000, allow_inf_nan=False)] | None = None
    keep_newest: Annotated[Whole, Field(ge=1, le=10_000_000)] | None = None
    keep_until_resolved: Flag = False
    age: Age = "written"
    action: Literal["retract", "erase"] = "retract"
    by: Source = Source.CITIZEN

    @model_validator(mode="after")
    def _keeps_something(self) -> Self:
        if self.keep_days is None and self.keep_newest is None and not self.keep_until_resolved:
            raise ValueError(f"say what is kept: at least one of {', '.join(KEEPS)}")
        return self


class SetPolicy(PolicyRule):
    """A policy to store, in place of one with the same name.

    `confirm`: how many memories it reaches now, as a dry run counted them. It is required when that is more than
    half of the graph, and the job asks again when it would reach more than both. `dry_run`: only count.
    """

    confirm: Annotated[Whole, Field(ge=0)] | None = None
    dry_run: Flag = False

    def rule(self) -> PolicyRule:
        return PolicyRule(**self.model_dump(exclude={"confirm", "dry_run"}))


class Policy(Frozen):
    """A stored policy. `confirmed`: so many memories it may reach without being asked for confirmation again."""

    name: Identifier
    rule: PolicyRule
    confirmed: int = 0


class Reached(Frozen):
    """A memory that a policy does not keep."""

    id: str
    name: str


class PolicyReach(Frozen):
    """What a policy reaches now. `total`: all memories of the graph that hold.

    `asks`: it reaches more than may be reached without confirmation, so the job leaves it out.
    """

    policy: Policy
    stored: bool
    reached: int
    total: int
    asks: bool = False
    shown: tuple[Reached, ...] = ()


class PoliciesAnswer(Frozen):
    """The policies of one graph, by name."""

    policies: tuple[Policy, ...] = ()
