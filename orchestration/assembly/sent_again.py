"""A stream that was found before, sent again: with other ids and times, its energy faded further. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from orchestration.mind.energy import Decay
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.stream import ActivationTiers, ConsciousnessLevelResults, ConsciousnessStream
from schemas.stream_forms import all_links, all_memories
from schemas.temporal import Instant, to_instant

OWN: Final = ("stream_id", "intention_id", "retrieved_at", "retrieval_latency_ms", "stage_ms")
"""The fields that each answer has for itself."""

type Record = ConsciousnessNode | ConsciousnessRelationship
type _Replaced = dict[int, Record]
"""By the identity of a record: what stands in its place."""


class SentStream(NamedTuple):
    """The JSON of a stream: before each of the fields `OWN` that it has, what stands there, and what ends it."""

    pieces: tuple[tuple[bytes, str], ...]
    rest: bytes

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.rest) + sum(len(piece) for piece, _ in self.pieces)

    def again(self, stream: ConsciousnessStream) -> bytes:
        """The same JSON with the fields `OWN` of this stream."""
        values = vars(stream)
        found = b"".join(piece + _dump(values[name]) for piece, name in self.pieces)
        return b"{" + found + self.rest + b"}"


def as_sent(body: bytes) -> SentStream:
    """What was sent, to be sent again."""
    pieces: list[tuple[bytes, str]] = []
    between: dict[str, Any] = {}
    for name, value in orjson.loads(body).items():
        if name in OWN:
            pieces.append(
                (b"".join(_members(between, first=not pieces)) + _name(name, bool(pieces or between)), name)
            )
            between = {}
        else:
            between[name] = value
    return SentStream(tuple(pieces), b"".join(_members(between, first=not pieces)))


def _members(fields: Mapping[str, Any], *, first: bool) -> Iterator[bytes]:
    """The members of an object, each after the first of all with a comma before it."""
    for name, value in fields.items():
        yield _name(name, not first) + _dump(value)
        first = False


def _name(name: str, after_others: bool) -> bytes:
    return (b"," if after_others else b"") + _dump(name) + b":"


def _dump(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)


class FadingStream:
    """A stream whose records show their energies as of some moment."""

    __slots__ = ("_changed", "_energies", "_records", "_shown", "_states", "stream")

    def __init__(self, stream: ConsciousnessStream) -> None:
        self.stream = stream
        every: list[Record] = [*all_memories(stream), *all_links(stream)]
        self._records = list({id(record): record for record in every}.values())
        self._energies = [record.energy for record in self._records]
        self._states = [record.resolution_state for record in self._records]
        self._changed: list[Instant] = [to_instant(record.valid_at) for record in self._records]
        self._shown = [record.effective_energy for record in self._records]

    def shows(self, decay: Decay) -> bool:
        """Whether the records show exactly these energies."""
        return self._column(decay) == self._shown

    def at(self, decay: Decay) -> ConsciousnessStream:
        """The stream with the energies of this moment; the very same one while none of them differs."""
        column = self._column(decay)
        if column != self._shown:
            self._show(column)
        return self.stream

    def _column(self, decay: Decay) -> list[float | None]:
        column = decay.column(self._energies, self._states, self._changed)
        return column or [None] * len(self._records)

    def _show(self, column: list[float | None]) -> None:
        replaced: _Replaced = {}
        for place, (energy, shown) in enumerate(zip(column, self._shown, strict=True)):
            if energy != shown:
                former = self._records[place]
                replaced[id(former)] = self._records[place] = former.model_copy(
                    update={"effective_energy": energy}
                )
        tiers, levels = self.stream.activation_tiers, self.stream.levels
        self.stream = self.stream.model_copy(
            update={
                "activation_tiers": ActivationTiers(
                    focus=_put(tiers.focus, replaced),
                    peripheral=_put(tiers.peripheral, replaced),
                    background=_put(tiers.background, replaced),
                ),
                "levels": {name: _level(level, replaced) for name, level in levels.items()},
            }
        )
        self._shown = column


def _put[Some: (ConsciousnessNode, ConsciousnessRelationship)](
    records: tuple[Some, ...], replaced: _Replaced
) -> tuple[Some, ...]:
    return tuple(replaced.get(id(record), record) for record in records)  # type: ignore[misc]


def _level(level: ConsciousnessLevelResults, replaced: _Replaced) -> ConsciousnessLevelResults:
    return level.model_copy(
        update={
            "vector_results": _put(level.vector_results, replaced),
            "graph_results": _put(level.graph_results, replaced),
            "relationships": _put(level.relationships, replaced),
        }
    )
