"""The Tag-Walker's decisions (001): which hits are anchors, which tags are bridges, how memories score. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from orchestration.algorithms import inverse_document_frequency, okapi_bm25
from orchestration.assembly.budget import Budget
from orchestration.features.association.queries import AnchorPath, MeasuredMemory
from orchestration.features.association.values import Associated, Bridge
from orchestration.ranking.candidates import Key
from orchestration.ranking.consciousness_score import split_by_week
from orchestration.ranking.relevance import count_held
from orchestration.ranking.texts import ReadText
from orchestration.writing.records import count_terms, given_tags, indexed_text, tag_names
from schemas.memory import ConsciousnessNode, GraphKey, graph_fields
from schemas.temporal import to_instant
from substrate.language.text import stems

ANCHOR_PERCENT: Final = 70
"""Percentage of the characters that anchors may fill; neighbours get the rest (001)."""
BOOST: Final = 2.0
"""Factor on the BM25 of a hit with a word of the question in a tag, a bucket or the speaker's name (001)."""
WALK_STARTS: Final = 60
"""The best anchors whose tags and links are followed. More changed nothing on the development conversations."""
MAX_BRIDGES: Final = 64
LINK_SHARES: Final = (0.5, 0.3)
"""The share of an anchor's relevance that a memory one link and two links away gets. On the development
conversations recall@10 was .64 without, and .71 to .73 with values from (.4, .2) to (.6, .3)."""
TAG_SHARE: Final = 0.4
"""A shared tag adds this × its weight to a score. Chosen on the development conversations."""
_DIGITS: Final = 6


class TagKey(NamedTuple):
    """A `#tag`, `@bucket` or made tag of one graph, by the name of its node."""

    graph: GraphKey
    name: str


@dataclass(frozen=True, slots=True)
class AssociationHit:
    """A memory that a query returned.

    `terms`: its length in words without stop words. `words`: its BM25. `boosted`: `words` was doubled. `paths`:
    how links lead to it from anchors. `made`: the names of its made tags, of those that are followed. `derived`:
    what is computed of its record alone, which other questions find here.
    """

    memory: ConsciousnessNode
    terms: int
    words: float = 0.0
    boosted: bool = False
    paths: tuple[AnchorPath, ...] = ()
    made: tuple[str, ...] = ()
    derived: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_row(cls, measured: MeasuredMemory, followed: Sequence[str] = ()) -> AssociationHit:
        """A hit from a row; counts the length if none is stored. `followed`: the tags of the walk, in order."""
        length = count_terms(vars(measured.memory)) if measured.terms is None else measured.terms
        made = tuple(followed[place] for place in measured.made)
        return cls(measured.memory, length, paths=measured.paths, made=made, derived=measured.derived)

    @property
    def key(self) -> Key:
        return self._read.key

    @property
    def text(self) -> ReadText:
        """What word search reads of it."""
        return self._read.text

    @property
    def label_stems(self) -> Set[str]:
        """The stems of its tags, its buckets and its speaker."""
        return self._read.label_stems

    @property
    def tags(self) -> Sequence[TagKey]:
        """Its tags and buckets, the made ones last."""
        given = self._read.tags
        if not self.made:
            return given
        graph = self.memory.graph_key
        return list(dict.fromkeys((*given, *(TagKey(graph, name) for name in self.made))))

    @property
    def _read(self) -> _MemoryReading:
        found: _MemoryReading | None = self.derived.get("hit")
        if found is None:
            memory, content, graph = self.memory, vars(self.memory), self.memory.graph_key
            labels = " ".join((*given_tags(content), *memory.buckets, memory.speaker or "")).replace("_", " ")
            names = dict.fromkeys(tag_names(memory.tags, memory.buckets))
            found = self.derived["hit"] = _MemoryReading(
                (graph, memory.node_id, memory.version),
                ReadText(indexed_text(content)),
                stems(labels),
                tuple(TagKey(graph, name) for name in names),
            )
        return found


