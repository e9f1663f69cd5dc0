"""Shows a stream that was found before at a later moment: the energy of its records has faded further. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from orchestration.mind.decay import Decay
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.stream import ActivationTiers, ConsciousnessLevelResults, ConsciousnessStream
from schemas.stream_forms import all_links, all_memories
from schemas.temporal import Instant, to_instant

type Record = ConsciousnessNode | ConsciousnessRelationship
type _Replaced = dict[int, Record]
"""By the identity of a record: what stands in its place."""


class FadingStream:
    """A stream whose records show their energies as of some moment."""

    __slots__ = ("_changed", "_energies", "_records", "_shown", "_states", "stream")

    def __init__(self, stream: ConsciousnessStream) -> None:
        self.stream = stream
        self._records: list[Record] = _distinct((*all_memories(stream), *all_links(stream)))
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


def _distinct(records: Iterable[Record]) -> list[Record]:
    return list({id(record): record for record in records}.values())


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
