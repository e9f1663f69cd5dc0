"""The tools: the call of the client, and the answer as text and as values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from api.client import AsyncSubstrate
from api.client.conversations import MessageFields
from api.client.fields import MomentFields
from api.mcp import answers
from api.mcp.arguments import (
    Arguments,
    CorrectArguments,
    FeedbackArguments,
    HearArguments,
    HistoryArguments,
    IdentityArguments,
    RecallArguments,
    RelateArguments,
    RememberArguments,
    ResolveArguments,
    RetractArguments,
    SetStateArguments,
    UndoArguments,
    WakeArguments,
)
from orchestration.assembly.compact import REASONS, compact
from orchestration.assembly.displayed_text import attribution, fence, one_line
from orchestration.mind.declared_self import introduce
from orchestration.mind.dissonance import discovery_fields
from schemas.base import Frozen
from schemas.citizen import Identity
from schemas.commands import WriteReceipt
from schemas.errors import InvalidRequest
from schemas.memory import Source
from schemas.stream import ConsciousnessStream
from schemas.temporal import ALL_KNOWN
from substrate.text import count_of


class ToolAnswer(NamedTuple):
    """An answer: text for a model, values for a program."""

    text: str
    values: Frozen


class Tool(NamedTuple):
    """`read_only`: it changes nothing. `destructive`: it ends a belief. `extra`: offered only where chosen."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type[Frozen]
    call: Callable[[AsyncSubstrate, Any], Awaitable[ToolAnswer]]
    read_only: bool = True
    destructive: bool = False
    extra: bool = False


async def recall(client: AsyncSubstrate, given: RecallArguments) -> ToolAnswer:
    stream = await client.retrieve(
        citizen_id=given.citizen_id,
        query=given.query,
        max_tokens=given.max_tokens,
        filters=given.filters,
        time_zone=given.time_zone,
        prefer=given.prefer,
        **_times(given),
    )
    return _stream_answer(stream)


async def wake(client: AsyncSubstrate, given: WakeArguments) -> ToolAnswer:
    fields = given.model_dump(exclude_none=True)
    known: MomentFields = {} if given.as_of_time is None else {"known_at": ALL_KNOWN}
    return _stream_answer(await client.wake(**fields, **known))


async def remember(client: AsyncSubstrate, given: RememberArguments) -> ToolAnswer:
    return _receipt_answer("remembered", await client.remember(**_fields(given)))


async def correct(client: AsyncSubstrate, given: CorrectArguments) -> ToolAnswer:
    """Correct the memory, or supersede it if the world changed. Raises what the client raises."""
    fields = _fields(given, "changed", "reason", "energy")
    fields |= discovery_fields(given.reason, given.emotions, given.energy)
    if given.changed:
        return _receipt_answer("superseded", await client.supersede(**fields))
    return _receipt_answer("corrected", await client.correct(**fields))


async def history(client: AsyncSubstrate, given: HistoryArguments) -> ToolAnswer:
    answer = await client.history(given.id, citizen_id=given.citizen_id, level=given.level)
    records = tuple(map(answers.RecordValues.of, answer.records))
    lines = map(_record_line, records, map(attribution, answer.records))
    return ToolAnswer(
        fence("\n".join(lines)), answers.HistoryValues(id=answer.id, records=records, degraded=answer.degraded)
    )


async def identity(client: AsyncSubstrate, given: IdentityArguments) -> ToolAnswer:
    citizen = await client.identity(citizen_id=given.citizen_id, **_times(given))
    return ToolAnswer(fence(_identity_text(citizen)), answers.IdentityValues.of(citizen))


async def hear(client: AsyncSubstrate, given: HearArguments) -> ToolAnswer:
    """Append a message. Raises Refused when it is refused."""
    message: MessageFields = {}
    if given.time is not None:
        message["timestamp"] = given.time
    if given.message_id is not None:
        message["id"] = given.message_id
    report = await client.hear(
        given.conversation, given.speaker, given.text, citizen_id=given.citizen_id, **message
    )
    values = answers.HeardValues.of(report)
    return ToolAnswer(f"{values.status} {values.id or ''}".strip(), values)


