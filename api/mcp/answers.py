"""What the tools answer as values: short, under the words that the tools take."""

from __future__ import annotations

from datetime import datetime

from schemas.base import Frozen
from schemas.commands import WriteReceipt
from schemas.identity import AttachedRule, Identity
from schemas.memory import ConsciousnessNode, InvalidationReason, Level, MemoryRecord, Source
from schemas.stream import ConsciousnessStream, Degradation


class StreamMemory(Frozen):
    """A memory that came to mind, and how active it is."""

    id: str
    level: Level
    type: str
    name: str
    text: str
    valid_at: datetime
    score: float | None = None

    @classmethod
    def of(cls, node: ConsciousnessNode) -> StreamMemory:
        """The same memory in few fields."""
        return cls(
            id=node.node_id,
            level=node.level,
            type=node.node_type,
            name=node.name,
            text=node.description,
            valid_at=node.valid_at,
            score=node.consciousness_adjusted_score,
        )


class StreamValues(Frozen):
    """What came to mind, most active first; `omitted` did not fit, `degraded` is missing."""

    memories: tuple[StreamMemory, ...]
    notes: tuple[str, ...]
    degraded: tuple[Degradation, ...]
    omitted: int

    @classmethod
    def of(cls, stream: ConsciousnessStream) -> StreamValues:
        """The stream in few fields."""
        return cls(
            memories=tuple(map(StreamMemory.of, stream.activation_tiers.ordered())),
            notes=stream.notes,
            degraded=stream.degraded,
            omitted=stream.omitted,
        )


class ReceiptValues(Frozen):
    """What was stored. `recognised`: the memory that said the same before, in whose place nothing was stored."""

    id: str | None = None
    level: Level | None = None
    version: int | None = None
    command_id: str
    valid_at: datetime | None = None
    created_at: datetime | None = None
    duplicate: bool
    recognised: str | None = None
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, receipt: WriteReceipt) -> ReceiptValues:
        """The receipt of what was not refused: a refusal is a fault."""
        return cls(**{name: getattr(receipt, name) for name in cls.model_fields})


class RecordValues(Frozen):
    """One record of a memory: what it said, when it held, when it was known, and why either ended."""

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
    closed_reason: InvalidationReason | None = None
    source: Source
    closed_source: Source | None = None
    command_id: str | None = None
    closed_by: str | None = None

    @classmethod
    def of(cls, record: MemoryRecord) -> RecordValues:
        """The same record in few fields."""
        renamed = {"text": "description", "type": "node_type", "emotions": "emotion_vector"}
        return cls(**{name: getattr(record, renamed.get(name, name)) for name in cls.model_fields})


class HistoryValues(Frozen):
    """All records of one memory, in the order in which they became known."""

    id: str
    records: tuple[RecordValues, ...]
    degraded: tuple[str, ...]


class EntityValues(Frozen):
    """An entity, how many memories point to it, what is felt in them and which rules stand there."""

    id: str
    name: str
    type: str
    appearances: int
    emotions: dict[str, int]
    rules: tuple[AttachedRule, ...]


class IdentityValues(Frozen):
    """Who a citizen is: the first entity is the self. What it feels and wants is that of the same moment."""

    citizen_id: str
    as_of_time: datetime
    known_at: datetime
    entities: tuple[EntityValues, ...]
    energy: float
    emotions: dict[str, float]
    goal: str | None = None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, found: Identity) -> IdentityValues:
        """The identity in few fields."""
        entities = tuple(
            EntityValues(id=one.node_id, type=one.node_type, **one.model_dump(exclude={"node_id", "node_type"}))
            for one in found.entities
        )
        return cls(
            entities=entities,
            energy=found.state.energy,
            emotions=found.state.emotion_vector,
            goal=found.state.goal,
            **found.model_dump(include={"citizen_id", "as_of_time", "known_at", "notes"}),
        )
