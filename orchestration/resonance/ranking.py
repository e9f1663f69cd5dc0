"""Wave retrieval: the weights of the channels, and the order of the resonating memories (000, 002). Pure.

The scores themselves are computed in the database, by `substrate.store.resonance`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from orchestration.algorithms import RELEVANCE_SHARE, jaccard, maximal_marginal_relevance
from orchestration.ranking.plurality import DAY, split_by_week
from schemas.memory import ConsciousnessNode, GraphKey
from schemas.temporal import Instant, to_instant
from schemas.wave_signal import CHANNELS, Channel, ContextEdge, ContextNode, Resonance, Weights
from substrate.emotions import normal_emotions
from substrate.store.resonance import JUST_NOW, ResonatingMemory, Triple

UNSATISFIED: Final = 0.3
"""A drive with a satisfaction below this acts on the signal (002)."""
PAIN: Final = 0.5
"""A pain above this is an emotion and a result of the signal (002)."""
PER_EMOTION: Final = 2
"""So many memories of each emotion are placed before all further ones (002, post-scoring)."""
MOST_NODES: Final = 32
"""So many entities of a memory are shown."""


class Echo(NamedTuple):
    """A resonating memory with its dominant emotion, the ids of the entities around it, and its links."""

    resonance: Resonance
    emotion: str | None
    around: frozenset[str]
    links: tuple[Triple, ...] = ()

    @classmethod
    def from_row(cls, memory: ResonatingMemory) -> Echo:
        emotion = dominant_emotion(memory.resonance.memory)
        return cls(memory.resonance, emotion, memory.entity_ids, memory.links)

    @property
    def graph(self) -> GraphKey:
        return self.resonance.memory.graph_key

    def ends(self) -> set[str]:
        """The ids of all memories that its nodes and edges name."""
        return {*self.around, *chain.from_iterable((link.source_id, link.target_id) for link in self.links)}

    def in_context(self, names: Mapping[str, str]) -> Resonance:
        """The resonance with its nodes and edges (002); an end without a name in `names` is shown by its id."""
        nodes = [ContextNode(node_id=one, name=names.get(one, one)) for one in sorted(self.around)]
        edges = [
            ContextEdge(
                **link._asdict(),
                source=names.get(link.source_id, link.source_id),
                target=names.get(link.target_id, link.target_id),
            )
            for link in sorted(self.links)
        ]
        return self.resonance.model_copy(update={"nodes": tuple(nodes[:MOST_NODES]), "edges": tuple(edges)})


def suppression(shown_at: Instant, now: Instant) -> float:
    """The factor on a memory shown at `shown_at`: 0.2 at once, rising linearly to 1.0 after 24 hours (002)."""
    age = min(1.0, max(0, now - shown_at) / DAY)
    return JUST_NOW + (1.0 - JUST_NOW) * age


def effective_weights(
    weights: Weights, silent: frozenset[Channel], intensity: float, biases: Sequence[Mapping[Channel, float]]
) -> dict[Channel, float]:
    """Each weight × the bias of each drive; for emotion also × intensity; 0 for `silent` channels (000)."""
    effective: dict[Channel, float] = {}
    for channel in CHANNELS:
        weight = 0.0 if channel in silent else getattr(weights, channel)
        for bias in biases:
            weight *= bias.get(channel, 1.0)
        effective[channel] = weight * intensity if channel == "emotion" else weight
    return effective


def dominant_emotion(memory: ConsciousnessNode) -> str | None:
    """The strongest emotion of a memory in normal form, the first by name of equal ones; None without emotions."""
    felt = normal_emotions(memory.emotion_vector or {})
    return min(felt, key=lambda emotion: (-felt[emotion], emotion)) if any(felt.values()) else None


def choose(echoes: Sequence[Echo], limit: int, per_week: int | None = None) -> list[Echo]:
    """The memories to show, at most `limit`: first at most two of each emotion, then the others; each part by MMR.

    `echoes` come strongest first; memories without an emotion all belong to the first part. With plurality, at
    most `per_week` memories of a week come before further ones of that week.
    """
    weeks = (echoes,) if per_week is None else split_by_week(echoes, _valid_at, per_week)
    chosen: list[Echo] = []
    for part in chain.from_iterable(map(split_by_emotion, weeks)):
        chosen += islice(diversify(part, chosen), limit - len(chosen))
    return chosen


def active_rules(shown: Iterable[Resonance]) -> tuple[str, ...]:
    """The rules of these memories, each once, in their order (002: unique non-empty rules)."""
    rules = ((one.memory.rule or "").strip() for one in shown)
    return tuple(dict.fromkeys(filter(None, rules)))


def _valid_at(echo: Echo) -> Instant:
    return to_instant(echo.resonance.memory.valid_at)


def split_by_emotion(echoes: Sequence[Echo]) -> tuple[list[Echo], list[Echo]]:
    """Two lists, both in the given order: two of each emotion and all without emotion; then all others."""
    seen: Counter[str] = Counter()
    first: list[Echo] = []
    rest: list[Echo] = []
    for echo in echoes:
        if echo.emotion is not None:
            seen[echo.emotion] += 1
        (rest if echo.emotion is not None and seen[echo.emotion] > PER_EMOTION else first).append(echo)
    return first, rest


def diversify(echoes: Sequence[Echo], before: Sequence[Echo] = ()) -> Iterator[Echo]:
    """Order by MMR (002): strong echoes first, unless they share entities with `before` or with chosen ones."""

    def similarity(place: int, others: Sequence[int]) -> list[float]:
        return [jaccard(echoes[other].around, echoes[place].around) for other in others]

    strengths = [RELEVANCE_SHARE * echo.resonance.resonance for echo in echoes]
    nearest = [_nearest(echo, before) for echo in echoes]
    places = maximal_marginal_relevance(strengths, similarity, 1 - RELEVANCE_SHARE, nearest)
    return (echoes[place] for place in places)


def _nearest(echo: Echo, others: Iterable[Echo]) -> float:
    return max((jaccard(echo.around, other.around) for other in others), default=0.0)
