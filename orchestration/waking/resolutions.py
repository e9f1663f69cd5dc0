"""How blockages like this one were resolved (003, component 1, find_resolution_patterns). Pure.

Blockage → RESOLVED_BY → resolution → the Decisions, Actions and Learnings within two hops of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.waking.scoring import discovery
from schemas.memory import Level
from schemas.stream_parts import ResolutionPattern
from substrate.store.waking import STEP_TYPES

STEP_FADES = 0.8
"""How much of a resolution's score each hop leaves to a step."""
STEPS = 8
"""Steps of one pattern at most."""

type Place = tuple[Level, str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """A blockage, the link to what resolved it, and the steps with their hops from the resolution."""

    blockage: Candidate
    link: CandidateLink
    resolution: Candidate
    steps: tuple[tuple[Candidate, int], ...]


def resolutions(found: Candidates, blockages: Iterable[Key]) -> list[Resolution]:
    """003, find_resolution_patterns: blockage → RESOLVED_BY → resolution → Decisions, Actions, Learnings."""
    by_identity = {key[:2]: memory for key, memory in found.memories.items()}
    around: dict[Place, list[tuple[float, str]]] = {}
    for bond in found.links.values():
        strength = float(bond.get("energy")) * float(bond.get("confidence"))
        for one, other in ((bond.source, bond.target), (bond.target, bond.source)):
            around.setdefault((bond.level, one), []).append((-strength, other))
    wanted = {key[:2] for key in blockages}
    resolved = []
    for bond in found.links.values():
        start, end = (bond.level, bond.source), (bond.level, bond.target)
        if start in wanted and end in by_identity and _resolves(bond):
            steps = _steps(start, end, around, by_identity)
            resolved.append(Resolution(by_identity[start], bond, by_identity[end], steps))
    return resolved


def _resolves(bond: CandidateLink) -> bool:
    return bool(bond.get("relation_type") == "RESOLVED_BY" and bond.get("resolution_state") == "resolved")


def _steps(
    blockage: Place,
    resolution: Place,
    around: Mapping[Place, Sequence[tuple[float, str]]],
    memories: Mapping[Place, Candidate],
) -> tuple[tuple[Candidate, int], ...]:
    """Nearest first, then over the strongest links; not by way of the blockage, which is where one came from."""
    level = resolution[0]
    seen, ring = {blockage, resolution}, [resolution]
    steps: list[tuple[Candidate, int]] = []
    for hop in (1, 2):
        ways = sorted(way for place in ring for way in around.get(place, ()))
        ring = []
        for place in dict.fromkeys((level, other) for _, other in ways):
            if place not in seen and place in memories:
                seen.add(place)
                ring.append(place)
                if memories[place].get("node_type") in STEP_TYPES:
                    steps.append((memories[place], hop))
    return tuple(steps[:STEPS])


def pattern(resolution: Resolution, felt: float) -> ResolutionPattern:
    """A resolution as the stream shows it; `felt` is how much its blockage felt like now."""
    steps = [memory for memory, _ in resolution.steps]
    return ResolutionPattern(
        level=resolution.link.level,
        blockage_id=resolution.link.source,
        blockage=resolution.blockage.get("name"),
        resolution_id=resolution.link.target,
        resolution=resolution.resolution.get("name"),
        steps=tuple(step.get("name") for step in steps),
        step_ids=tuple(step.get("id") for step in steps),
        link_id=resolution.link.get("id"),
        emotional_likeness=round(felt, 6),
        discovery_energy=discovery(resolution.blockage),
    )


def passed_on(scores: Mapping[Key, float], resolved: Iterable[Resolution]) -> dict[Key, float]:
    """The scores of the blockages passed on: whole to the resolution, × 0.8 a hop to the steps."""
    passed = dict(scores)
    for one in resolved:
        own = scores[one.blockage.key]
        for memory, hop in ((one.resolution, 0), *one.steps):
            passed[memory.key] = max(own * STEP_FADES**hop, passed.get(memory.key, 0.0))
    return passed
