"""Rules with a verdict: what a citizen must or must not do, and whether an action breaks it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import AtMost, CitizenId, Frozen, Name, ShortText, Text
from schemas.collectives import AsksGraphs
from schemas.intention import ALL_LEVELS, Levels
from schemas.memory import Level, Severity, Source
from schemas.paging import Paged
from schemas.stream import TemporalDissonance
from schemas.temporal import AskedMoment, KnownMoment

Verdict = Literal["allow", "warn", "block", "unchecked"]
"""`unchecked`: a rule or the action could not be judged; it is no permission."""
Outcome = Literal["broken", "doubtful", "kept"]
"""What an action does to a rule. `doubtful`: it would break it if something held that the action does not tell."""
RuleKind = Literal["never", "always", "order", "only", "unread"]
"""How a rule is read. `order`: something must come before. `unread`: its words cannot be read."""


class RulesCheck(AsksGraphs):
    """An action that a citizen is about to do. `nodes`, `emotion` and `result` are of its situation: by them the
    rules are ordered.

    `as_of_time` asks for the rules of another moment; such a check is not recorded and overrides nothing.
    """

    citizen_id: CitizenId
    action: Annotated[Text, Field(description="What is about to be done, in words: Deploy on Friday.")]
    nodes: Annotated[tuple[Name, ...], AtMost(32)] = ()
    emotion: ShortText | None = None
    result: ShortText | None = None
    query_levels: Levels = ALL_LEVELS
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None


class RuleMemory(Frozen):
    """A memory that holds a rule. `severity` is as it was written: what counts is that of the rule."""

    memory_id: str
    level: Level
    collective: str | None = None
    name: str
    source: Source
    author: str | None = None
    severity: Severity | None = None
    result: str | None = None
    valid_at: datetime


class RuleCounts(Frozen):
    """How a rule fared. `held`, `failed`: memories with this rule whose result is positive, negative.

    `checked`: checks in which it spoke; of these it `blocked` so many, and `overridden` were only warned of.
    """

    held: int = 0
    failed: int = 0
    checked: int = 0
    blocked: int = 0
    overridden: int = 0


class SpeakingRule(Frozen):
    """A rule that an action breaks, may break or keeps.

    `severity`: what it may do at most; `lowered` says why that is less than was written. `likeness`: of the action
    and the matter of the rule, in [0, 1]; `words`: those of the rule that the action has. `resonance`, in [0, 1]:
    the mean of its likeness and of what was asked with (nodes, emotion, result). `contradicts`: other rules that
    bid the opposite.
    """

    rule: str
    outcome: Outcome
    severity: Severity
    lowered: str | None = None
    overridden: bool = False
    why: str
    words: tuple[str, ...] = ()
    likeness: float = 0.0
    resonance: float = 0.0
    memories: tuple[RuleMemory, ...] = ()
    record: RuleCounts = RuleCounts()
    contradicts: tuple[str, ...] = ()


class UnjudgedRule(Frozen):
    """A rule of which nobody can say whether the action breaks it, and why."""

    rule: str
    why: str
    memories: tuple[RuleMemory, ...] = ()


class RulesVerdict(Frozen):
    """Whether an action may be done by the rules of a citizen.

    `rules`: those that speak, the gravest first. `judged`: how many rules were compared. `overridden`: it would be
    blocked, but the same action was blocked twice within a day.
    """

    citizen_id: CitizenId
    action: str
    verdict: Verdict
    why: str
    overridden: bool = False
    rules: tuple[SpeakingRule, ...] = ()
    unjudged: tuple[UnjudgedRule, ...] = ()
    judged: int = 0
    notes: tuple[str, ...] = ()


class RulesPage(Paged, AsksGraphs):
    """A page of the rules that hold, or held at a moment."""

    query_levels: Levels = ALL_LEVELS
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None


class ListedRule(Frozen):
    """A rule with its record. `dissonance`: it failed at least three times, and more often than it held."""

    rule: str
    kind: RuleKind
    severity: Severity
    lowered: str | None = None
    memories: tuple[RuleMemory, ...] = ()
    record: RuleCounts = RuleCounts()
    contradicts: tuple[str, ...] = ()
    dissonance: TemporalDissonance | None = None


class RulesAnswer(Frozen):
    """A page of rules, the newest first; `next` is the cursor of the next page."""

    citizen_id: CitizenId
    rules: tuple[ListedRule, ...] = ()
    next: str | None = None
    notes: tuple[str, ...] = ()