class _MemoryReading(NamedTuple):
    """What is read of a memory, whatever is asked."""

    key: Key
    text: ReadText
    label_stems: Set[str]
    tags: Sequence[TagKey]


class QueryTerms(NamedTuple):
    """The stems of a question; by level, the weight of each stem, the mean length and the number of memories.

    A stem that is in no text has no weight, but it may be part of a speaker's name.
    """

    stems: frozenset[str]
    weights: Mapping[GraphKey, Mapping[str, float]]
    mean_terms: Mapping[GraphKey, float]
    memory_counts: Mapping[GraphKey, int]


def score_words(hits: Iterable[AssociationHit], query: QueryTerms) -> list[AssociationHit]:
    """The hits with their BM25, doubled when a tag, a bucket or the speaker has a word of the question.

    The speaker counts as a bucket: each turn belongs to its speaker, even if no bucket is stored.
    """
    by_key = {hit.key: hit for hit in hits}
    scored = []
    for hit in by_key.values():
        weights = query.weights.get(hit.key[0])
        counts = count_held(hit.text, weights) if weights else {}
        score = 0.0
        if weights and counts:
            score = okapi_bm25(counts, weights, float(hit.terms), query.mean_terms[hit.key[0]])
        boosted = score > 0.0 and not hit.label_stems.isdisjoint(query.stems)
        if score or hit.words:
            hit = replace(hit, words=score * BOOST if boosted else score, boosted=boosted)
        scored.append(hit)
    return scored


def rank_anchors(hits: Iterable[AssociationHit]) -> list[AssociationHit]:
    """The hits with a word of the question: best first, equal ones by key."""
    return sorted((hit for hit in hits if hit.words > 0.0), key=lambda hit: (-hit.words, hit.key))


@dataclass(frozen=True, slots=True)
class Harvest:
    """Where the walk starts: the anchors, best first, and the bridges among their tags.

    `carriers`: for each tag, the anchors that have it, best first. `relevance`: the BM25 of each anchor divided by
    that of the best. `relevance_by_id`: the same by level and memory id; of several records the greatest.
    """

    anchors: Sequence[AssociationHit]
    carriers: Mapping[TagKey, Sequence[AssociationHit]]
    bridges: Mapping[TagKey, Bridge]
    relevance: Mapping[Key, float]
    relevance_by_id: Mapping[GraphKey, Mapping[str, float]]


def find_carriers(anchors: Sequence[AssociationHit]) -> dict[TagKey, list[AssociationHit]]:
    """By tag or bucket of the best anchors, the anchors that have it, best first (001, phase 2)."""
    carriers: defaultdict[TagKey, list[AssociationHit]] = defaultdict(list)
    for hit in anchors[:WALK_STARTS]:
        for tag in hit.tags:
            carriers[tag].append(hit)
    return dict(carriers)


def harvest(
    anchors: Sequence[AssociationHit],
    carriers: Mapping[TagKey, Sequence[AssociationHit]],
    counts: TagCounts,
    shown: Mapping[TagKey, str],
) -> Harvest:
    """Build the `Harvest`. `shown`: made tags as a reader sees them."""
    relevance = {hit.key: hit.words / anchors[0].words for hit in anchors}
    bridges = {
        tag: _bridge(tag, hits, relevance, counts).model_copy(update={"name": shown.get(tag, tag.name)})
        for tag, hits in carriers.items()
    }
    strongest = sorted(bridges, key=lambda tag: (-bridges[tag].weight, *tag))[:MAX_BRIDGES]
    by_id: defaultdict[GraphKey, dict[str, float]] = defaultdict(dict)
    for (level, memory_id, _version), share in relevance.items():
        by_id[level][memory_id] = max(share, by_id[level].get(memory_id, 0.0))
    return Harvest(anchors, carriers, {tag: bridges[tag] for tag in strongest}, relevance, dict(by_id))


