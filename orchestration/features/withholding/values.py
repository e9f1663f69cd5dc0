"""Quarantine: what came from a distrusted source is hidden as a whole, then released or retracted for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from schemas.base import Flag, Frozen, Identifier, Name, ShortText, Whole
from schemas.collectives import GraphRequest
from schemas.memory import Collective, Level, Source
from schemas.temporal import EndMoment, Moment

MOST_THINGS: Final = 100
"""This many things are listed in an answer; all are counted."""
SELECTS: Final = ("source", "episode_id", "key_id", "speaker", "tag", "since", "until")
"""The fields that say what came from there; all that are given must fit."""


class QuarantineChange(GraphRequest):
    """Release a quarantine, or make it final. `by`: the source that orders it, which must be trusted enough."""

    by: Source = Source.CITIZEN


def require_one_of(names: Sequence[str], schema: dict[str, Any]) -> None:
    """Says in a JSON schema that at least one of these fields is given, and not null."""
    given: Mapping[str, Any] = {"not": {"enum": [None, False]}}
    schema["anyOf"] = [{"required": [name], "properties": {name: given}} for name in names]


class QuarantineRequest(QuarantineChange):
    """Hide what was written by a source, in an episode, with a key, by a speaker, with a tag or in a time.

    `since` and `until`: when it was written (transaction time), from the first to before the second. All that are
    given must fit. `dry_run`: only list what would be hidden. `note`: a reason, for the list of quarantines.
    """

    model_config = ConfigDict(json_schema_extra=partial(require_one_of, SELECTS))

    source: Source | None = None
    episode_id: Identifier | None = None
    key_id: ShortText | None = None
    speaker: ShortText | None = None
    tag: ShortText | None = None
    since: Moment | None = None
    until: EndMoment | None = None
    note: Annotated[str, Field(max_length=1000)] = ""
    dry_run: Flag = False

    @model_validator(mode="after")
    def _selects_something(self) -> Self:
        if all(getattr(self, name) is None for name in SELECTS):
            raise ValueError(f"name what to quarantine: at least one of {', '.join(SELECTS)}")
        if self.since is not None and self.until is not None and self.until <= self.since:
            raise ValueError("until must lie after since")
        return self


ThingKind = Literal["memory", "link"]
Fate = Literal["hidden", "taken_back", "kept", "refused"]
Why = Literal["came_from_there", "name", "name_change", "generalisation", "resolution", "link_of_hidden"]


class QuarantinedThing(Frozen):
    """A memory or a link that a quarantine reached.

    `hidden`: no record of it holds. `taken_back`: it says again what it said before. `kept`: the citizen changed
    it since, so it stays. `refused`: the rule of trust does not allow the change, or another change came first.
    """

    kind: ThingKind
    id: str
    name: str = ""
    fate: Fate
    why: Why = "came_from_there"


class Quarantine(Frozen):
    """A quarantine of one graph.

    `known_before`: with this as `known_at`, a question sees the present before it. `memories` and `links`: how
    many are hidden; `taken_back`: how many say again what they said before; `feedback`: how many lessons of the
    citizen are put aside; `kept`, `refused`: how many stay as they are. `state`: the fields of the citizen's state
    that say again what they said before. `id` is None for a dry run, and where nothing was hidden. `things`: the
    first ones.
    """

    id: str | None = None
    level: Level
    collective: Collective = None
    citizen_id: str | None = None
    status: Literal["dry_run", "nothing", "hiding", "hidden", "releasing", "released", "retracted"]
    request: QuarantineRequest
    begun_at: datetime
    known_before: datetime
    ended_at: datetime | None = None
    memories: int = 0
    links: int = 0
    taken_back: int = 0
    feedback: int = 0
    state: tuple[str, ...] = ()
    kept: int = 0
    refused: int = 0
    not_released: int = Field(default=0, description="How many were changed since and stayed as they are.")
    things: tuple[QuarantinedThing, ...] = ()


class QuarantinesAnswer(Frozen):
    """The quarantines of one graph, the newest first, without their things."""

    quarantines: tuple[Quarantine, ...] = ()


ASKS_FROM: Final = 0.5
"""A policy that reaches more than this share of a graph asks for confirmation."""
MOST_SHOWN: Final = 20
"""This many memories that a policy reaches are shown; all are counted."""
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
