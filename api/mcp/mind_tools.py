"""The tools of the mind: who a citizen is, where it stands, what it feels, and what helped it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import Field

from api.client import AsyncSubstrate
from api.mcp import answers, mind_answers
from api.mcp.arguments import (
    Arguments,
    CitizenArgument,
    FeedbackArguments,
    IdentityArguments,
    SetStateArguments,
    SituationArguments,
)
from api.mcp.tool import Tool, ToolAnswer, fields_of, times_of
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.contexts.values import MOST_EDGES, MOST_NODES
from orchestration.features.identity.declared_self import introduce
from schemas.base import AtMost, Flag, Identifier, LongText, Name, ShortText, Text, Unit
from schemas.collectives import CollectiveId
from substrate.language.text import count_of

RULES_SHOWN, FEELINGS_SHOWN = 5, 4


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


async def identity(client: AsyncSubstrate, given: IdentityArguments) -> ToolAnswer:
    citizen = await client.identity(citizen_id=given.citizen_id, **times_of(given))
    introduced = introduce(citizen)
    lines = [] if introduced is None else [one_line(introduced)]
    lines += [one_line(f"Rule: {value.rule}") for value in citizen.values[:RULES_SHOWN]]
    if citizen.temperament is not None:
        felt = [f"{name} {share:.2f}" for name, share in citizen.temperament.emotions.items()]
        lines.append(one_line(f"Feels: {', '.join(felt[:FEELINGS_SHOWN])}"))
    lines += [
        one_line(f"- {entity.name} ({entity.node_type}): in {count_of(entity.appearances, 'memory')}")
        for entity in citizen.entities
    ]
    return ToolAnswer(
        fence("\n".join(lines) or "No identity yet: nothing was remembered."), answers.IdentityValues.of(citizen)
    )


async def feedback(client: AsyncSubstrate, given: FeedbackArguments) -> ToolAnswer:
    told = await client.tell_feedback(given.citizen_id, **fields_of(given, "citizen_id"))
    return ToolAnswer(f"kept as {told.feedback_id}", answers.FeedbackValues.of(told))


async def check_rules(client: AsyncSubstrate, given: CheckRulesArguments) -> ToolAnswer:
    verdict = await client.check_rules(**fields_of(given))
    values = mind_answers.VerdictValues.of(verdict)
    return ToolAnswer(fence(values.text()), values)


async def set_state(client: AsyncSubstrate, given: SetStateArguments) -> ToolAnswer:
    fields = fields_of(given, "citizen_id")
    if given.window is not None:
        fields["window"] = [{"id": memory_id} for memory_id in given.window]
    state = await client.set_state(given.citizen_id, **fields)
    values = answers.StateValues.of(state)
    return ToolAnswer(fence(values.text()), values)


async def write_context(client: AsyncSubstrate, given: ContextArguments) -> ToolAnswer:
    receipt = await client.write_context(**fields_of(given))
    said = "written before as" if receipt.duplicate else "written as"
    text = "\n".join((f"{said} {receipt.context_id}", *map(one_line, receipt.warnings)))
    return ToolAnswer(fence(text), mind_answers.ContextValues.of(receipt))


async def imagine(client: AsyncSubstrate, given: ImagineArguments) -> ToolAnswer:
    told = await client.imagine(**fields_of(given))
    return ToolAnswer(fence(mind_answers.imagination_text(told)), mind_answers.ImagineValues.of(told))


async def situation(client: AsyncSubstrate, given: SituationArguments) -> ToolAnswer:
    found = await client.situation(given.citizen_id, **fields_of(given, "citizen_id"))
    return ToolAnswer(fence(found.text), answers.SituationValues.of(found))


async def share(client: AsyncSubstrate, given: ShareArguments) -> ToolAnswer:
    shared = await client.share(**fields_of(given))
    against = [one_line(f"contested by {each.by or 'somebody'}: {each.reason}") for each in shared.contested]
    text = "\n".join((f"{shared.status} as {shared.id}, {len(shared.links)} links", *against))
    return ToolAnswer(fence(text), mind_answers.SharedValues.of(shared))


async def contest(client: AsyncSubstrate, given: ContestArguments) -> ToolAnswer:
    receipt = await client.contest(**fields_of(given))
    return ToolAnswer(f"contested as {receipt.id}", mind_answers.ContestValues.of(receipt))


MIND_TOOLS: Final[Sequence[Tool]] = (
    Tool(
        "identity",
        "Who a citizen is",
        "Show who a citizen is, or was: the entities that most of its memories point to, and its state.",
        IdentityArguments,
        answers.IdentityValues,
        identity,
    ),
    Tool(
        "situation",
        "Begin a cycle",
        "Read where a citizen stands: state, what to answer to, working memory, rules, what changed.",
        SituationArguments,
        answers.SituationValues,
        situation,
        extra=True,
    ),
    Tool(
        "set_state",
        "Set a citizen's state",
        "Say what a citizen feels and wants from now on; `wake` goes by it.",
        SetStateArguments,
        answers.StateValues,
        set_state,
        read_only=False,
        extra=True,
    ),
    Tool(
        "check_rules",
        "Check an action",
        "Ask before you act: allow, warn, block, or unchecked (no permission), by the citizen's rules.",
        CheckRulesArguments,
        mind_answers.VerdictValues,
        check_rules,
        read_only=False,
        extra=True,
    ),
    Tool(
        "feedback",
        "Say what helped",
        "Say which memories answered a question, which were wrong, what did not change: later answers go by it.",
        FeedbackArguments,
        answers.FeedbackValues,
        feedback,
        read_only=False,
        extra=True,
    ),
    Tool(
        "write_context",
        "Write what happened",
        "Write an episode with names, edges, feeling and result; it is stored as a whole.",
        ContextArguments,
        mind_answers.ContextValues,
        write_context,
        read_only=False,
        extra=True,
    ),
    Tool(
        "imagine",
        "Imagine an outcome",
        "Say what came of an action before.",
        ImagineArguments,
        mind_answers.ImagineValues,
        imagine,
        read_only=False,
        extra=True,
    ),
    Tool(
        "share",
        "Share a memory",
        "Copy a memory to a shared level, where others see it; again, to update the copy.",
        ShareArguments,
        mind_answers.SharedValues,
        share,
        read_only=False,
        extra=True,
    ),
    Tool(
        "contest",
        "Contest a memory",
        "Say that another's shared memory is wrong.",
        ContestArguments,
        mind_answers.ContestValues,
        contest,
        read_only=False,
        extra=True,
    ),
)
