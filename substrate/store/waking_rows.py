"""A row of a query of a waking, as its rules read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from schemas.memory import GraphKey
from substrate.emotions import normal_emotions
from substrate.store.rows import NODE_PLACE
from substrate.store.search import HOP, ID, NODE_START, SCORE, SOURCE, TARGET, VERSION

_GOAL: Final = NODE_START + NODE_PLACE["goal"]
_EMOTIONS: Final = NODE_START + NODE_PLACE["emotion_vector"]


@dataclass(frozen=True, slots=True)
class WakingRow:
    """A row of one of the queries of `substrate.store.waking`, with the columns of `substrate.store.search`."""

    graph: GraphKey
    columns: Sequence[Any]

    @property
    def hop(self) -> int:
        """0: a possible answer of the mode. 1 to 3: linked to an answer. -1: a past record of a blockage."""
        return int(self.columns[HOP])

    @property
    def score(self) -> float:
        """For hop 0: the distance or the weight by which the query ordered its rows."""
        return float(self.columns[SCORE])

    @property
    def link_ends(self) -> tuple[str, str]:
        return self.columns[SOURCE], self.columns[TARGET]

    @property
    def memory_id(self) -> str:
        return str(self.columns[ID])

    @property
    def key(self) -> tuple[GraphKey, str, int]:
        return self.graph, self.memory_id, self.columns[VERSION]

    @property
    def goal(self) -> str | None:
        goal: str | None = self.columns[_GOAL]
        return goal

    @property
    def emotions(self) -> dict[str, float]:
        """Intensities by emotion name in normal form."""
        stored = self.columns[_EMOTIONS]
        return normal_emotions(orjson.loads(stored)) if stored else {}

    def with_score(self, score: float) -> WakingRow:
        return WakingRow(self.graph, [*self.columns[:SCORE], score, *self.columns[SCORE + 1 :]])
