"""Paths of thought: where attention would go from what is in focus (003, components 4 and 5b). Pure.

**What is suggested.** From each memory in focus (a *start*), to each memory that it can reach, there is one
*best path*: the greatest product of edge weights among the paths of at most `MAX_EDGES` links, walked in
either direction, with no memory twice; of equal ones the shorter, then the one whose memories come first by id.
Since no weight is above 1, a longer path is never more probable than its own beginning. So a best path is
suggested only when it is *whole*:

1. its product is at least `FLOOR` (fainter thoughts are not thought to their end);
2. no other such best path contains it, forwards or backwards; of a path and its own reverse, the one that
   follows more links in their direction stays, then the one whose start comes first;
3. of those that differ in nothing but their last memory, it is the most probable: a fan of like endings is one
   thought.

The `MAX_PATHS` most probable are given, of equal ones the longer, then by ids.

**Bounds.** From a memory only its `STRONGEST` neighbours are walked to (by weight, then id); of parallel links
the strongest counts. A search settles each memory at most `MAX_EDGES` times, so a hub costs what any other
memory costs.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Final, NamedTuple

from schemas.memory import ConsciousnessNode, Level, ResolutionState
from schemas.stream_parts import GraphEdge, TraversalPath
from substrate.emotions import cosine_similarity, normal_emotions
from substrate.text import stems

MAX_PATHS: Final = 10
MAX_EDGES: Final = 5
STRONGEST: Final = 32
FLOOR: Final = 0.02
LONGEST_NARRATIVE: Final = 240
LONGEST_NAME: Final = 60
STATES: Final = {
    ResolutionState.RESOLVED: "Resolved",
    ResolutionState.IN_PROGRESS: "In progress",
    ResolutionState.BLOCKED: "Blocked",
}

type Identity = tuple[Level, str]
type Likeness = Mapping[tuple[Level, str, str], float]
"""Cosine of the embeddings of two memories of a level, under either order of their ids."""
type _Walk = tuple[int, ...]
"""The places in `_Web.names` of the memories of a path."""


class _Web(NamedTuple):
    """What can be walked. A memory is its place among `names`, which are in order.

    `steps` lists for each memory (−weight, neighbour), strongest first; `edges` holds the strongest link of
    each pair, the lower place first.
    """

    names: Sequence[Identity]
    steps: Sequence[Sequence[tuple[float, int]]]
    edges: Mapping[tuple[int, int], GraphEdge]

    def edge(self, one: int, other: int) -> GraphEdge:
        """The link that is walked between two neighbours."""
        return self.edges[(one, other) if one < other else (other, one)]


def activation_score(node: ConsciousnessNode) -> float:
    """How strongly a memory is active, in [0, 1]: its relevance after spreading."""
    return max(0.0, min(1.0, node.relevance_score))


def suggested_paths(
    nodes: Mapping[Identity, ConsciousnessNode],
    edges: Iterable[GraphEdge],
    starts: Sequence[Identity],
    likeness: Likeness | None = None,
) -> tuple[TraversalPath, ...]:
    """The most probable whole paths from `starts`, at most ten; see the head of this room for what is whole.

    `nodes` must hold both ends of each edge. Starts that are not among them are passed over.
    """
    web = _web(nodes, edges)
    place = {name: number for number, name in enumerate(web.names)}
    known = [place[start] for start in dict.fromkeys(starts) if start in place]
    best = {walk: product for start in known for walk, product in _best_walks(start, web).items()}
    covered = _covered(best, known, web)
    whole = sorted(
        (walk for walk in best if walk not in covered), key=lambda walk: (-best[walk], -len(walk), walk)
    )
    endings = {walk[:-1]: walk for walk in reversed(whole)}
    chosen = [walk for walk in whole if endings[walk[:-1]] is walk][:MAX_PATHS]
    return tuple(
        _path([nodes[web.names[at]] for at in walk], [web.edge(*ends) for ends in pairwise(walk)], likeness or {})
        for walk in chosen
    )


def _web(nodes: Iterable[Identity], edges: Iterable[GraphEdge]) -> _Web:
    names = sorted(nodes)
    place = {name: number for number, name in enumerate(names)}
    strongest: dict[tuple[int, int], GraphEdge] = {}
    for edge in edges:
        source, target = place[edge.level, edge.source_id], place[edge.level, edge.target_id]
        pair = (source, target) if source < target else (target, source)
        other = strongest.get(pair)
        if source != target and (other is None or _by_strength(edge) < _by_strength(other)):
            strongest[pair] = edge
    steps: list[list[tuple[float, int]]] = [[] for _ in names]
    for (one, other_end), edge in strongest.items():
        steps[one].append((-edge.traversal_weight, other_end))
        steps[other_end].append((-edge.traversal_weight, one))
    return _Web(names, [sorted(there)[:STRONGEST] for there in steps], strongest)


def _by_strength(edge: GraphEdge) -> tuple[float, str]:
    return -edge.traversal_weight, edge.edge_id


def _best_walks(start: int, web: _Web) -> dict[_Walk, float]:
    """The best path from the start to each other memory, with its product, down to the floor.

    Best-first. A memory may be settled again over fewer links and a lower product, because fewer links may
    reach further; such a walk goes on but is nobody's best. `seen` holds the last step put off to a memory, so
    that one that is worse in both is not.
    """
    best: dict[_Walk, float] = {}
    fewest = [MAX_EDGES + 1] * len(web.names)
    seen: list[tuple[float, int]] = [(0.0, 0)] * len(web.names)
    heap: list[tuple[float, int, _Walk]] = [(-1.0, 0, (start,))]
    while heap:
        cost, hops, walk = heapq.heappop(heap)
        here = walk[-1]
        if fewest[here] <= hops:
            continue
        if hops and fewest[here] > MAX_EDGES:
            best[walk] = -cost
        fewest[here] = hops
        hops += 1
        for weight, there in web.steps[here] if hops <= MAX_EDGES else ():
            onward = cost * weight
            if onward < FLOOR:
                break
            earlier = seen[there]
            if fewest[there] > hops and not (earlier[0] < -onward and earlier[1] <= hops):
                seen[there] = (-onward, hops)
                heapq.heappush(heap, (-onward, hops, (*walk, there)))
    return best


def _covered(best: Mapping[_Walk, float], starts: Sequence[int], web: _Web) -> set[_Walk]:
    """The best paths that another one contains: its beginnings, and what follows a further start on it.

    Every best path begins at a start, so nothing else can be contained; and what a beginning contains, the
    path that goes on from it contains too.
    """
    covered: set[_Walk] = set()
    for walk in best:
        beginning = walk[:-1]
        while len(beginning) > 1 and beginning not in covered:
            covered.add(beginning)
            beginning = beginning[:-1]
    rank = {start: place for place, start in enumerate(starts)}
    meeting = [walk for walk in best if walk not in covered and not rank.keys().isdisjoint(walk[1:])]
    for walk in meeting:
        last = len(walk) - 1
        for place in range(1, last + 1):
            if walk[place] in rank:
                covered.update(walk[place:end] for end in range(place + 2, last + 2))
                back = walk[place::-1]
                covered.update(back[:length] for length in range(2, len(back) + (place < last)))
                if place == last and back in best and _rather(walk, rank, web) < _rather(back, rank, web):
                    covered.add(back)
    return covered


def _rather(walk: _Walk, rank: Mapping[int, int], web: _Web) -> tuple[int, int]:
    """Sorted: the path that follows more links in their direction first, then by the order of the starts."""
    along = sum(web.edge(*ends).source_id == web.names[ends[0]][1] for ends in pairwise(walk))
    return -along, rank[walk[0]]


def _path(memories: Sequence[ConsciousnessNode], edges: Sequence[GraphEdge], likeness: Likeness) -> TraversalPath:
    ids = "\n".join((*(memory.node_id for memory in memories), *(edge.edge_id for edge in edges)))
    pairs = list(pairwise(memories))
    return TraversalPath(
        path_id=f"{memories[0].level}-{blake2b(ids.encode(), digest_size=8).hexdigest()}",
        path_nodes=tuple(memory.node_id for memory in memories),
        path_edges=tuple(edge.edge_id for edge in edges),
        total_activation=round(sum(activation_score(memory) for memory in memories), 6),
        semantic_coherence=round(sum(_alike(*pair, likeness) for pair in pairs) / len(pairs), 6),
        emotional_consistency=round(emotional_consistency([edge.emotion_vector for edge in edges]), 6),
        path_narrative=narrative(memories),
        traversal_probability=math.prod(edge.traversal_weight for edge in edges),
    )


def level_of(path: TraversalPath) -> Level:
    """The level that a path runs in: its id begins with it."""
    return Level(path.path_id.partition("-")[0])


def _alike(one: ConsciousnessNode, other: ConsciousnessNode, likeness: Likeness) -> float:
    """Likeness of two memories in [0, 1]: the cosine given, or else the share of stems that they share."""
    given = likeness.get((one.level, one.node_id, other.node_id))
    if given is None:
        given = likeness.get((one.level, other.node_id, one.node_id))
    if given is not None:
        return max(0.0, min(1.0, given))
    left, right = stems(said(one)), stems(said(other))
    either = len(left | right)
    return len(left & right) / either if either else 0.0


def emotional_consistency(felt: Sequence[Mapping[str, float] | None]) -> float:
    """Mean cosine of the emotions of consecutive links, in [0, 1].

    One link is consistent with itself, and two that were not felt with one another: 1. From a link that was
    felt to one that was not: 0.
    """
    normal = [normal_emotions(emotions or {}) for emotions in felt]
    pairs = list(pairwise(normal))
    if not pairs:
        return 1.0
    return sum(_same_feeling(one, other) for one, other in pairs) / len(pairs)


def _same_feeling(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    if not any(one.values()) and not any(other.values()):
        return 1.0
    return cosine_similarity(one, other)


def said(node: ConsciousnessNode) -> str:
    """The text whose words count: what was said, or name and description."""
    return node.description if node.speaker else f"{node.name} {node.description}"


def called(node: ConsciousnessNode, width: int = LONGEST_NAME) -> str:
    """What a memory is called, on one line of at most `width` characters; a turn by speaker and first words."""
    name = f"{node.speaker}: {node.description}" if node.speaker else node.name
    line = " ".join(name.split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def relation_words(relation_type: str) -> str:
    """RESOLVED_BY → "resolved by"."""
    return " ".join(relation_type.lower().split("_"))


def narrative(memories: Sequence[ConsciousnessNode]) -> str:
    """A path as a person reads it, at most 240 characters (003, component 4: "Problem → Evidence → Conclusion").

    "Blocked: schema design → asked Luca → schema decided": what the memories are called, in the order of the
    thought, and what of it is open, where that is new on the path and the name does not say it. Long names are
    shortened.
    """
    whole = _told(memories, LONGEST_NAME)
    if len(whole) <= LONGEST_NARRATIVE:
        return whole
    room = (LONGEST_NARRATIVE - 3 * (len(memories) - 1)) // len(memories) - len("In progress: ")
    return _told(memories, room)


def _told(memories: Sequence[ConsciousnessNode], width: int) -> str:
    parts: list[str] = []
    stated: ResolutionState | None = None
    for memory in memories:
        name, state = called(memory, width), memory.resolution_state
        if state is not None and state is not stated:
            stated = state
            if state is not ResolutionState.RESOLVED and STATES[state].lower() not in name.lower():
                name = f"{STATES[state]}: {name}"
        parts.append(name)
    return " → ".join(parts)
