"""The structured answers of the tools: few fields, named as in the arguments of the tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Self

from pydantic import BaseModel

from orchestration.assembly.budget import Budget, cut_to_room
from orchestration.assembly.compact import CompactText
from orchestration.assembly.displayed_text import NOTICE, one_line
from schemas.base import Frozen
from schemas.commands import Consequence
from schemas.memory import ClosedReason, ConsciousnessNode, InvalidationReason, Level, Source
from schemas.mind.state import CitizenState
from schemas.responses import HeardReport
from schemas.stream import ConsciousnessStream, Degradation


class Values(Frozen):
    """Fields of a value as a tool answers with them, some under other names than they have there."""

    renamed: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def of(cls, value: BaseModel) -> Self:
        return cls(**{name: getattr(value, cls.renamed.get(name, name)) for name in cls.model_fields})


class StreamMemory(Values):
    """A memory of a stream; `score` says how active it is, `likeness` is its cosine to the question."""

    renamed: ClassVar = {
        "id": "node_id",
        "type": "node_type",
        "text": "description",
        "score": "consciousness_adjusted_score",
    }

    id: str
    level: Level
    type: str
    name: str
    text: str
    valid_at: datetime
    score: float | None = None
    likeness: float | None = None


class WithNotice(Frozen):
    """An answer with stored text: it says first what that is, for hosts that show only the values to a model."""

    notice: str = NOTICE


class StreamValues(WithNotice):
    """The memories in the order of the text, which has this many `tokens`. `omitted` counts those that did not
    fit, `degraded` names missing parts.

    `answer_confidence` is the probability that they answer the question; a waking has none. Where `nothing_fits`
    the question they are only the nearest to it.
    """

    stream_id: str = ""
    answer_confidence: float | None = None
    nothing_fits: bool = False
    memories: tuple[StreamMemory, ...]
    notes: tuple[str, ...]
    degraded: tuple[Degradation, ...]
    omitted: int
    tokens: int = 0

    @classmethod
    def of(
        cls, stream: ConsciousnessStream, told: CompactText, nodes: Sequence[ConsciousnessNode], tokens: int
    ) -> StreamValues:
        """The values of a stream with these of the memories told."""
        return cls(
            stream_id=stream.stream_id,
            answer_confidence=stream.answer_confidence,
            nothing_fits=stream.nothing_fits,
            memories=tuple(map(StreamMemory.of, nodes)),
            notes=stream.notes,
            degraded=stream.degraded,
            omitted=told.omitted + len(told.memories) - len(nodes),
            tokens=tokens,
        )

    @classmethod
    def within(
        cls, budget: Budget, stream: ConsciousnessStream, told: CompactText, words: Collection[str]
    ) -> StreamValues:
        """The values in at most this many tokens: the last memories are left out, the first is cut if need be."""
        nodes, tokens = told.memories, budget.count(told.text)

        def cost(*shown: ConsciousnessNode) -> int:
            return budget.count(cls.of(stream, told, shown, tokens).model_dump_json(exclude_none=True))

        if not nodes:
            return cls.of(stream, told, (), tokens)
        first = cut_to_room(nodes[0], budget.limit, words, cost)
        memories, left = [first], budget.limit - cost(first)
        for node in nodes[1:]:
            left -= budget.count(StreamMemory.of(node).model_dump_json(exclude_none=True)) + 1
            if left < 0:
                break
            memories.append(node)
        return cls.of(stream, told, memories, tokens)


class HeardValues(Frozen):
    """What became of a message: `status` is stored, duplicate, superseded or left_out."""

    status: str
    id: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, report: HeardReport) -> HeardValues:
        [message] = report.messages
        return cls(status=message.status, id=message.id, reason=message.reason, notes=report.notes)


class ReceiptValues(Values):
    """A stored command. `recognised`: the id of a memory with the same text; nothing new was stored."""

    id: str | None = None
    level: Level | None = None
    version: int | None = None
    command_id: str
    valid_at: datetime | None = None
    created_at: datetime | None = None
    duplicate: bool
    recognised: str | None = None
    warnings: tuple[str, ...]


class ReceiptAndConsequences(ReceiptValues):
    """A stored command and what follows from it; `further`: of how many more."""

    follows: tuple[Consequence, ...] = ()
    further: int = 0


class RecordValues(Values):
    """One record of a memory: its content, when it held, when it was known, and why either ended."""

    renamed: ClassVar = {"text": "description", "type": "node_type", "emotions": "emotion_vector"}

    version: int
    name: str
    text: str
    type: str
    energy: float
    confidence: float
    emotions: dict[str, float] | None = None
    goal: str | None = None
    tags: tuple[str, ...]
    valid_at: datetime
    invalid_at: datetime | None = None
    invalidation_reason: InvalidationReason | None = None
    created_at: datetime
    expired_at: datetime | None = None
    closed_reason: ClosedReason | None = None
    source: Source
    closed_source: Source | None = None
    command_id: str | None = None
    closed_by: str | None = None


class HistoryValues(WithNotice):
    """All records of one memory, in the order in which they became known."""

    id: str
    records: tuple[RecordValues, ...]
    degraded: tuple[str, ...]


class StateValues(WithNotice):
    """What a citizen feels and wants, from `valid_at` on."""

    citizen_id: str
    energy: float
    emotions: dict[str, float]
    goal: str | None = None
    valid_at: datetime | None = None

    @classmethod
    def of(cls, state: CitizenState) -> StateValues:
        fields = state.model_dump(include={"citizen_id", "energy", "goal", "valid_at"})
        return cls(**fields, emotions=state.emotion_vector)

    def text(self) -> str:
        """The state on one line."""
        felt = [f"{name} {strength:.2g}" for name, strength in self.emotions.items()]
        goal = [] if self.goal is None else [f"goal: {self.goal}"]
        return one_line("; ".join([f"energy {self.energy:.2g}", *felt, *goal]))
