"""Wave retrieval: the weights of the channels, and the order of the resonating memories (000, 002). Pure.

The scores themselves are computed in the database, by `substrate.store.resonance`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, islice
from typing import Final, NamedTuple

from orchestration.algorithms import jaccard, maximal_marginal_relevance
from orchestration.ranking.consciousness_score import DAY, split_by_week
from orchestration.ranking.relevance import count_stems
from orchestration.writing.appraised_rows import NO_STATEMENTS
from schemas.memory import ConsciousnessNode, GraphKey
from schemas.mind.state import CitizenState
from schemas.temporal import Instant, to_instant
from schemas.wave_signal import CHANNELS, Channel, ContextEdge, ContextNode, Resonance, Weights
from substrate.emotions import normal_emotions
from substrate.language.text import name_key
from substrate.store.resonance import JUST_NOW, ResonatingMemory, Triple

UNSATISFIED: Final = 0.3
"""A drive with a satisfaction below this acts on the signal (002)."""
PAIN: Final = 0.5
"""A pain above this is an emotion and a result of the signal (002)."""
PER_EMOTION: Final = 2
"""This many memories of each emotion are placed before all further ones (002, post-scoring)."""
MOST_NODES: Final = 32
"""This many entities of a memory are shown."""
SAID_BY: Final = "SAID_BY"
RELEVANCE_SHARE: Final = 0.85
"""λ of MMR. 002 names none; with .7 two memories of one person push each other out of seven."""
ANSWERED: Final = 0.5
"""The factor on what an answering side said: it repeats what was asked, and most of it is advice or praise."""


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
    def subjects(self) -> frozenset[str]:
        """The entities around it without its speaker: who said something is not what it is about."""
        said_by = (link.target_id for link in self.links or self.resonance.edges if link.relation_type == SAID_BY)
        return self.around.difference(said_by)

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


class SignalWords(NamedTuple):
    """The weight of each stem of a signal in each graph, their language, and the speakers who count less."""

    weights: Mapping[GraphKey, Mapping[str, float]]
    language: str
    answering: AbstractSet[str] = frozenset()


def complete(
    echoes: Sequence[Echo], signal: SignalWords, weights: Mapping[Channel, float], key: GraphKey
) -> list[Echo]:
    """The echoes of a graph with the two channels that the words of a signal fill.

    `words`: the share of the words that the memory has, each by its inverse document frequency, as 002 counts
    nodes. `beside`: the greatest score of a memory that it is linked with, because what was said next to a hit, or
    solved it, belongs to it. A name has neither.
    """
    own = signal.weights.get(key, {})
    whole = max(sum(of_graph.values()) for of_graph in signal.weights.values()) or 1.0
    memories = [echo.resonance.memory for echo in echoes]
    texts = [f"{'' if memory.speaker else memory.name} {memory.description}" for memory in memories]
    held = count_stems(texts, own, signal.language)
    direct = sum(weights.values()) - weights["beside"] or 1.0
    shares: dict[str, float] = {}
    scores: dict[str, float] = {}
    for place, memory in enumerate(memories):
        if memory.node_type.lower() not in NO_STATEMENTS:
            share = shares[memory.node_id] = sum(map(own.__getitem__, held.get(place, ()))) / whole
            scores[memory.node_id] = (echoes[place].resonance.total + weights["words"] * share) / direct
    done = []
    for echo, memory in zip(echoes, memories, strict=True):
        had, share = echo.resonance, shares.get(memory.node_id, 0.0)
        near = scores.keys() & echo.ends() - {memory.node_id} if memory.node_id in shares else ()
        beside = min(1.0, max(map(scores.__getitem__, near), default=0.0))
        total = had.total + weights["words"] * share + weights["beside"] * beside
        suppression = had.suppression * (ANSWERED if name_key(memory.speaker or "") in signal.answering else 1.0)
        fields = {
            "total": round(total, 6),
            "resonance": round(total / sum(weights.values()) * suppression * had.level_boost, 6),
            "suppression": round(suppression, 6),
            "channels": {**had.channels, "words": round(share, 6), "beside": round(beside, 6)},
        }
        done.append(echo._replace(resonance=had.model_copy(update=fields)))
    return done


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
    return strongest_emotion(normal_emotions(memory.emotion_vector or {}))


def strongest_emotion(felt: Mapping[str, float]) -> str | None:
    """The same of emotions in normal form."""
    return min(felt, key=lambda emotion: (-felt[emotion], emotion)) if any(felt.values()) else None


def low_drives(state: CitizenState) -> dict[str, float]:
    """The satisfaction of the drives of a state that act on the signal."""
    return {name: drive.satisfaction for name, drive in state.drives.items() if drive.satisfaction < UNSATISFIED}


def choose(echoes: Sequence[Echo], limit: int, per_week: int | None = None) -> list[Echo]:
    """The memories to show, at most `limit`: first at most two of each emotion, then the others; each part by MMR.

    `echoes` come strongest first; memories without an emotion all belong to the first part. With plurality, at
    most `per_week` memories of a week come before further ones of that week.
    """
    weeks = (
        (echoes,)
        if per_week is None
        else split_by_week(echoes, lambda echo: to_instant(echo.resonance.memory.valid_at), per_week)
    )
    chosen: list[Echo] = []
    for part in chain.from_iterable(map(split_by_emotion, weeks)):
        chosen += islice(diversify(part, chosen), limit - len(chosen))
    return chosen


def active_rules(shown: Iterable[Resonance]) -> tuple[str, ...]:
    """The rules of these memories, each once, in their order (002: unique non-empty rules)."""
    rules = ((one.memory.rule or "").strip() for one in shown)
    return tuple(dict.fromkeys(filter(None, rules)))


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
    """Order by MMR (002): strong echoes first, unless they are about the same as `before` or chosen ones.

    Strength counts as a share of the greatest, because a likeness of nodes has the whole range of 0 to 1.
    """

    def similarity(place: int, others: Sequence[int]) -> list[float]:
        return [jaccard(echoes[other].subjects, echoes[place].subjects) for other in others]

    best = max((echo.resonance.resonance for echo in echoes), default=0.0) or 1.0
    strengths = [RELEVANCE_SHARE * echo.resonance.resonance / best for echo in echoes]
    nearest: list[float] = []
    for echo in echoes:
        nearest.append(max((jaccard(echo.subjects, other.subjects) for other in before), default=0.0))
    places = maximal_marginal_relevance(strengths, similarity, 1 - RELEVANCE_SHARE, nearest)
    return (echoes[place] for place in places)
