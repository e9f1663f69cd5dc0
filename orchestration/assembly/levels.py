"""What each of the six queries found, whole (003, decision 4: concatenation first). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key
from orchestration.ranking.consciousness_score import Score
from schemas.memory import Level

LINKS_PER_LEVEL = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """What a stream shows of what was found: per level the keys of both queries and the links."""

    vector: Mapping[Level, Sequence[Key]]
    graph: Mapping[Level, Sequence[Key]]
    links: Mapping[Level, Sequence[CandidateLink]]

    def keys(self) -> set[Key]:
        """Every memory shown."""
        return {key for side in (self.vector, self.graph) for keys in side.values() for key in keys}


def select(found: Candidates, order: Sequence[Score], levels: Sequence[Level], limit: int) -> Selection:
    """The most active `limit` of each query; those of the vector search are shown in the order of likeness.

    Records that come along with a memory are shown beyond the limit, with what the traversal found. Links are
    those between memories shown, strongest first.
    """
    vector: dict[Level, list[Candidate]] = {level: [] for level in levels}
    graph: dict[Level, list[Key]] = {level: [] for level in levels}
    left = dict.fromkeys(levels, limit)
    for score in order:
        level, memory = score.key[0], found.memories[score.key]
        if memory.likeness is not None and len(vector[level]) < limit:
            vector[level].append(memory)
        within = memory.hops is not None and left[level] > 0
        left[level] -= within
        if within or memory.along:
            graph[level].append(score.key)
    nearest = {
        level: [memory.key for memory in sorted(alike, key=lambda m: m.place)] for level, alike in vector.items()
    }
    shown = {(key[0], key[1]) for side in (nearest, graph) for keys in side.values() for key in keys}
    links: dict[Level, list[CandidateLink]] = {level: [] for level in levels}
    for bond in sorted(found.links.values(), key=_strength):
        both = (bond.level, bond.source) in shown and (bond.level, bond.target) in shown
        if both and len(links[bond.level]) < LINKS_PER_LEVEL:
            links[bond.level].append(bond)
    return Selection(nearest, graph, links)


def _strength(bond: CandidateLink) -> tuple[float, str]:
    return -float(bond.get("energy")) * float(bond.get("confidence")), bond.get("id")
