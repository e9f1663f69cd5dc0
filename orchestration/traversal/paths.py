"""Suggested paths: where attention may go from the memories in focus (003, components 4 and 5b). Pure.

**Which paths.** From each memory in focus (a *start*) to each memory that it can reach there is one *best path*:
the greatest product of edge weights among the paths of at most `MAX_EDGES` links, in either direction, with no
memory twice; of equal ones the shorter, then the one whose memories come first by id. No weight is above 1, so a
longer path is never more probable than its own beginning. A best path is suggested only when it is *whole*:

1. its product is at least `FLOOR`;
2. no other best path contains it, forwards or backwards; of a path and its own reverse, the one that follows more
   links in their direction stays, then the one whose start comes first;
3. among those that differ only in their last memory, it is the most probable.

The `MAX_PATHS` most probable are suggested; of equal ones the longer, then by ids.

**Bounds.** A search goes from a memory only to its `MAX_NEIGHBOURS` strongest neighbours (by weight, then id); of
parallel links the strongest counts. It settles each memory at most `MAX_EDGES` times, so a hub costs what any
other memory costs.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise, starmap
from typing import Any, Final, NamedTuple

import numpy as np

from orchestration.algorithms import jaccard
from schemas.memory import ConsciousnessNode, GraphKey, ResolutionState
from schemas.stream import GraphEdge, TraversalPath, activation_score
from substrate.emotions import cosine_similarities, cosine_similarity, normal_emotions
from substrate.language.text import stems

MAX_PATHS: Final = 10
MAX_EDGES: Final = 5
MAX_NEIGHBOURS: Final = 32
FLOOR: Final = 0.02
"""The least product of edge weights; a fainter path ends before."""
MAX_NARRATIVE: Final = 240
MAX_NAME: Final = 60
"""Characters."""
STATE_NAMES: Final = {
    ResolutionState.RESOLVED: "Resolved",
    ResolutionState.IN_PROGRESS: "In progress",
    ResolutionState.BLOCKED: "Blocked",
}

type Identity = tuple[GraphKey, str]
type _Walk = tuple[int, ...]
"""The memories of a path, as places in `_Web.identities`."""


class _Web(NamedTuple):
    """The memories and links to walk. A memory is its place among `identities`, which are sorted.

    `steps` lists for each memory (−weight, neighbour), the strongest first; `edges` holds the strongest link of
    each pair, the lower place first.
    """

    identities: Sequence[Identity]
    steps: Sequence[Sequence[tuple[float, int]]]
    edges: Mapping[tuple[int, int], GraphEdge]

    def edge(self, one: int, other: int) -> GraphEdge:
        return self.edges[(one, other) if one < other else (other, one)]


def suggested_paths(
    nodes: Mapping[Identity, ConsciousnessNode], edges: Iterable[GraphEdge], starts: Sequence[Identity]
) -> tuple[TraversalPath, ...]:
    """The most probable whole paths from `starts`, at most ten; the head of this module says which are whole.

    `nodes` must hold both ends of each edge. Starts that are not among them are skipped.
    """
    web = _web(nodes, edges)
    place = {identity: number for number, identity in enumerate(web.identities)}
    known = [place[start] for start in dict.fromkeys(starts) if start in place]
    best: dict[_Walk, float] = {}
    for start in known:
        best.update(_best_walks(start, web))
    contained = _contained_walks(best, known, web)
    not_contained = [walk for walk in best if walk not in contained]
    whole = sorted(not_contained, key=lambda walk: (-best[walk], -len(walk), walk))
    most_probable = {walk[:-1]: walk for walk in reversed(whole)}
    chosen = [walk for walk in whole if most_probable[walk[:-1]] is walk][:MAX_PATHS]
    return tuple(_path(walk, web, nodes) for walk in chosen)


def _web(nodes: Iterable[Identity], edges: Iterable[GraphEdge]) -> _Web:
    identities = sorted(nodes)
    place = {identity: number for number, identity in enumerate(identities)}
    strongest: dict[tuple[int, int], GraphEdge] = {}
    for edge in edges:
        source, target = place[edge.graph_key, edge.source_id], place[edge.graph_key, edge.target_id]
        pair = (source, target) if source < target else (target, source)
        parallel = strongest.get(pair)
        if source != target and (parallel is None or _by_strength(edge) < _by_strength(parallel)):
            strongest[pair] = edge
    steps: list[list[tuple[float, int]]] = [[] for _ in identities]
    for (one, other), edge in strongest.items():
        steps[one].append((-edge.traversal_weight, other))
        steps[other].append((-edge.traversal_weight, one))
    return _Web(identities, [sorted(neighbours)[:MAX_NEIGHBOURS] for neighbours in steps], strongest)


def _by_strength(edge: GraphEdge) -> tuple[float, str]:
    return -edge.traversal_weight, edge.edge_id


def _best_walks(start: int, web: _Web) -> dict[_Walk, float]:
    """The best path from the start to each other memory, with its product, at least `FLOOR`.

    Best-first search. A memory is settled again when it is reached over fewer links, at a lower product, because
    fewer links may reach further; such a walk goes on but is no best path. `queued` holds the last step queued for
    each memory: a step that is worse in both, product and links, is not queued.
    """
    best: dict[_Walk, float] = {}
    fewest = [MAX_EDGES + 1] * len(web.identities)
    queued: list[tuple[float, int]] = [(0.0, 0)] * len(web.identities)
    heap: list[tuple[float, int, _Walk]] = [(-1.0, 0, (start,))]
    while heap:
        cost, hops, walk = heapq.heappop(heap)
        last = walk[-1]
        if fewest[last] <= hops:
            continue
        if hops and fewest[last] > MAX_EDGES:
            best[walk] = -cost
        fewest[last] = hops
        hops += 1
        for weight, neighbour in web.steps[last] if hops <= MAX_EDGES else ():
            onward = cost * weight
            if onward < FLOOR:
                break
            earlier = queued[neighbour]
            if fewest[neighbour] > hops and not (earlier[0] < -onward and earlier[1] <= hops):
                queued[neighbour] = (-onward, hops)
                heapq.heappush(heap, (-onward, hops, (*walk, neighbour)))
    return best


def _contained_walks(best: Mapping[_Walk, float], starts: Sequence[int], web: _Web) -> set[_Walk]:
    """The walks that another best path contains, forwards or backwards.

    A best path begins at a start. So a walk contains its own beginnings, and where it passes another start, the
    walks from there: onwards along it, and back along it. The beginnings of a walk contain nothing that the walk
    does not.
    """
    contained: set[_Walk] = set()
    for walk in best:
        for beginning in _beginnings(walk):
            if beginning in contained:
                break
            contained.add(beginning)
    for walk in [walk for walk in best if walk not in contained]:
        for place in [place for place in range(1, len(walk)) if walk[place] in starts]:
            onward, back = walk[place:], walk[place::-1]
            contained.update((onward, *_beginnings(onward), *_beginnings(back)))
            is_reverse = len(back) == len(walk)
            if not is_reverse or (
                back in best and _preference(walk, starts, web) < _preference(back, starts, web)
            ):
                contained.add(back)
    return contained


def _preference(walk: _Walk, starts: Sequence[int], web: _Web) -> tuple[int, int]:
    """Of a walk and its reverse the lower stays: more links in their direction, then the earlier start."""
    forward = sum(web.edge(*ends).source_id == web.identities[ends[0]][1] for ends in pairwise(walk))
    return -forward, starts.index(walk[0])


def _beginnings(walk: _Walk) -> Iterator[_Walk]:
    """The proper beginnings of a walk that have a link, the longest first."""
    return (walk[:end] for end in range(len(walk) - 1, 1, -1))


def _path(walk: _Walk, web: _Web, nodes: Mapping[Identity, ConsciousnessNode]) -> TraversalPath:
    memories = [nodes[web.identities[place]] for place in walk]
    edges = [web.edge(*ends) for ends in pairwise(walk)]
    ids = "\n".join((*(memory.node_id for memory in memories), *(edge.edge_id for edge in edges)))
    said = [stems(lexical_text(memory)) for memory in memories]
    coherence = list(starmap(jaccard, pairwise(said)))  # until the cosines of neighbours are read
    return TraversalPath.of_fields(
        {
            "path_id": f"{memories[0].graph_key}-{blake2b(ids.encode(), digest_size=8).hexdigest()}",
            "path_nodes": tuple([memory.node_id for memory in memories]),
            "path_edges": tuple([edge.edge_id for edge in edges]),
            "total_activation": round(sum(map(activation_score, memories)), 6),
            "semantic_coherence": round(sum(coherence) / len(coherence), 6),
            "emotional_consistency": round(emotional_consistency([edge.emotion_vector for edge in edges]), 6),
            "path_narrative": narrative(memories),
            "traversal_probability": math.prod([edge.traversal_weight for edge in edges]),
        }
    )


def graph_of(path: TraversalPath) -> GraphKey:
    """The graph of a path, which its id begins with."""
    return path.path_id.rpartition("-")[0]


def emotional_consistency(emotions: Sequence[Mapping[str, float] | None]) -> float:
    """The mean cosine of the emotions of consecutive links, in [0, 1].

    A single link counts as 1, and so do two links that both have no emotions; one with emotions and one without
    count as 0.
    """
    maps = [normal_emotions(vector or {}) for vector in emotions]
    if len(maps) < 2:
        return 1.0
    cosines: list[float] = []
    for one, other in pairwise(maps):
        felt = any(one.values()) or any(other.values())
        cosines.append(cosine_similarity(one, other) if felt else 1.0)
    return sum(cosines) / len(cosines)


def lexical_text(node: ConsciousnessNode) -> str:
    """The text that is compared by words: the description of a turn; name and description of any other memory."""
    return node.description if node.speaker else f"{node.name} {node.description}"


def short_name(node: ConsciousnessNode, width: int = MAX_NAME) -> str:
    """The name of a memory on one line of at most `width` characters; for a turn, its speaker and first words."""
    name = f"{node.speaker}: {node.description}" if node.speaker else node.name
    line = " ".join(name.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def relation_words(relation_type: str) -> str:
    """RESOLVED_BY → "resolved by"."""
    return " ".join(relation_type.lower().split("_"))


def narrative(memories: Sequence[ConsciousnessNode]) -> str:
    """A path in words, at most 240 characters: "Blocked: schema design → asked Luca → schema decided".

    The names of the memories in order, and the state of each that is not resolved, where the state is new on the
    path and the name does not say it. Long names are shortened (003, component 4: "Problem → Evidence →
    Conclusion").
    """
    full = _narrative(memories, MAX_NAME)
    if len(full) <= MAX_NARRATIVE:
        return full
    width = (MAX_NARRATIVE - 3 * (len(memories) - 1)) // len(memories) - len("In progress: ")
    return _narrative(memories, width)


def _narrative(memories: Sequence[ConsciousnessNode], width: int) -> str:
    parts: list[str] = []
    last_state: ResolutionState | None = None
    for memory in memories:
        name, state = short_name(memory, width), memory.resolution_state
        if state is not None and state is not last_state:
            last_state = state
            if state is not ResolutionState.RESOLVED and STATE_NAMES[state].lower() not in name.lower():
                name = f"{STATE_NAMES[state]}: {name}"
        parts.append(name)
    return " → ".join(parts)


type Array = np.ndarray[Any, np.dtype[np.float64]]
type Numbers = float | Array

ENERGY, GOAL, EMOTION, CONFIDENCE, TRANSFER = 0.3, 0.2, 0.3, 0.1, 0.1
"""The weights of the five factors; their sum is 1."""
SAME_GOAL, PART_OF_GOAL, OTHER_GOAL = 1.0, 0.7, 0.3
"""The match of two goals: the same, one within the other, anything else."""
NUMBERS = ("energy", "confidence", "energy_transfer_coefficient")


@dataclass(frozen=True, slots=True)
class State:
    """The goal and emotions that links are weighed by. 003 also passes the current energy, but does not use it."""

    goal: str | None = None
    emotions: Mapping[str, float] | None = None


NO_STATE: Final = State()


def goal_match(one: str | None, other: str | None) -> float:
    """1.0 for the same goal, 0.7 when one contains the other, else 0.3; 0.3 without a goal (003, component 5b)."""
    if not one or not other:
        return OTHER_GOAL
    if one == other:
        return SAME_GOAL
    return PART_OF_GOAL if one in other or other in one else OTHER_GOAL


def columns_needed(state: State) -> tuple[str, ...]:
    """The columns of links that `traversal_probabilities` reads for this state."""
    return (*NUMBERS, *(("goal",) if state.goal else ()), *(("emotion_vector",) if state.emotions else ()))


def traversal_probabilities(links: Mapping[str, Sequence[Any]], state: State = NO_STATE) -> Array:
    """The probability, in [0, 1], that each link is followed from this state; one rule for spreading and for
    paths.

    0.3 energy + 0.2 goal + 0.3 resonance + 0.1 confidence + 0.1 transfer (003, component 5b), where goal is a
    `goal_match` and resonance the cosine of emotions. `links`: the columns that `columns_needed` names, each with
    one value for each link.
    """
    energy, confidence, transfer = (
        np.fromiter(map(float, links[name]), np.float64, len(links[name])) for name in NUMBERS
    )
    goal: Numbers = OTHER_GOAL
    if state.goal:
        matches = {named: goal_match(named, state.goal) for named in set(links["goal"])}
        goal = np.array([matches[named] for named in links["goal"]], np.float64)
    resonance: Numbers = 0.0
    if state.emotions:
        resonance = cosine_similarities(links["emotion_vector"], normal_emotions(state.emotions))
    weighted = ENERGY * energy + GOAL * goal + EMOTION * resonance + CONFIDENCE * confidence + TRANSFER * transfer
    return np.clip(weighted, 0.0, 1.0)
