"""Found memories → `ConsciousnessNode`s with all their metadata (003, task 4). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import CandidateLink, Candidates, Key
from orchestration.ranking.consciousness_score import Score
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.temporal import AFTER_ALL, Instant
from substrate.store import rows
from substrate.store.search import LINK_START, NODE_START


def enriched(
    shown: Iterable[Score], found: Candidates, activation: Activation, *, explain: bool
) -> dict[Key, ConsciousnessNode]:
    """The memories of the scores as the stream shows them; with `explain` each term of each score."""
    scores = list(shown)
    memories = [found.memories[score.key] for score in scores]
    levels = [score.key[0] for score in scores]
    columns: dict[str, Iterable[Any]] = {
        "level": levels,
        "retrieval_source": [
            f"{level}_{'graph' if memory.likeness is None else 'vector'}"
            for level, memory in zip(levels, memories, strict=True)
        ],
        "relevance_score": [round(score.activation, 6) for score in scores],
        "consciousness_adjusted_score": [round(score.total, 6) for score in scores],
    }
    if explain:
        columns["score_terms"] = [_explained(activation.parts[score.key], score) for score in scores]
    nodes = rows.nodes([memory.row[NODE_START:] for memory in memories], columns, found.known_to)
    return dict(zip((score.key for score in scores), nodes, strict=True))


def _explained(parts: Mapping[str, float], score: Score) -> dict[str, float]:
    return {name: round(value, 6) for name, value in {**parts, **score.terms}.items()}


def relationships(
    bonds: Sequence[CandidateLink], known_to: Instant = AFTER_ALL
) -> list[ConsciousnessRelationship]:
    """The links as the stream shows them: without what was closed at `known_to` or later."""
    ends: dict[str, Iterable[Any]] = {
        "level": [bond.level for bond in bonds],
        "source_id": [bond.source for bond in bonds],
        "target_id": [bond.target for bond in bonds],
    }
    return rows.links([bond.row[LINK_START:NODE_START] for bond in bonds], ends, known_to)
