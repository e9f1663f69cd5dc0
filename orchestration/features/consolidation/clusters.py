"""Which memories of a window belong together, so that one generalisation can stand for them (002). Pure.

002's rule: at least three memories of one abstraction that share at least two nodes. What made its generalisations
tell of one subject was that nodes which nearly all memories have counted as shared, and that the same memories
were generalised again. Here a node that too many memories have is no subject, all members of a cluster have the
same two nodes, and what a generalisation stands for is out of play.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchestration.algorithms import inverse_document_frequency
from schemas.memory import Abstraction
from schemas.temporal import Instant

FEWEST: Final = 3
"""Members of a cluster (002)."""
SHARED: Final = 2
"""Nodes that its members share (002)."""
MOST_MEMBERS: Final = 200
MOST_NODES: Final = 10
"""This many nodes of a memory are paired, the rarest: 45 pairs at most."""
HUB_SHARE: Final = 0.25
FEW_HOLDERS: Final = 12
"""A node that more than a quarter of all memories have, and more than these, is no subject."""
NEAR: Final = 0.6
"""Cosine from which two texts are near in meaning."""
NEAR_IN_TIME: Final = 7 * 24 * 3600 * 1_000_000
"""Microseconds within which they are near in time."""
NEXT: Final[Mapping[Abstraction, Abstraction]] = {"L0": "L1", "L1": "L2", "L2": "L3"}
"""The abstraction of a generalisation by that of its members; nothing generalises L3."""


class Item(NamedTuple):
    """A memory of the window. `nodes`: the ids of what it is about, and its tags. `vector`: of its text, not
    normalised; None without an embedding. `known`: since when it is stored as it is."""

    id: str
    abstraction: Abstraction
    time: Instant
    nodes: frozenset[str] = frozenset()
    vector: Sequence[float] | None = None
    known: Instant = 0


class Made(NamedTuple):
    """A generalisation that was made before. `left`: memories that were its members once.

    `live`: it holds. One that was undone or retracted is not made again. `known`: since when it is stored as it
    is. What was there before is no member for a reason, so that only newer memories let it grow.
    """

    id: str
    members: frozenset[str]
    live: bool = True
    left: frozenset[str] = frozenset()
    known: Instant = -1


class Holders(NamedTuple):
    """How many memories of the graph have each node, and how many memories there are."""

    counts: Mapping[str, int]
    total: int

    def is_hub(self, node: str) -> bool:
        """Whether this many memories have the node that it tells nothing of what one of them is about."""
        return self.counts.get(node, 0) > max(FEW_HOLDERS, HUB_SHARE * self.total)

    def subjects(self, nodes: Iterable[str]) -> frozenset[str]:
        """The nodes that are no hubs."""
        return frozenset(node for node in nodes if not self.is_hub(node))

    def weight(self, node: str) -> float:
        """How rare the node is, above 0."""
        return inverse_document_frequency(self.counts.get(node, 1), self.total)


class Cluster(NamedTuple):
    """Memories that belong together, the earliest first, and the nodes that at least half of them have, the rarest
    first. `grows`: the generalisation of which these are the members from now on; None for a new one."""

    abstraction: Abstraction
    members: tuple[str, ...]
    nodes: tuple[str, ...]
    grows: str | None = None


def find_clusters(items: Collection[Item], made: Collection[Made], holders: Holders) -> list[Cluster]:
    """The clusters of a window: those that grow, then new ones, by shared nodes and then by meaning and time.

    The members of a new cluster are of no other, and of no live generalisation. One that shares half of its
    members with a generalisation that was made before is left out. The order of `items` makes no difference.
    """
    found: list[Cluster] = []
    for abstraction in NEXT:
        alike = [item for item in items if item.abstraction == abstraction]
        window = _Window(sorted(alike, key=lambda item: item.id), holders)
        found += window.grow(made)
        new = (*window.by_nodes(), *window.by_meaning())
        found += [cluster for cluster in new if not _was_made(cluster, made)]
    return found


def _was_made(cluster: Cluster, made: Iterable[Made]) -> bool:
    """Whether at least half of the members are, or were, those of one generalisation."""
    members = set(cluster.members)
    return any(2 * len(members & (each.members | each.left)) >= len(members) for each in made)


def medoid(vectors: Sequence[Sequence[float] | None], nodes: Sequence[Collection[str]]) -> int:
    """The place of the member that is most like the others: by cosine, without vectors by shared nodes.

    Of equal ones the first.
    """
    if vectors and all(vector is not None for vector in vectors):
        totals = _similarities([vector for vector in vectors if vector is not None]).sum(axis=1)
        return int(np.argmax(np.round(totals, 6)))
    counts = Counter(node for some in nodes for node in some)
    return max(range(len(nodes)), key=lambda place: (sum(counts[node] for node in nodes[place]), -place))


def _similarities(vectors: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    matrix = np.array(vectors, dtype=np.float64)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    return np.asarray(unit @ unit.T)


@dataclass(slots=True)
class _Window:
    """The items of one abstraction; `free` are the places of those that stand in no cluster yet."""

    items: Sequence[Item]
    holders: Holders
    free: set[int] = field(init=False)
    subjects: list[frozenset[str]] = field(init=False)
    near: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.free = set(range(len(self.items)))
        self.subjects = [self.holders.subjects(item.nodes) for item in self.items]
        # Whether two items are near in meaning and time; an item with a vector is near to itself.
        self.near = np.zeros((len(self.items), len(self.items)), dtype=np.bool_)
        places = [place for place, item in enumerate(self.items) if item.vector is not None]
        if places:
            vectors = [vector for item in self.items if (vector := item.vector) is not None]
            times = np.array([self.items[place].time for place in places])
            in_time = np.abs(times[:, None] - times[None, :]) <= NEAR_IN_TIME
            self.near[np.ix_(places, places)] = (_similarities(vectors) >= NEAR) & in_time

    def grow(self, made: Iterable[Made]) -> Iterator[Cluster]:
        """The live generalisations that more memories belong to now; what is their members is free no longer."""
        places = {item.id: place for place, item in enumerate(self.items)}
        live = [each for each in made if each.live]
        for each in live:
            self.free.difference_update(places[member] for member in each.members if member in places)
        for each in sorted(live, key=lambda each: each.id):
            known = [places[member] for member in sorted(each.members) if member in places]
            if len(known) < FEWEST or len(known) < len(each.members):
                continue
            newer = {place for place in self.free if self.items[place].known > each.known}
            held_apart = {place for place in newer if self.items[place].id in each.left}
            joined = self._absorb(known, newer - held_apart)
            self.free.difference_update(joined)
            if joined[len(known) :] and len(known) < MOST_MEMBERS:
                yield self._cluster(joined[:MOST_MEMBERS], each.id)

    def by_nodes(self) -> Iterator[Cluster]:
        """New clusters of memories that have the same two nodes: those of the most and rarest first."""
        groups = self._pairs()
        weights = {pair: sum(map(self.holders.weight, pair)) for pair in groups}
        while groups:
            still_free = ((pair, group & self.free) for pair, group in groups.items())
            groups = {pair: left for pair, left in still_free if len(left) >= FEWEST}
            if groups:
                best = min(groups, key=lambda pair: (-len(groups[pair]) * weights[pair], pair))
                yield self._take(sorted(groups.pop(best)))

    def by_meaning(self) -> Iterator[Cluster]:
        """New clusters of a memory and all that are near to it in meaning and time."""
        while self.free:
            places = sorted(self.free)
            counts = self.near[np.ix_(places, places)].sum(axis=1)
            seed = int(np.argmax(counts))
            if counts[seed] < FEWEST:
                return
            yield self._take([place for place in places if self.near[places[seed], place]])

    def _pairs(self) -> dict[tuple[str, str], set[int]]:
        groups: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for place in self.free:
            rarest = sorted(self.subjects[place], key=lambda node: (-self.holders.weight(node), node))[:MOST_NODES]
            for pair in combinations(sorted(rarest), SHARED):
                groups[pair].add(place)
        return dict(groups)

    def _take(self, core: list[int]) -> Cluster:
        taken = self._absorb(core, self.free - set(core))
        self.free.difference_update(taken)
        return self._cluster(taken[:MOST_MEMBERS])

    def _absorb(self, core: Sequence[int], others: Collection[int]) -> list[int]:
        """The core, and of the others all that fit it; again with these, until none fits.

        What fits has two nodes of the members, or is near to at least half of them.
        """
        taken, left = list(core), sorted(others)
        while left:
            profile = set(self._profile(taken))
            close = self.near[np.ix_(left, taken)].sum(axis=1)
            fitting = [
                place
                for place, count in zip(left, close, strict=True)
                if len(self.subjects[place] & profile) >= SHARED or 2 * count >= len(taken)
            ]
            if not fitting:
                break
            taken += fitting
            left = [place for place in left if place not in set(fitting)]
        return taken

    def _profile(self, members: Sequence[int]) -> list[str]:
        """The nodes that at least half of the members have, the rarest first."""
        counts = Counter(node for place in members for node in self.subjects[place])
        shared = [node for node, count in counts.items() if 2 * count >= len(members)]
        return sorted(shared, key=lambda node: (-self.holders.weight(node), node))

    def _cluster(self, places: Sequence[int], grows: str | None = None) -> Cluster:
        some = sorted((self.items[place] for place in places), key=lambda item: (item.time, item.id))
        return Cluster(some[0].abstraction, tuple(item.id for item in some), tuple(self._profile(places)), grows)
