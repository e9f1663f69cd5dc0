"""The Tag-Walker's decisions: which hits are anchors, which tags bridge, what the walk brings (001). Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from orchestration.algorithms import inverse_document_frequency
from orchestration.assembly.budget import Budget
from orchestration.ranking.candidates import Key
from orchestration.ranking.plurality import split_by_week
from orchestration.ranking.relevance import Lengths, bm25_scores
from orchestration.writing.records import given_tags, indexed_text, tag_names, terms
from schemas.association import Associated, Bridge
from schemas.memory import ConsciousnessNode, Level
from schemas.temporal import AFTER_ALL, Instant, to_instant
from substrate.store import rows
from substrate.text import stems

ANCHOR_PERCENT: Final = 70
"""001: of the characters that many in a hundred may be filled by direct hits; the walk has the rest."""
COST: Final = Budget(count=len).cost
"""Characters of a memory: who said it or its name, and its text."""
BOOST: Final = 2.0
"""001: what a word of the question in a tag or a bucket makes of a hit's BM25."""
SOURCES: Final = 60
"""So many of the best hits lend their tags and links. On the development conversations more changed nothing."""
MAX_BRIDGES: Final = 64
PER_LINK: Final = (0.5, 0.3)
"""What of a hit's relevance reaches a memory one and two links away. On the development conversations recall@10
was .64 without, .71 to .73 anywhere from (.4, .2) to (.6, .3)."""
PER_TAG: Final = 0.1
"""What a tag of weight 1 brings. With tags made at ingestion .3 cost recall@10 .03 there, .1 next to nothing."""
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found. `ways`: from which anchors links lead to it, each with the number of links."""

    memory: ConsciousnessNode
    terms: int
    words: float = 0.0
    boosted: bool = False
    ways: tuple[tuple[int, str], ...] = ()

    @property
    def key(self) -> Key:
        """The record."""
        return (self.memory.level, self.memory.node_id, self.memory.version)

    @property
    def tags(self) -> list[str]:
        """Its tags and buckets, as they are called in the graph."""
        return tag_names(self.memory.tags, self.memory.buckets)


class Sought(NamedTuple):
    """What is looked for: its stems; by level the weight of each, the mean length of memories, how many there are.

    A stem that stands in no text has no weight, but may still be somebody's name.
    """

    stems: frozenset[str]
    weights: Mapping[Level, Mapping[str, float]]
    means: Mapping[Level, float]
    sizes: Mapping[Level, int]


def read_hit(row: Sequence[Any], level: Level, known_to: Instant = AFTER_ALL) -> Hit:
    """The last columns of a row of `ANCHORS_*` or `WALK_*`: own length, then the memory."""
    memory = rows.node(row[1:], level, known_to, retrieval_source="association")
    return Hit(memory, terms(vars(memory)) if row[0] is None else int(row[0]))


def read_ways(text: str | None) -> tuple[tuple[int, str], ...]:
    """The ways of a row of `WALK_*`, nearest first."""
    return tuple(sorted((int(way[0]), way[1:]) for way in (text or "").split("|") if way))


def scored(hits: Iterable[Hit], sought: Sought) -> list[Hit]:
    """The hits with their BM25, doubled where a tag, a bucket or the speaker has a word asked.

    Who speaks is the bucket that a turn lies in, whether or not anybody wrote it down as one.
    """
    by_key = {hit.key: hit for hit in hits}
    texts = {key: indexed_text(vars(hit.memory)) for key, hit in by_key.items()}
    lengths = Lengths({key: float(hit.terms) for key, hit in by_key.items()}, sought.means)
    scores = bm25_scores(texts, sought.weights, lengths)
    return [_boosted(hit, scores[key], sought.stems) for key, hit in by_key.items()]


def _boosted(hit: Hit, score: float, asked: frozenset[str]) -> Hit:
    memory = hit.memory
    said = " ".join((*given_tags(vars(memory)), *memory.buckets, memory.speaker or "")).replace("_", " ")
    boosted = score > 0.0 and not stems(said).isdisjoint(asked)
    return replace(hit, words=score * BOOST if boosted else score, boosted=boosted)


def anchors(hits: Iterable[Hit]) -> list[Hit]:
    """Those that hold a word, best first."""
    found = [hit for hit in hits if hit.words > 0.0]
    return sorted(found, key=lambda hit: (-hit.words, hit.key))


def relevances(found: Sequence[Hit]) -> dict[Key, float]:
    """Of the anchors, best first, each one's BM25 as a share of the best one's."""
    return {hit.key: hit.words / found[0].words for hit in found}


def carriers(found: Sequence[Hit]) -> dict[tuple[Level, str], list[Hit]]:
    """Phase 2: the tags and buckets of the best anchors, each with those that have it, best first."""
    held: defaultdict[tuple[Level, str], list[Hit]] = defaultdict(list)
    for hit in found[:SOURCES]:
        for name in hit.tags:
            held[hit.memory.level, name].append(hit)
    return dict(held)


def damped(holding: int, size: int) -> float:
    """How much a tag says that `holding` of `size` memories have: 1 for one, towards 0 for all."""
    return inverse_document_frequency(holding, size) / inverse_document_frequency(1, max(1, size))


def harvest(
    held: Mapping[tuple[Level, str], Sequence[Hit]],
    counts: Mapping[tuple[Level, str], int],
    shares: Mapping[Key, float],
    sought: Sought,
) -> list[Bridge]:
    """The bridge tags, the strongest first; a generic one weighs little."""
    bridges = [
        Bridge(
            name=name,
            level=level,
            memories=counts.get((level, name), len(hits)),
            weight=round(
                shares[hits[0].key] * damped(counts.get((level, name), len(hits)), sought.sizes.get(level, 1)),
                _DIGITS,
            ),
        )
        for (level, name), hits in held.items()
    ]
    return sorted(bridges, key=lambda bridge: (-bridge.weight, bridge.level, bridge.name))[:MAX_BRIDGES]


class Harvested(NamedTuple):
    """What the walk goes by: bridges and who carries them, by level and name; the relevance of each anchor, by
    record, and by level and id.
    """

    bridges: Mapping[tuple[Level, str], Bridge]
    held: Mapping[tuple[Level, str], Sequence[Hit]]
    shares: Mapping[Key, float]
    lent: Mapping[Level, Mapping[str, float]]


def by_id(shares: Mapping[Key, float]) -> dict[Level, dict[str, float]]:
    """The relevance of each anchor by level and id: of several records of one memory the best."""
    found: defaultdict[Level, dict[str, float]] = defaultdict(dict)
    for (level, memory_id, _), share in shares.items():
        found[level][memory_id] = max(share, found[level].get(memory_id, 0.0))
    return dict(found)


def associated(hit: Hit, harvested: Harvested, added: float = 0.0) -> Associated:
    """A memory with its score: its own words, what the anchors around it lend it, and what plurality adds."""
    level = hit.memory.level
    here = harvested.lent.get(level, {})
    near = tuple(dict.fromkeys(anchor for _, anchor in hit.ways if anchor in here))
    lent = sum(PER_LINK[links - 1] * here[anchor] for links, anchor in _shortest(hit.ways) if anchor in here)
    shared = [name for name in hit.tags if _lends(harvested, (level, name), hit.key)]
    lent += PER_TAG * sum(harvested.bridges[level, name].weight for name in shared)
    score = harvested.shares.get(hit.key, 0.0) + lent + added
    return Associated(
        memory=hit.memory.model_copy(update={"relevance_score": round(score, _DIGITS)}),
        score=round(score, _DIGITS),
        words=round(hit.words, _DIGITS),
        boosted=hit.boosted,
        support=round(lent, _DIGITS),
        plurality=round(added, _DIGITS),
        bridges=tuple(shared),
        around=near,
    )


def _shortest(ways: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Of several ways from one anchor the shortest; `ways` come nearest first."""
    first = {anchor: links for links, anchor in reversed(tuple(ways))}
    return [(links, anchor) for anchor, links in first.items()]


