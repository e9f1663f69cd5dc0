"""The traversal graph: how the memories of a stream are linked (003, components 4 and 5b). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, Final

from orchestration.traversal.paths import (
    NO_STATE,
    Identity,
    State,
    columns_needed,
    graph_of,
    short_name,
    suggested_paths,
    traversal_probabilities,
)
from schemas.base import to_columns
from schemas.bounded_cache import cached_within
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, GraphKey, Source
from schemas.stream import (
    ActivationTiers,
    GraphEdge,
    GraphNode,
    Tier,
    TraversalGraph,
    activation_score,
    graph_content,
)
from schemas.stream_forms import EDGE_FIELDS, NODE_FIELDS
from substrate.emotions import normal_emotion
from substrate.language.text import name_key, stem, stop_words

MAX_HUBS: Final = 5
MIN_HUB_LINKS: Final = 3
MAX_THEMES: Final = 5
MIN_THEME_VOTES: Final = 2
MIN_THEME_EMOTION: Final = 0.5
_MACHINE_SOURCES: Final = (Source.INGESTION, Source.UPKEEP, Source.SYSTEM)
"""Links of these sources have the goal of a machine, which is no theme of a mind."""

type Stems = frozenset[str]
"""A theme: what its phrases have in common."""


@dataclass(slots=True)
class KeptValues:
    """For each memory and link that is shown, the values that follow from its record alone, by name.

    Each is known by its identity: of a copy with other fields nothing is kept. A value is shared by all answers of
    the process and must not be changed.
    """

    _kept: dict[int, tuple[object, dict[str, Any]]] = field(default_factory=dict)
    """Holds what is shown, so that ids stay its own."""

    def add(self, shown: object, values: dict[str, Any]) -> None:
        """Keep what is computed of a memory or link in `values`, where its record has it."""
        self._kept[id(shown)] = (shown, values)

    def of[Shown, Value](self, name: str, shown: Shown, make: Callable[[Shown], Value]) -> Value:
        """The value of this name; `make` computes it where it is missing, from the record alone."""
        kept = self._kept.get(id(shown))
        if kept is None:
            return make(shown)
        found: Value | None = kept[1].get(name)
        if found is None:
            found = kept[1][name] = make(shown)
        return found


NOTHING_KEPT: Final = KeptValues()
"""For records of which nothing is kept: everything is computed."""


def build_graph(
    nodes: Sequence[ConsciousnessNode],
    tiers: ActivationTiers,
    links: Sequence[ConsciousnessRelationship],
    state: State = NO_STATE,
    *,
    kept: KeptValues = NOTHING_KEPT,
) -> TraversalGraph:
    """Every memory and link, with paths, hubs, themes and density (003, component 4).

    `nodes` come most active first. Each memory stands once: of several versions the most active one, in the
    highest tier of any; a memory beyond the tiers belongs to the background. Each link stands once, as its newest
    version, and only when both its ends are there. Paths begin at the memories in focus.
    """
    memories: dict[Identity, ConsciousnessNode] = {}
    for node in nodes:
        memories.setdefault((node.graph_key, node.node_id), node)
    between = _newest_between(links, memories)
    edges = graph_edges(between, state, kept)
    starts = [(node.graph_key, node.node_id) for node in tiers.focus]
    paths = suggested_paths(memories, edges, starts)
    on_paths: dict[Identity, None] = {}
    path_links: set[tuple[GraphKey, str]] = set()
    for path in paths:
        graph = graph_of(path)
        on_paths |= dict.fromkeys(zip(repeat(graph), path.path_nodes, strict=False))
        path_links.update(zip(repeat(graph), path.path_edges, strict=False))
    hubs = _hubs(edges)
    themed = [memories[identity] for identity in {**dict.fromkeys(hubs), **on_paths}]
    themed_links = [link for link in between if (link.graph_key, link.link_id) in path_links]
    return TraversalGraph.unchecked(
        {
            "nodes": graph_nodes(memories, tiers, kept),
            "edges": edges,
            "suggested_paths": paths,
            "hub_nodes": tuple(node_id for _, node_id in hubs),
            "central_themes": central_themes(themed, themed_links, kept),
            "node_count": len(memories),
            "edge_count": len(edges),
            "path_count": len(paths),
            "graph_density": density(len(memories), len(edges)),
        }
    )


def graph_nodes(
    memories: Mapping[Identity, ConsciousnessNode], tiers: ActivationTiers, kept: KeptValues = NOTHING_KEPT
) -> tuple[GraphNode, ...]:
    """The memories as nodes, in the order given. Activation is relevance after spreading, in [0, 1]."""
    tier_of: dict[Identity, Tier] = {(node.graph_key, node.node_id): "peripheral" for node in tiers.peripheral}
    tier_of.update({(node.graph_key, node.node_id): "focus" for node in tiers.focus})
    nodes = []
    for identity, memory in memories.items():
        fields = kept.of("drawn", memory, _node_fields).copy()
        fields["level"], fields["collective"] = memory.level, memory.collective
        fields["activation_score"] = activation_score(memory)
        fields["activation_tier"] = tier_of.get(identity, "background")
        nodes.append(GraphNode.of_fields(fields))
    return tuple(nodes)


def _node_fields(memory: ConsciousnessNode) -> dict[str, Any]:
    """The fields of a node that follow from the record of its memory alone; all others are None."""
    fields = vars(memory)
    return {
        **GraphNode.defaults(),
        **{name: fields[name] for name in NODE_FIELDS},
        "content": graph_content(memory),
    }


def graph_edges(
    links: Sequence[ConsciousnessRelationship], state: State, kept: KeptValues = NOTHING_KEPT
) -> tuple[GraphEdge, ...]:
    """The links as edges, in the order given. The weight is the probability from this state, to six digits."""
    weights = traversal_probabilities(to_columns(links, columns_needed(state)), state).round(6).tolist()
    edges = []
    for link, weight in zip(links, weights, strict=True):
        fields = kept.of("drawn", link, _edge_fields).copy()
        fields["level"], fields["collective"] = link.level, link.collective
        fields["source_id"], fields["target_id"] = link.source_id, link.target_id
        fields["traversal_weight"] = weight
        edges.append(GraphEdge.of_fields(fields))
    return tuple(edges)


def _edge_fields(link: ConsciousnessRelationship) -> dict[str, Any]:
    """The fields of an edge that follow from the record of its link alone; all others are None."""
    fields = vars(link)
    return {**GraphEdge.defaults(), **{name: fields[name] for name in EDGE_FIELDS}, "edge_id": link.link_id}


def _newest_between(
    links: Iterable[ConsciousnessRelationship], memories: Mapping[Identity, ConsciousnessNode]
) -> list[ConsciousnessRelationship]:
    newest: dict[Identity, ConsciousnessRelationship] = {}
    for link in links:
        if (link.graph_key, link.source_id) in memories and (link.graph_key, link.target_id) in memories:
            other = newest.get((link.graph_key, link.link_id))
            if other is None or link.created_at > other.created_at:
                newest[link.graph_key, link.link_id] = link
    return list(newest.values())


def density(nodes: int, edges: int) -> float:
    """edges / (n (n − 1)), 0 below two nodes (003, component 4). Parallel links can take it above 1."""
    return edges / (nodes * (nodes - 1)) if nodes > 1 else 0.0


def _hubs(edges: Iterable[GraphEdge]) -> list[Identity]:
    """The 5 memories with the most links to others, 3 links or more; equal ones by level and id."""
    ends = [(edge.graph_key, edge.source_id, edge.target_id) for edge in edges if edge.source_id != edge.target_id]
    degree = Counter((level, source) for level, source, _ in ends)
    degree.update((level, target) for level, _, target in ends)
    linked = [(-count, identity) for identity, count in degree.items() if count >= MIN_HUB_LINKS]
    return [identity for _, identity in sorted(linked)[:MAX_HUBS]]


def central_themes(
    memories: Iterable[ConsciousnessNode],
    links: Iterable[ConsciousnessRelationship],
    kept: KeptValues = NOTHING_KEPT,
) -> tuple[str, ...]:
    """What hubs and paths have in common: at most five themes, the most common first (003, component 4).

    A memory votes once for each of its tags, its goal, its emotions of 0.5 and more, and the words of its name; a
    link for its goal and emotions, unless a machine made it. Phrases of the same stems are one theme, named by the
    most common of them; a theme needs two votes. Of equal themes the one with more stems comes first, then by
    alphabet. A theme whose stems another one has is left out.
    """
    told = [link for link in links if link.source not in _MACHINE_SOURCES]
    of_memories = [kept.of("themes", memory, _themes_of_memory) for memory in memories]
    of_links = [kept.of("themes", link, _themes_of_link) for link in told]
    phrases: dict[Stems, list[str]] = {}
    for stems, phrase in chain.from_iterable((*of_memories, *of_links)):
        phrases.setdefault(stems, []).append(phrase)
    common = [stems for stems in phrases if stems and len(phrases[stems]) >= MIN_THEME_VOTES]
    themes: list[Stems] = []
    for stems in sorted(common, key=lambda stems: (-len(phrases[stems]), -len(stems), sorted(stems))):
        if not any(stems <= theme for theme in themes):
            themes.append(stems)
    counts = (Counter(phrases[stems]) for stems in themes[:MAX_THEMES])
    return tuple(min(each, key=lambda phrase: (-each[phrase], phrase)) for each in counts)


def _strong_emotions(emotions: Mapping[str, float] | None) -> list[str]:
    return [normal_emotion(name) for name, intensity in (emotions or {}).items() if intensity >= MIN_THEME_EMOTION]


def _themes_of_memory(memory: ConsciousnessNode) -> tuple[tuple[Stems, str], ...]:
    goals = [memory.goal] if memory.goal else []
    emotions, words = _strong_emotions(memory.emotion_vector), name_key(short_name(memory)).split()
    return _distinct_themes([*memory.tags, *goals, *emotions, *words])


def _themes_of_link(link: ConsciousnessRelationship) -> tuple[tuple[Stems, str], ...]:
    return _distinct_themes([link.goal, *_strong_emotions(link.emotion_vector)])


def _distinct_themes(phrases: Iterable[str]) -> tuple[tuple[Stems, str], ...]:
    """The votes of one memory or link: each theme once, with the first phrase for it."""
    themes: dict[Stems, str] = {}
    for stems, phrase in map(_theme, phrases):
        themes.setdefault(stems, phrase)
    return tuple(themes.items())


@cached_within(4 << 20)
def _theme(phrase: str) -> tuple[Stems, str]:
    plain = name_key(phrase)
    words = [word for word in plain.split() if word not in stop_words() and not word.isdigit()]
    return frozenset(map(stem, words)), plain
