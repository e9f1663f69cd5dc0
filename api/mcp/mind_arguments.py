"""The arguments of the tools on what a citizen lives and imagines, each described for a model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.mcp.arguments import Arguments, CitizenArgument
from schemas.base import AtMost, Flag, Identifier, LongText, Name, ShortText, Text, Unit
from schemas.collectives import CollectiveId
from schemas.mind.contexts import MOST_EDGES, MOST_NODES


class ContextArguments(Arguments):
    citizen_id: CitizenArgument
    description: Annotated[LongText, Field(min_length=1, description="What happened.")]
    action: Annotated[ShortText | None, Field(description="What you did, in short.")] = None
    nodes: Annotated[tuple[Name, ...], AtMost(MOST_NODES), Field(description="Names of what it is about.")] = ()
    edges: Annotated[
        tuple[ShortText, ...], AtMost(MOST_EDGES), Field(description="Each `source|TYPE|target`.")
    ] = ()
    emotion: Annotated[Text | None, Field(description="One feeling.")] = None
    result: Annotated[ShortText | None, Field(description="positive, negative, complex.")] = None
    rule: Annotated[ShortText | None, Field(description="What to do next time.")] = None
    certainty: Annotated[Unit | None, Field(description="How sure, 0 to 1.")] = None
    outcome_of: Annotated[Identifier | None, Field(description="The prediction it answers.")] = None


class ImagineArguments(Arguments):
    citizen_id: CitizenArgument
    action: Annotated[Name, Field(description="What you think of doing.")]
    nodes: Annotated[tuple[Name, ...], AtMost(64), Field(description="Names of whom or what it is about.")] = ()
    emotion: Annotated[Name | None, Field(description="What you feel now.")] = None
    keep: Annotated[Flag, Field(description="Keep the prediction, for outcome_of.")] = False


class CheckRulesArguments(Arguments):
    citizen_id: CitizenArgument
    action: Annotated[Text, Field(description="What you are about to do, in words.")]
    nodes: Annotated[tuple[Name, ...], AtMost(32), Field(description="Names that it is about.")] = ()


class ShareArguments(Arguments):
    citizen_id: CitizenArgument
    id: Annotated[Identifier, Field(description="Its memory id.")]
    level: Annotated[Literal["N2", "N3"], Field(description="Which level.")] = "N2"
    collective: Annotated[CollectiveId | None, Field(description="Which of N2.")] = None


class ContestArguments(Arguments):
    citizen_id: CitizenArgument
    id: Annotated[Identifier, Field(description="The shared memory.")]
    reason: Annotated[Name, Field(description="What is wrong.")]
    level: Annotated[Literal["N2", "N3"], Field(description="Where it is.")] = "N2"
    collective: Annotated[CollectiveId | None, Field(description="Which of N2.")] = None
