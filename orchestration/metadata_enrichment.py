"""Candidates → memories and links with all their metadata, as the stream shows them (003, task 4). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from orchestration.mind.decay import FOR_DECAY, NO_DECAY, Decay, columns_of
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key, column_of
from orchestration.ranking.consciousness_score import Score
from schemas.memory import (
    ConsciousnessNode,
    ConsciousnessRelationship,
    Contest,
    GraphKey,
    Passage,
    collective_of,
    level_of,
)
from schemas.temporal import AFTER_ALL, Instant, to_datetime
from substrate.store import rows
from substrate.store.search import LINK_START, NODE_START

type Contests = Mapping[tuple[GraphKey, str], tuple[Contest, ...]]
"""Who contests shared memories, by graph and id."""
NO_CONTESTS: Final[Contests] = MappingProxyType({})


def enrich_memories(
    scores: Sequence[Score],
    candidates: Candidates,
    activation: Activation,
    *,
    explain: bool,
    decay: Decay = NO_DECAY,
    contested: Contests = NO_CONTESTS,
) -> dict[Key, ConsciousnessNode]:
    """The memories of the scores, in their order; with `explain` also each part and term of each score."""
    memories = [candidates.memories[score.key] for score in scores]
    columns: dict[str, Iterable[Any]] = {
        "level": [level_of(score.key[0]) for score in scores],
        "collective": [collective_of(score.key[0]) for score in scores],
        "retrieval_source": [
            f"{memory.key[0]}_{'graph' if memory.likeness is None else 'vector'}" for memory in memories
        ],
        "likeness": [None if memory.likeness is None else round(memory.likeness, 6) for memory in memories],
        "relevance_score": [round(score.activation, 6) for score in scores],
        "consciousness_adjusted_score": [round(score.total, 6) for score in scores],
    }
    if any(memory.shown for memory in memories):
        columns["passage"] = [memory.shown and Passage(**memory.shown._asdict()) for memory in memories]
    later = [activation.held_before.get(score.key) for score in scores]
    columns["overtaken_by"] = [None if key is None else key[1] for key in later]
    columns["overtaken_at"] = [None if key is None else _began(candidates.memories[key]) for key in later]
    columns["duplicates"] = [activation.duplicates.get(score.key, ()) for score in scores]
    if contested:
        columns["contested"] = [contested.get(score.key[:2], ()) for score in scores]
    if explain:
        columns["score_terms"] = [_score_terms(activation.parts[score.key], score) for score in scores]
    columns |= columns_of(decay, *(_column(memories, name) for name in FOR_DECAY))
    nodes = rows.nodes([memory.row[NODE_START:] for memory in memories], columns, candidates.known_to)
    return dict(zip((score.key for score in scores), nodes, strict=True))


def _column(memories: Sequence[Candidate], name: str) -> list[Any]:
    return [memory.get(name) for memory in memories]


def _began(memory: Candidate) -> datetime:
    return to_datetime(int(memory.get("valid_at")))


def _score_terms(parts: Mapping[str, float], score: Score) -> dict[str, float]:
    return {name: round(value, 6) for name, value in {**parts, **score.terms}.items()}


def enrich_links(
    links: Sequence[CandidateLink], known_to: Instant = AFTER_ALL, decay: Decay = NO_DECAY
) -> list[ConsciousnessRelationship]:
    """The links as they were known at `known_to`: one that was closed then or later is still open."""
    ends: dict[str, Iterable[Any]] = {
        "level": [level_of(link.graph_key) for link in links],
        "collective": [collective_of(link.graph_key) for link in links],
        "source_id": [link.source for link in links],
        "target_id": [link.target for link in links],
    }
    ends |= columns_of(decay, *(column_of(links, name) for name in FOR_DECAY))
    return rows.links([link.row[LINK_START:NODE_START] for link in links], ends, known_to)
