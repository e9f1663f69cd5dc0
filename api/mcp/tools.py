"""The tools: the call of the client, and the answer as text and as values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Final

from api.client import AsyncSubstrate
from api.client._calls import AsOfFields
from api.client.conversations import MessageFields
from api.mcp import answers
from api.mcp.arguments import (
    CorrectArguments,
    HearArguments,
    HistoryArguments,
    RecallArguments,
    RelateArguments,
    RememberArguments,
    ResolveArguments,
    RetractArguments,
    SetStateArguments,
    UndoArguments,
    WakeArguments,
)
from api.mcp.tool import Resource, Tool, ToolAnswer, fields_of, times_of
from orchestration.assembly.budget import Budget, stems_of
from orchestration.assembly.compact import REASONS, tell
from orchestration.assembly.displayed_text import attribution, fence, one_line
from orchestration.mind.dissonance import discovery_fields
from schemas.commands import WriteReceipt
from schemas.errors import InvalidRequest
from schemas.intention import Part
from schemas.responses import Intended
from schemas.stream import ConsciousnessStream
from schemas.temporal import ALL_KNOWN
from substrate.inference import tokens

STREAM_PARTS: Final[Sequence[Part]] = (
    "activation_tiers",
    "traversal_graph",
    "temporal_dissonances",
    "resolution_patterns",
    "offers",
    "rules",
)
"""What a model is told of a stream, within the tokens that it asks for."""


async def recall(client: AsyncSubstrate, given: RecallArguments) -> ToolAnswer:
    stream = await client.retrieve(
        citizen_id=given.citizen_id,
        query=given.query,
        parts=STREAM_PARTS,
        filters=given.filters,
        time_zone=given.time_zone,
        prefer=given.prefer,
        conversation=given.conversation,
        message_id=given.message_id,
        **times_of(given),
    )
    return _stream_answer(stream, given.max_tokens, given.query)


async def wake(client: AsyncSubstrate, given: WakeArguments) -> ToolAnswer:
    """Wake from a state; with `auto` as the appetite of the citizen decides."""
    if given.mode == "auto":
        if not DECIDES:
            raise InvalidRequest("mode: auto: this service has no appetite that could decide")
        intended = await DECIDES[0](client, given.citizen_id, parts=STREAM_PARTS)
        why, stream = f"{intended.decision.kind}: {intended.decision.why}", intended.stream
        if stream is None:
            values = answers.StreamValues(memories=(), notes=(why,), degraded=(), omitted=0)
            return ToolAnswer(fence(one_line(why)), values)
        return _stream_answer(stream, given.max_tokens, why=why)
    fields = given.model_dump(exclude_none=True, exclude={"max_tokens"})
    known: AsOfFields = {} if given.as_of_time is None else {"known_at": ALL_KNOWN}
    stream = await client.wake(**fields, **known, parts=STREAM_PARTS)
    return _stream_answer(stream, given.max_tokens, given.goal or "")


async def remember(client: AsyncSubstrate, given: RememberArguments) -> ToolAnswer:
    return _receipt_answer("remembered", await client.remember(**fields_of(given)))


async def correct(client: AsyncSubstrate, given: CorrectArguments) -> ToolAnswer:
    """Correct the memory, or supersede it if the world changed. Raises what the client raises."""
    fields = fields_of(given, "changed", "reason", "energy")
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


async def hear(client: AsyncSubstrate, given: HearArguments) -> ToolAnswer:
    """Append a message. Raises Refused when it is refused."""
    message: MessageFields = {}
    if given.time is not None:
        message["timestamp"] = given.time
    if given.message_id is not None:
        message["id"] = given.message_id
    where = given.model_dump(include={"citizen_id", "level", "collective"}, exclude_unset=True)
    report = await client.hear(given.conversation, given.speaker, given.text, **where, **message)
    values = answers.HeardValues.of(report)
    return ToolAnswer(f"{values.status} {values.id or ''}".strip(), values)


async def resolve(client: AsyncSubstrate, given: ResolveArguments) -> ToolAnswer:
    return _consequences_answer(given.resolution_state.value, await client.resolve(**fields_of(given)))


async def retract(client: AsyncSubstrate, given: RetractArguments) -> ToolAnswer:
    """The memory was true until a moment, or never."""
    fields = fields_of(given, "until")
    if given.until is not None:
        fields |= {"effective_at": given.until, "reason": "reality_changed"}
    return _receipt_answer("retracted", await client.retract(**fields))


async def undo(client: AsyncSubstrate, given: UndoArguments) -> ToolAnswer:
    return _consequences_answer("undone: the last change of", await client.undo(**fields_of(given)))


async def relate(client: AsyncSubstrate, given: RelateArguments) -> ToolAnswer:
    return _receipt_answer("related", await client.relate(**fields_of(given)))


async def set_state(client: AsyncSubstrate, given: SetStateArguments) -> ToolAnswer:
    fields = fields_of(given, "citizen_id")
    if given.window is not None:
        fields["window"] = [{"id": memory_id} for memory_id in given.window]
    state = await client.set_state(given.citizen_id, **fields)
    values = answers.StateValues.of(state)
    return ToolAnswer(fence(values.text()), values)


RESOURCES: Final[list[Resource]] = []
OF_FEATURES: Final[list[Tool]] = []
DECIDES: Final[list[Callable[..., Awaitable[Intended]]]] = []
"""The call of the client in which a citizen decides for itself what it wakes for."""
for _face in sorted((Path(__file__).parents[1] / "faces").glob("[a-z]*.py")):
    # By name: a feature that is not there has no face.
    _module = import_module(f"api.faces.{_face.stem}")
    RESOURCES.extend(getattr(_module, "RESOURCES", ()))
    OF_FEATURES.extend(getattr(_module, "TOOLS", ()))
    DECIDES.extend(getattr(_module, "DECIDES", ()))
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
    *OF_FEATURES,
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
    return frozenset(map(str.strip, text.split(","))) - {""}


def _stream_answer(stream: ConsciousnessStream, most: int, query: str = "", why: str | None = None) -> ToolAnswer:
    """The memories, at most this many tokens as text and as values; `why`: what decided that they are sought.

    A memory that must be cut keeps the part with most words of the `query`.
    """
    count, words = tokens.counter(), stems_of(query)
    before = "" if why is None else f"{one_line(why)}\n"
    room = Budget(most - count(fence(before)) - 1, count)
    told = tell(stream, room, words, ids=True)
    if why is not None:
        stream = stream.model_copy(update={"notes": (why, *stream.notes)})
    values = answers.StreamValues.within(Budget(most, count), stream, told, words)
    return ToolAnswer(fence(before + told.text), values)


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