async def resolve(client: AsyncSubstrate, given: ResolveArguments) -> ToolAnswer:
    return _consequences_answer(given.resolution_state.value, await client.resolve(**_fields(given)))


async def retract(client: AsyncSubstrate, given: RetractArguments) -> ToolAnswer:
    """The memory was true until a moment, or never."""
    fields = _fields(given, "until")
    if given.until is not None:
        fields |= {"effective_at": given.until, "reason": "reality_changed"}
    return _receipt_answer("retracted", await client.retract(**fields))


async def undo(client: AsyncSubstrate, given: UndoArguments) -> ToolAnswer:
    return _consequences_answer("undone: the last change of", await client.undo(**_fields(given)))


async def relate(client: AsyncSubstrate, given: RelateArguments) -> ToolAnswer:
    return _receipt_answer("related", await client.relate(**_fields(given)))


async def feedback(client: AsyncSubstrate, given: FeedbackArguments) -> ToolAnswer:
    told = await client.tell_feedback(
        given.citizen_id, query=given.query, used=given.used, wrong=given.wrong, **_times(given)
    )
    return ToolAnswer(f"kept as {told.feedback_id}", answers.FeedbackValues.of(told))


async def set_state(client: AsyncSubstrate, given: SetStateArguments) -> ToolAnswer:
    state = await client.set_state(given.citizen_id, **_fields(given, "citizen_id"))
    values = answers.StateValues.of(state)
    return ToolAnswer(fence(values.text()), values)


TOOLS: Final[Sequence[Tool]] = (
    Tool(
        "recall",
        "Recall",
        "Find the memories of a citizen that matter for a question, now or at a time; each with its id.",
        RecallArguments,
        answers.StreamValues,
        recall,
    ),
    Tool(
        "wake",
        "Wake",
        "Find the memories that fit a citizen's state, without a question; each with its id.",
        WakeArguments,
        answers.StreamValues,
        wake,
    ),
    Tool(
        "remember",
        "Remember",
        "Store a new memory of a citizen. Returns its id.",
        RememberArguments,
        answers.ReceiptValues,
        remember,
        read_only=False,
    ),
    Tool(
        "correct",
        "Correct a memory",
        "Correct a memory that was wrong, or with `changed` one that is outdated; its history keeps both.",
        CorrectArguments,
        answers.ReceiptValues,
        correct,
        read_only=False,
        destructive=True,
    ),
    Tool(
        "history",
        "History of a memory",
        "List all records of one memory: when each was true, when it was known, and why it ended.",
        HistoryArguments,
        answers.HistoryValues,
        history,
    ),
    Tool(
        "identity",
        "Who a citizen is",
        "Show who a citizen is, or was: the entities that most of its memories point to, and its state.",
        IdentityArguments,
        answers.IdentityValues,
        identity,
    ),
    Tool(
        "hear",
        "Hear a message",
        "Append a message to a conversation, as it was said; said again it is stored once.",
        HearArguments,
        answers.HeardValues,
        hear,
        read_only=False,
        extra=True,
    ),
    Tool(
        "resolve",
        "Resolve a memory",
        "Say that the work of a memory is done, going on or blocked, from now on.",
        ResolveArguments,
        answers.ReceiptAndConsequences,
        resolve,
        read_only=False,
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
        "feedback",
        "Say what helped",
        "Say which recalled memories answered a question, and which were wrong: later answers go by it.",
        FeedbackArguments,
        answers.FeedbackValues,
        feedback,
        read_only=False,
        extra=True,
    ),
    Tool(
        "relate",
        "Relate two memories",
        "Store a link between two memories, with what the citizen felt and wanted.",
        RelateArguments,
        answers.ReceiptValues,
        relate,
        read_only=False,
        extra=True,
    ),
    Tool(
        "retract",
        "Retract a memory",
        "Say that a memory was never true, or only until a moment; its history keeps it.",
        RetractArguments,
        answers.ReceiptValues,
        retract,
        read_only=False,
        destructive=True,
        extra=True,
    ),
    Tool(
        "undo",
        "Undo a change",
        "Revert the last change of a memory; its history keeps the mistake.",
        UndoArguments,
        answers.ReceiptAndConsequences,
        undo,
        read_only=False,
        destructive=True,
        extra=True,
    ),
)
ALL: Final = "all"