class TagCounts(NamedTuple):
    """How many memories have each tag, given or made, and how many each level has."""

    tags: Mapping[TagKey, int]
    memories: Mapping[GraphKey, int]


def _bridge(
    tag: TagKey, hits: Sequence[AssociationHit], relevance: Mapping[Key, float], counts: TagCounts
) -> Bridge:
    """A tag with the mean relevance of its memories × its specificity; at least its carriers are counted.

    The mean tells a tag whose memories are mostly hits from one that a single hit has by chance.
    """
    count = max(counts.tags.get(tag, 0), len(hits))
    mean = sum(relevance[hit.key] for hit in hits) / count
    weight = mean * specificity(count, counts.memories.get(tag.graph, 1))
    return Bridge(name=tag.name, **graph_fields(tag.graph), memories=count, weight=round(weight, _DIGITS))


def specificity(count: int, size: int) -> float:
    """The specificity of a tag that `count` of `size` memories have: 1 if one has it, near 0 if all have it."""
    return inverse_document_frequency(count, size) / inverse_document_frequency(1, max(1, size))


def associate_hit(hit: AssociationHit, harvested: Harvest, plurality: float = 0.0) -> Associated:
    """A memory with its score: its own relevance + support by anchors over links and tags + plurality."""
    relevance = harvested.relevance_by_id.get(hit.memory.graph_key, {})
    bridges = []
    for tag in hit.tags:  # those that an anchor other than this memory has
        if tag in harvested.bridges and any(other.key != hit.key for other in harvested.carriers[tag]):
            bridges.append(tag)
    shortest = {path.anchor_id: path for path in reversed(hit.paths)}  # they come shortest first
    by_links = sum(
        LINK_SHARES[path.links - 1] * relevance[path.anchor_id]
        for path in shortest.values()
        if path.anchor_id in relevance
    )
    support = by_links + TAG_SHARE * sum(harvested.bridges[tag].weight for tag in bridges)
    score = round(harvested.relevance.get(hit.key, 0.0) + support + plurality, _DIGITS)
    around = dict.fromkeys(path.anchor_id for path in hit.paths if path.anchor_id in relevance)
    return Associated.unchecked(
        {
            "memory": hit.memory,
            "score": score,
            "words": round(hit.words, _DIGITS),
            "boosted": hit.boosted,
            "support": round(support, _DIGITS),
            "plurality": round(plurality, _DIGITS),
            "bridges": tuple(harvested.bridges[tag].name for tag in bridges),
            "made": tuple(harvested.bridges[tag].name for tag in bridges if tag.name in hit.made),
            "around": tuple(around),
        }
    )


def rank(associated: Iterable[Associated], per_week: int | None = None) -> list[Associated]:
    """Sort best first, equal ones by level and id.

    With plurality, at most `per_week` memories of a week come before further ones of that week.
    """

    def order(item: Associated) -> tuple[float, GraphKey, str, int]:
        return -item.score, item.memory.graph_key, item.memory.node_id, item.memory.version

    best = sorted(associated, key=order)
    if per_week is None:
        return best
    first, rest = split_by_week(best, lambda item: to_instant(item.memory.valid_at), per_week)
    return first + rest


class FilledBudget(NamedTuple):
    """The memories that fit into a budget, their characters, and the number of memories that did not fit."""

    memories: tuple[Associated, ...]
    chars: int
    omitted: int


def fill_budget(ranked: Sequence[Associated], max_chars: int) -> FilledBudget:
    """The best memories that fit into `max_chars`. One that is too large is left out; later ones may still fit."""
    budget = Budget(max_chars, len)
    fitting: list[Associated] = []
    spent = 0
    for associated in ranked:
        size = budget.cost(associated.memory)
        if spent + size <= budget.limit:
            fitting.append(associated)
            spent += size
    return FilledBudget(tuple(fitting), spent, len(ranked) - len(fitting))
