"""Revaluation: a citizen is asked again how much memories of low or no importance matter (004, option B)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from schemas.base import AtMost, Flag, Frozen, Identifier, Request, Unit, Whole
from schemas.commands import WriteReceipt
from schemas.temporal import AFTER_ALL

MOST_DRAWN: Final = 100
"""This many memories are drawn at most, and judged in one request."""
EITHER_OF_TWO: Final[list[JsonValue]] = [
    {"required": ["importance"], "properties": {"importance": {"type": "number"}, "leave": {"const": False}}},
    {"required": ["leave"], "properties": {"leave": {"const": True}, "importance": {"type": "null"}}},
]
"""The rule of a judgement as a JSON schema."""


class DrawRequest(Request):
    """Which memories to draw: `count` of them. The same `seed` draws the same, until one is judged or offered."""

    count: Annotated[int, Field(ge=1, le=MOST_DRAWN)] = 10
    seed: Annotated[int, Field(ge=0, le=AFTER_ALL)] = 0


class DrawnMemory(Frozen):
    """A memory to judge. A long `description` is cut to 2,000 characters.

    `asked_at`: when the citizen was last asked about it; null for never. `offered`: upkeep offered it, and it
    waits for a judgement. `proposed_importance`: what a language model proposes, `because` of these words.
    """

    id: str
    version: int
    node_type: str
    name: str
    description: str = ""
    speaker: str | None = None
    valid_at: datetime
    importance: float | None = None
    asked_at: datetime | None = None
    offered: bool = False
    proposed_importance: float | None = None
    because: str | None = None


class Draw(Frozen):
    """Memories of low or no importance: those that upkeep offered first, then the least recently asked about."""

    citizen_id: str
    seed: int
    memories: tuple[DrawnMemory, ...] = ()


class Judgement(Request):
    """What the citizen says of a memory: a new `importance`, or `leave`: it stays as it is.

    With `version` the judgement is refused when the memory has changed since it was drawn.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "tea-1", "leave": True}], "anyOf": EITHER_OF_TWO}
    )

    id: Identifier
    version: Annotated[Whole, Field(ge=1)] | None = None
    importance: Unit | None = None
    leave: Flag = False

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.leave == (self.importance is not None):
            raise ValueError("give either a new importance or leave: true")
        return self


class JudgementRequest(Request):
    """The judgements, each of which counts on its own."""

    judgements: Annotated[tuple[Judgement, ...], Field(min_length=1), AtMost(MOST_DRAWN)]


class JudgementOutcome(Frozen):
    """What became of a judgement. `left`: nothing was to change. `problem` and `detail`: why it was refused."""

    id: str
    status: Literal["revalued", "left", "refused"]
    problem: str | None = None
    detail: str = ""
    receipt: WriteReceipt | None = None


class JudgementsAnswer(Frozen):
    """The outcomes, in the order of the judgements, and how many of each kind."""

    citizen_id: str
    outcomes: tuple[JudgementOutcome, ...]
    revalued: int
    left: int
    refused: int