def choose_tools(names: Collection[str]) -> Sequence[Tool]:
    """The tools that a server offers: the usual ones, and those of these names; all with `all`.

    Raises InvalidRequest for a name that no tool has.
    """
    unknown = sorted(set(names) - {ALL, *(tool.name for tool in TOOLS)})
    if unknown:
        extras = ", ".join(tool.name for tool in TOOLS if tool.extra)
        raise InvalidRequest(f"there is no tool {', '.join(unknown)}", remedy=f"There are {extras}, or {ALL}.")
    return tuple(tool for tool in TOOLS if not tool.extra or tool.name in names or ALL in names)


def split_names(text: str) -> frozenset[str]:
    """The names in a text that separates them by commas."""
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _times(given: RecallArguments | IdentityArguments | FeedbackArguments) -> MomentFields:
    """The times of a question. `as_of_time` alone asks what was true then, as known now."""
    if given.as_of_time is None:
        return {} if given.known_at is None else {"known_at": given.known_at}
    return {"as_of_time": given.as_of_time, "known_at": given.known_at or ALL_KNOWN}


def _fields(given: Arguments, *left_out: str) -> dict[str, Any]:
    """The arguments that were given, as fields of a command. What is `quoted` has the source `tool`."""
    fields = given.model_dump(exclude_none=True, exclude_unset=True, exclude={*left_out, "quoted"})
    return {**fields, "source": Source.TOOL} if getattr(given, "quoted", False) else fields


def _stream_answer(stream: ConsciousnessStream) -> ToolAnswer:
    shown = {(memory.level, memory.node_id) for memory in stream.activation_tiers.ordered()}
    changes = [change for change in stream.temporal_dissonances if (change.level, change.node_id) in shown]
    return ToolAnswer(fence(compact(stream, changes, ids=True)), answers.StreamValues.of(stream))


def _receipt_answer(
    verb: str, receipt: WriteReceipt, kind: type[answers.ReceiptValues] = answers.ReceiptValues
) -> ToolAnswer:
    again = " (already stored)" if receipt.duplicate else ""
    return ToolAnswer(f"{verb} {receipt.id}{again}", kind.of(receipt))


def _consequences_answer(verb: str, receipt: WriteReceipt) -> ToolAnswer:
    """The receipt, and line by line what follows from it."""
    answer = _receipt_answer(verb, receipt, answers.ReceiptAndConsequences)
    lines = [
        f"- {each.outcome}: {each.id} {each.resolution_state or ''} {each.reason or ''}"
        for each in receipt.follows
    ]
    if receipt.further:
        lines.append(f"- and {receipt.further} more")
    follows = f"\n{fence(chr(10).join(map(one_line, lines)))}" if lines else ""
    return answer._replace(text=answer.text + follows)


def _record_line(record: answers.RecordValues, source: str) -> str:
    """One record with its two periods, why each ended, and its source."""
    held = _period_text("held", record.valid_at, record.invalid_at, record.invalidation_reason)
    known = _period_text("known", record.created_at, record.expired_at, record.closed_reason)
    return one_line(f"- {record.name}: {record.text} ({held}; {known}; {source})")


def _period_text(verb: str, start: datetime, end: datetime | None, reason: str | None) -> str:
    if end is None:
        return f"{verb} from {_iso_time(start)}"
    suffix = f", {REASONS[reason]}" if reason is not None else ""
    return f"{verb} from {_iso_time(start)} to {_iso_time(end)}{suffix}"


def _iso_time(time: datetime) -> str:
    """The time as in the values, so that a model can send it back."""
    return time.isoformat().replace("+00:00", "Z")


def _identity_text(identity: Identity) -> str:
    introduced = introduce(identity)
    lines = [] if introduced is None else [one_line(introduced)]
    lines += [
        one_line(f"- {entity.name} ({entity.node_type}): in {count_of(entity.appearances, 'memory')}")
        for entity in identity.entities
    ]
    return "\n".join(lines) or "No identity yet: nothing was remembered."
