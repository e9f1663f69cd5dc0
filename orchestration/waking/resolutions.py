"""Finds how blockages like the present one were resolved (003, component 1, find_resolution_patterns). Pure.

Blockage → RESOLVED_BY → resolution → the Decisions, Actions and Learnings within two hops of the resolution.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.ranking.spreading import Identity
from orchestration.waking.scoring import (
    CollectedAnswers,
    WakingState,
    discovery_energy,
    is_like_now,
    recency_weight,
)
from orchestration.waking.told import Told
from schemas.intention import QueryMode
from schemas.memory import SOLVING, graph_fields
from schemas.stream_parts import ResolutionPattern
from substrate.store.rows import shown_name

STEP_SHARE = 0.8
"""A step gets the score of its resolution × this for each hop."""
MAX_STEPS = 8
"""At most this many steps in one pattern."""
MAX_TOLD = 10
"""At most this many patterns of what was told in plain words (003: at most 10 patterns)."""


class ResolutionStep(NamedTuple):
    """A step of a resolution; `hops` away from it: 1 or 2."""

    memory: Candidate
    hops: int


class Neighbour(NamedTuple):
    """A memory at the other end of a link. Sorts by the strength of the link, strongest first."""

    minus_strength: float
    memory_id: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """A blockage, the link to its resolution, the resolution, and the steps of the resolution."""

    blockage: Candidate
    link: CandidateLink
    resolution: Candidate
    steps: tuple[ResolutionStep, ...]


def find_resolutions(candidates: Candidates, blockages: Iterable[Key]) -> list[Resolution]:
    """The resolutions of these blockages among the candidates, each with its steps."""
    memories = {key[:2]: memory for key, memory in candidates.memories.items()}
    neighbours = _neighbours(candidates.links.values())
    wanted = {key[:2] for key in blockages}
    resolutions = []
    for link in candidates.links.values():
        start, end = (link.graph_key, link.source), (link.graph_key, link.target)
        if start in wanted and end in memories and _resolves(link):
            steps = _steps(start, end, neighbours, memories)
            resolutions.append(Resolution(memories[start], link, memories[end], steps))
    return resolutions


def rank_resolutions(collected: CollectedAnswers, waking: WakingState) -> list[Resolution]:
    """The resolutions: highest discovery energy × recency first; of equals those known as blocked."""
    if waking.mode is not QueryMode.RESOLUTION_PATTERNS:
        return []
    memories = collected.candidates.memories
    blockages = [key for key, answer in collected.answers.items() if is_like_now(memories[key], answer, waking)]
    return sorted(
        find_resolutions(collected.candidates, blockages),
        key=lambda resolution: (
            -discovery_energy(resolution.blockage) * recency_weight(resolution.blockage.get("valid_at"), waking),
            resolution.blockage.key[:2] not in collected.once_blocked,
            -collected.answers[resolution.blockage.key].emotional,
            resolution.blockage.key,
            resolution.link.get("id"),
        ),
    )


def told_resolutions(
    told: Mapping[Key, Told], links: Iterable[CandidateLink], scores: Mapping[Key, float]
) -> list[Resolution]:
    """The resolutions of what was told in plain words, with the steps between; the best blockages first.

    `scores`: those of the told memories that answer.
    """
    by_id = {key[:2]: one.memory for key, one in told.items() if key in scores}
    resolutions = []
    for link in links:
        blockage, resolution = by_id.get((link.graph_key, link.source)), by_id.get((link.graph_key, link.target))
        if blockage is not None and resolution is not None and _resolves(link):
            steps = _told_steps(blockage, resolution, by_id.values())
            resolutions.append(Resolution(blockage, link, resolution, steps))
    best = sorted(resolutions, key=lambda one: (-scores[one.blockage.key], one.blockage.key, one.link.get("id")))
    return best[:MAX_TOLD]


def _told_steps(
    blockage: Candidate, resolution: Candidate, memories: Iterable[Candidate]
) -> tuple[ResolutionStep, ...]:
    """What was decided, done and learned in the same conversation between the two, in the order of time."""
    begun, ended = blockage.get("valid_at"), resolution.get("valid_at")
    steps = [
        memory
        for memory in memories
        if _is_step(memory)
        and begun < memory.get("valid_at") < ended
        and memory.get("episode_id") == blockage.get("episode_id")
    ]
    in_order = sorted(steps, key=lambda memory: (memory.get("valid_at"), memory.key))
    return tuple(ResolutionStep(memory, 1) for memory in in_order[-MAX_STEPS:])


def _neighbours(links: Iterable[CandidateLink]) -> dict[Identity, list[Neighbour]]:
    neighbours: dict[Identity, list[Neighbour]] = {}
    for link in links:
        strength = float(link.get("energy")) * float(link.get("confidence"))
        for near, far in ((link.source, link.target), (link.target, link.source)):
            neighbours.setdefault((link.graph_key, near), []).append(Neighbour(-strength, far))
    return neighbours


def _resolves(link: CandidateLink) -> bool:
    return bool(link.get("relation_type") == "RESOLVED_BY" and link.get("resolution_state") == "resolved")


def _steps(
    blockage: Identity,
    resolution: Identity,
    neighbours: Mapping[Identity, Sequence[Neighbour]],
    memories: Mapping[Identity, Candidate],
) -> tuple[ResolutionStep, ...]:
    """The steps of a resolution: fewest hops first, then strongest links; no path goes through the blockage."""
    level = resolution[0]
    seen, ring = {blockage, resolution}, [resolution]
    steps: list[ResolutionStep] = []
    for hops in (1, 2):
        reached = sorted(neighbour for identity in ring for neighbour in neighbours.get(identity, ()))
        ring = []
        for identity in dict.fromkeys((level, neighbour.memory_id) for neighbour in reached):
            if identity not in seen and identity in memories:
                seen.add(identity)
                ring.append(identity)
                if _is_step(memories[identity]):
                    steps.append(ResolutionStep(memories[identity], hops))
    return tuple(steps[:MAX_STEPS])


def _is_step(memory: Candidate) -> bool:
    """A turn is a step by what it tells, any other memory by its type."""
    return memory.get("step" if memory.get("node_type") == "Turn" else "node_type") in SOLVING


def show_pattern(resolution: Resolution, emotional_likeness: float) -> ResolutionPattern:
    """A resolution as the stream shows it. `emotional_likeness`: of its blockage to the present state."""
    steps = [step.memory for step in resolution.steps]
    return ResolutionPattern(
        **graph_fields(resolution.link.graph_key),
        blockage_id=resolution.link.source,
        blockage=_shown_name(resolution.blockage),
        resolution_id=resolution.link.target,
        resolution=_shown_name(resolution.resolution),
        steps=tuple(map(_shown_name, steps)),
        step_ids=tuple(step.get("id") for step in steps),
        link_id=resolution.link.get("id"),
        emotional_likeness=round(emotional_likeness, 6),
        discovery_energy=discovery_energy(resolution.blockage),
    )


def _shown_name(memory: Candidate) -> str:
    return shown_name(memory.get("id"), memory.get("name"), memory.get("speaker"), memory.get("description"))


def pass_scores_on(scores: Mapping[Key, float], resolutions: Iterable[Resolution]) -> dict[Key, float]:
    """Pass the score of each blockage on: whole to its resolution, × 0.8 per hop to the steps."""
    passed = dict(scores)
    for resolution in resolutions:
        own = scores[resolution.blockage.key]
        for memory, hops in (ResolutionStep(resolution.resolution, 0), *resolution.steps):
            passed[memory.key] = max(own * STEP_SHARE**hops, passed.get(memory.key, 0.0))
    return passed
