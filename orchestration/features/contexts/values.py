"""A context: an episode of a cycle, written in one call with its nodes, edges, feeling, result and rule (002)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from schemas.base import (
    AtMost,
    CitizenId,
    Flag,
    Frozen,
    Identifier,
    LongText,
    Name,
    RelationType,
    Request,
    ShortText,
    Text,
    Unit,
    Whole,
)
from schemas.commands import Tags
from schemas.memory import Abstraction, Severity, Source
from schemas.paging import Paged
from schemas.temporal import Moment
from schemas.wave_signal import normalize_relation_type, parse_relation

MOST_NODES = 32
MOST_EDGES = 32
"""With all of them new, a context is one list of 97 commands; the atomic door takes 100."""
MOST_NOTES = 16


class GivenNode(Request):
    """Something that the episode is about: a `name`, found or made; or the `id` of a memory of the citizen."""

    name: ShortText | None = None
    id: Identifier | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.name is None) == (self.id is None):
            raise ValueError("a node has a name, or the id of a memory")
        return self


class GivenEdge(Request):
    """What one thing is to another, as the episode has it. Ends are names, or ids that `nodes` names.

    What is left out is filled from the context and named in the receipt.
    """

    source: ShortText
    relation_type: Annotated[RelationType, BeforeValidator(normalize_relation_type)]
    target: ShortText
    goal: Name | None = None
    mindstate: Name | None = None
    energy: Unit | None = None
    certainty: Unit | None = None


class AgentNote(Request):
    """What one agent of the cycle said and decided. `tokens`: how many its call took."""

    agent: Name
    said: Annotated[Text, Field(max_length=20_000)] = ""
    decision: ShortText | None = None
    tokens: Annotated[Whole, Field(ge=0)] | None = None


class WriteContext(Request):
    """An episode of the citizen with all that it left behind, written as a whole or not at all.

    `description` says what happened, `action` in a few words what the citizen did: it becomes the memory's name.
    `emotion` is the name of a feeling and `intensity` its strength. `result` is what came of it: positive,
    negative, complex, or a word of your own. `certainty`: how sure the citizen is that it was so.
    `outcome_of` is the id of a kept prediction: `result` and `emotion` are what came of it.
    The same words within an hour of another context are that context, unless `restate` is set.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "citizen_id": "kai",
                    "description": "Kai showed Egor the plan, and Egor criticized it.",
                    "action": "show the plan",
                    "nodes": ["Kai", "Egor"],
                    "edges": ["Egor|CRITICIZED|Kai"],
                    "emotion": "frustration",
                    "intensity": 0.6,
                    "result": "negative",
                    "rule": "Ask Egor what he needs before showing a plan.",
                    "certainty": 0.8,
                }
            ]
        }
    )

    citizen_id: CitizenId
    command_id: Identifier | None = None
    id: Identifier | None = None
    description: Annotated[LongText, Field(min_length=1)]
    action: ShortText | None = None
    nodes: Annotated[
        tuple[
            Annotated[GivenNode, BeforeValidator(lambda raw: {"name": raw} if isinstance(raw, str) else raw)], ...
        ],
        Field(fail_fast=True),
        AtMost(MOST_NODES),
    ] = ()
    edges: Annotated[
        tuple[Annotated[GivenEdge, BeforeValidator(parse_relation)], ...],
        Field(fail_fast=True),
        AtMost(MOST_EDGES),
    ] = ()
    emotion: Annotated[Text, Field(max_length=20_000)] | None = None
    intensity: Unit | None = None
    result: ShortText | None = None
    rule: ShortText | None = None
    severity: Severity | None = None
    goal: ShortText | None = None
    certainty: Unit | None = None
    importance: Unit | None = None
    abstraction: Abstraction = "L0"
    tags: Tags = ()
    outcome_of: Identifier | None = None
    agent_log: Annotated[tuple[AgentNote, ...], Field(fail_fast=True), AtMost(MOST_NOTES)] = ()
    valid_at: Moment | None = None
    source: Source = Source.CITIZEN
    restate: Flag = False


class WrittenNode(Frozen):
    """A node of a written context; `made`: nothing had this name before."""

    node_id: str
    name: str
    made: bool = False


class WrittenEdge(Frozen):
    """An edge of a written context. `filled`: its fields that nobody gave; `found`: read from the description."""

    link_id: str
    source: str
    relation_type: str
    target: str
    filled: tuple[str, ...] = ()
    found: bool = False


class ContextReceipt(Frozen):
    """What became of a context, with the id of its memory.

    `duplicate`: it was written before, and this is its first receipt. `filled`: fields that nobody gave and that
    have a default. `result` and `emotion` are those that the memory has, given or read from its words. `answered`
    is the prediction that it answered. `warnings`: what was mended, and how.
    """

    command_id: str
    status: Literal["stored"] = "stored"
    context_id: str
    citizen_id: CitizenId
    created_at: datetime
    valid_at: datetime
    duplicate: bool = False
    nodes: tuple[WrittenNode, ...] = ()
    edges: tuple[WrittenEdge, ...] = ()
    result: str | None = None
    emotion: str | None = None
    filled: tuple[str, ...] = ()
    answered: str | None = None
    warnings: tuple[str, ...] = ()


class AgentLogQuery(Paged):
    """Which agents' notes: of one context, or the latest of all."""

    context_id: Identifier | None = None


class LoggedNote(Frozen):
    """A note of an agent, and the context with which it was written."""

    context_id: str
    written_at: datetime
    agent: str
    said: str = ""
    decision: str | None = None
    tokens: int | None = None


class AgentLog(Frozen):
    """The notes of agents, the newest context first, within it in their order; `next` is the next page's cursor.

    `tokens` adds up those of this page.
    """

    citizen_id: CitizenId
    notes: tuple[LoggedNote, ...] = ()
    tokens: int = 0
    next: str | None = None
