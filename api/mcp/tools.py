"""The tools: the call of the client, and the answer as text and as values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Final

from api.client import AsyncSubstrate
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
from api.mcp.tool import Resource, Tool, ToolAnswer, fields_of, times_of, tool
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
from substrate_client._calls import AsOfFields
from substrate_client.async_client import MessageFields

STREAM_PARTS: Final[Sequence[Part]] = (
    "activation_tiers",
    "traversal_graph",
    "temporal_dissonances",
    "resolution_patterns",
    "offers",
    "rules",
)
"""What a model is told of a stream, within the tokens that it asks for."""


@tool("Recall")
async def recall(client: AsyncSubstrate, given: RecallArguments) -> ToolAnswer[answers.StreamValues]:
    """Find the memories of a citizen that matter for a question, now or at a time; each with its id."""
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


@tool("Wake")
async def wake(client: AsyncSubstrate, given: WakeArguments) -> ToolAnswer[answers.StreamValues]:
    """Find the memories that fit a citizen's state, without a question; each with its id."""
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


@tool("Remember", read_only=False)
async def remember(client: AsyncSubstrate, given: RememberArguments) -> ToolAnswer[answers.ReceiptValues]:
    """Store a new memory of a citizen. Returns its id."""
    return _receipt_answer("remembered", await client.remember(**fields_of(given)))


@tool("Correct a memory", read_only=False, destructive=True)
async def correct(client: AsyncSubstrate, given: CorrectArguments) -> ToolAnswer[answers.ReceiptValues]:
    """Correct a memory that was wrong, or with `changed` one that is outdated; its history keeps both."""
    fields = fields_of(given, "changed", "reason", "energy")
    fields |= discovery_fields(given.reason, given.emotions, given.energy)
    if given.changed:
        return _receipt_answer("superseded", await client.supersede(**fields))
    return _receipt_answer("corrected", await client.correct(**fields))


@tool("History of a memory")
async def history(client: AsyncSubstrate, given: HistoryArguments) -> ToolAnswer[answers.HistoryValues]:
    """List all records of one memory: when each was true, when it was known, and why it ended."""
    answer = await client.history(given.id, citizen_id=given.citizen_id, level=given.level)
    records = tuple(map(answers.RecordValues.of, answer.records))
    lines = map(_record_line, records, map(attribution, answer.records))
    return ToolAnswer(
        fence("\n".join(lines)), answers.HistoryValues(id=answer.id, records=records, degraded=answer.degraded)
    )


@tool("Hear a message", read_only=False)
async def hear(client: AsyncSubstrate, given: HearArguments) -> ToolAnswer[answers.HeardValues]:
    """Append a message to a conversation, as it was said; said again it is stored once."""
    message: MessageFields = {}
    if given.time is not None:
        message["timestamp"] = given.time
    if given.message_id is not None:
        message["id"] = given.message_id
    where = given.model_dump(include={"citizen_id", "level", "collective"}, exclude_unset=True)
    report = await client.hear(given.conversation, given.speaker, given.text, **where, **message)
    values = answers.HeardValues.of(report)
    return ToolAnswer(f"{values.status} {values.id or ''}".strip(), values)


@tool("Resolve a memory", read_only=False)
async def resolve(client: AsyncSubstrate, given: ResolveArguments) -> ToolAnswer[answers.ReceiptAndConsequences]:
    """Say that the work of a memory is done, going on or blocked, from now on."""
    return _consequences_answer(given.resolution_state.value, await client.resolve(**fields_of(given)))


@tool("Retract a memory", read_only=False, destructive=True, extra=True)
async def retract(client: AsyncSubstrate, given: RetractArguments) -> ToolAnswer[answers.ReceiptValues]:
    """Say that a memory was never true, or only until a moment; its history keeps it."""
    fields = fields_of(given, "until")
    if given.until is not None:
        fields |= {"effective_at": given.until, "reason": "reality_changed"}
    return _receipt_answer("retracted", await client.retract(**fields))


@tool("Undo a change", read_only=False, destructive=True, extra=True)
async def undo(client: AsyncSubstrate, given: UndoArguments) -> ToolAnswer[answers.ReceiptAndConsequences]:
    """Revert the last change of a memory; its history keeps the mistake."""
    return _consequences_answer("undone: the last change of", await client.undo(**fields_of(given)))


@tool("Relate two memories", read_only=False, extra=True)
async def relate(client: AsyncSubstrate, given: RelateArguments) -> ToolAnswer[answers.ReceiptValues]:
    """Store a link between two memories, with what the citizen felt and wanted."""
    return _receipt_answer("related", await client.relate(**fields_of(given)))


@tool("Set a citizen's state", read_only=False, extra=True)
async def set_state(client: AsyncSubstrate, given: SetStateArguments) -> ToolAnswer[answers.StateValues]:
    """Say what a citizen feels and wants from now on; `wake` goes by it."""
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
    recall,
    wake,
    remember,
    correct,
    history,
    hear,
    resolve,
    relate,
    retract,
    undo,
    set_state,
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


def _stream_answer(
    stream: ConsciousnessStream, most: int, query: str = "", why: str | None = None
) -> ToolAnswer[answers.StreamValues]:
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


def _receipt_answer(verb: str, receipt: WriteReceipt) -> ToolAnswer[answers.ReceiptValues]:
    again = " (already stored)" if receipt.duplicate else ""
    return ToolAnswer(f"{verb} {receipt.id}{again}", answers.ReceiptValues.of(receipt))


def _consequences_answer(verb: str, receipt: WriteReceipt) -> ToolAnswer[answers.ReceiptAndConsequences]:
    """The receipt, and line by line what follows from it."""
    lines = [
        f"- {each.outcome}: {each.id} {each.resolution_state or ''} {each.reason or ''}"
        for each in receipt.follows
    ]
    if receipt.further:
        lines.append(f"- and {receipt.further} more")
    follows = f"\n{fence(chr(10).join(map(one_line, lines)))}" if lines else ""
    text = _receipt_answer(verb, receipt).text + follows
    return ToolAnswer(text, answers.ReceiptAndConsequences.of(receipt))


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