def _lends(harvested: Harvested, tag: tuple[Level, str], key: Key) -> bool:
    """Whether another memory than this one brought the tag."""
    return tag in harvested.bridges and any(hit.key != key for hit in harvested.held[tag])


def ordered(found: Iterable[Associated], per_week: int | None = None) -> list[Associated]:
    """Best first; of equals by level and id. With plurality at most `per_week` of a week before others of it."""
    best = sorted(found, key=lambda one: (-one.score, one.memory.level, one.memory.node_id, one.memory.version))
    if per_week is None:
        return best
    first, rest = split_by_week(best, lambda one: to_instant(one.memory.valid_at), per_week)
    return first + rest


class Filled(NamedTuple):
    """What fits, how many characters it takes, and how many did not fit."""

    shown: tuple[Associated, ...]
    chars: int
    omitted: int


def filled(found: Sequence[Associated], limit: int) -> Filled:
    """The best that fit into `limit` characters. One that is too large does not end the filling."""
    shown: list[Associated] = []
    spent = 0
    for one in found:
        size = COST(one.memory)
        if spent + size <= limit:
            shown.append(one)
            spent += size
    return Filled(tuple(shown), spent, len(found) - len(shown))


def anchor_limit(max_chars: int) -> int:
    """How many of the characters direct hits may fill."""
    return max_chars * ANCHOR_PERCENT // 100
