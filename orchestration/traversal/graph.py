"""The traversal graph: how the memories found hang together (003, components 4 and 5b). Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from orchestration.traversal.paths import Identity, Likeness, activation_score, called, level_of, suggested_paths
from orchestration.traversal.probability import State, traversal_probabilities
from schemas.base import columns_of
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Source
from schemas.stream import ActivationTiers
from schemas.stream_parts import GraphEdge, GraphNode, Tier, TraversalGraph, TraversalPath
from substrate.emotions import normal_emotion
from substrate.text import STOP_WORDS, name_key, stem

MOST_HUBS: Final = 5
LEAST_LINKS_OF_A_HUB: Final = 3
MOST_THEMES: Final = 5
LEAST_VOICES_OF_A_THEME: Final = 2
LEAST_FEELING_OF_A_THEME: Final = 0.5
_MADE_BY_NOBODY: Final = (Source.INGESTION, Source.UPKEEP, Source.SYSTEM)
"""Links of these sources have the goal of a machine, which is no theme of a mind."""
_OF_MEMORY: Final = tuple(name for name in GraphNode.model_fields if name in ConsciousnessNode.model_fields)
_OF_LINK: Final = tuple(name for name in GraphEdge.model_fields if name in ConsciousnessRelationship.model_fields)
"""What a node and an edge show as the record has it."""


def build_graph(
    nodes: Sequence[ConsciousnessNode],
    tiers: ActivationTiers,
    links: Sequence[ConsciousnessRelationship],
    state: State | None = None,
    likeness: Likeness | None = None,
) -> TraversalGraph:
    """Every memory and link found, with paths, hubs, themes and density (003, component 4).

    `nodes` come most active first. A memory stands once: of several records the most active one, in the
    highest tier of any; one beyond the tiers belongs to the background. A link stands once too, as its newest
    record, and only when both its ends were found. Paths begin at the memories in focus.
    """
    memories: dict[Identity, ConsciousnessNode] = {}
    for node in nodes:
        memories.setdefault((node.level, node.node_id), node)
    between = _newest_between(links, memories)
    edges = graph_edges(between, state or State())
    starts = [(node.level, node.node_id) for node in tiers.focus]
    paths = suggested_paths(memories, edges, starts, likeness)
    hubs = _hubs(edges)
    return TraversalGraph(
        nodes=graph_nodes(memories, tiers),
        edges=edges,
        suggested_paths=paths,
        hub_nodes=tuple(node_id for _, node_id in hubs),
        central_themes=central_themes(*_voices(memories, between, hubs, paths)),
        node_count=len(memories),
        edge_count=len(edges),
        path_count=len(paths),
        graph_density=density(len(memories), len(edges)),
    )


def graph_nodes(memories: Mapping[Identity, ConsciousnessNode], tiers: ActivationTiers) -> tuple[GraphNode, ...]:
    """The memories as nodes, in the order given. Activation is relevance after spreading, in [0, 1]."""
    in_tier: dict[Identity, Tier] = {}
    named: tuple[tuple[Tier, Sequence[ConsciousnessNode]], ...] = (
        ("focus", tiers.focus),
        ("peripheral", tiers.peripheral),
    )
    for tier, held in named:
        for node in held:
            in_tier.setdefault((node.level, node.node_id), tier)
    columns = {
        **columns_of(list(memories.values()), _OF_MEMORY),
        "content": map(_content, memories.values()),
        "activation_score": map(activation_score, memories.values()),
        "activation_tier": [in_tier.get(identity, "background") for identity in memories],
    }
    return tuple(GraphNode.of_columns(len(memories), columns))


def _content(node: ConsciousnessNode) -> str:
    if node.speaker:
        return f"{node.speaker}: {node.description}"
    return f"{node.name}: {node.description}" if node.description else node.name


def graph_edges(links: Sequence[ConsciousnessRelationship], state: State) -> tuple[GraphEdge, ...]:
    """The links as edges, in the order given, weighed from this state; weights to six digits."""
    columns = columns_of(links, _OF_LINK)
    weights = traversal_probabilities(columns, state)
    columns["edge_id"] = [link.link_id for link in links]
    columns["traversal_weight"] = weights.round(6).tolist()
    return tuple(GraphEdge.of_columns(len(links), columns))


def _newest_between(
    links: Iterable[ConsciousnessRelationship], memories: Mapping[Identity, ConsciousnessNode]
) -> list[ConsciousnessRelationship]:
    newest: dict[Identity, ConsciousnessRelationship] = {}
    for link in links:
        if (link.level, link.source_id) in memories and (link.level, link.target_id) in memories:
            known = newest.get((link.level, link.link_id))
            if known is None or link.created_at > known.created_at:
                newest[link.level, link.link_id] = link
    return list(newest.values())


def density(nodes: int, edges: int) -> float:
    """edges / (n (n − 1)), 0 below two nodes (003, component 4). Parallel links can take it above 1."""
    return edges / (nodes * (nodes - 1)) if nodes > 1 else 0.0


def hub_nodes(edges: Iterable[GraphEdge]) -> tuple[str, ...]:
    """The memories with most links to others: at least 3, at most 5 memories, equal ones by level and id."""
    return tuple(node_id for _, node_id in _hubs(edges))


def _hubs(edges: Iterable[GraphEdge]) -> list[Identity]:
    ends = [(edge.level, edge.source_id, edge.target_id) for edge in edges if edge.source_id != edge.target_id]
    degree = Counter((level, source) for level, source, _ in ends)
    degree.update((level, target) for level, _, target in ends)
    linked = [(-count, identity) for identity, count in degree.items() if count >= LEAST_LINKS_OF_A_HUB]
    return [identity for _, identity in sorted(linked)[:MOST_HUBS]]


def _voices(
    memories: Mapping[Identity, ConsciousnessNode],
    links: Iterable[ConsciousnessRelationship],
    hubs: Iterable[Identity],
    paths: Iterable[TraversalPath],
) -> tuple[list[ConsciousnessNode], list[ConsciousnessRelationship]]:
    """The hubs, the memories of the paths and the links of the paths, each once."""
    walked: dict[Identity, None] = dict.fromkeys(hubs)
    followed: set[Identity] = set()
    for path in paths:
        level = level_of(path)
        followed.update((level, edge) for edge in path.path_edges)
        walked.update(dict.fromkeys((level, node) for node in path.path_nodes))
    return [memories[identity] for identity in walked], [
        link for link in links if (link.level, link.link_id) in followed
    ]


def central_themes(
    memories: Iterable[ConsciousnessNode], links: Iterable[ConsciousnessRelationship]
) -> tuple[str, ...]:
    """What hubs and paths have in common: at most five, the most common first (003, component 4).

    Each memory has one voice for each of its tags, its goal, its stronger emotions (0.5 and more) and the
    words of its name; each link for its goal and emotions. Themes of the same stems are one, told in their
    commonest words; a theme has two voices at least. Of equally common ones the longer comes first, then by
    alphabet; a word that a theme already says is not told again.
    """
    heard: Counter[tuple[frozenset[str], str]] = Counter()
    for memory in memories:
        goal, felt, words = memory.goal, memory.emotion_vector, name_key(called(memory)).split()
        heard.update(_told([*memory.tags, *([goal] if goal else ()), *_strong(felt), *words]))
    for link in links:
        if link.source not in _MADE_BY_NOBODY:
            heard.update(_told([link.goal, *_strong(link.emotion_vector)]))
    voices: defaultdict[frozenset[str], list[tuple[int, str]]] = defaultdict(list)
    for (stems, told), count in heard.items():
        voices[stems].append((-count, told))
    counted = [(sum(count for count, _ in said), stems) for stems, said in voices.items() if stems]
    common = [one for one in counted if -one[0] >= LEAST_VOICES_OF_A_THEME]
    themes: list[frozenset[str]] = []
    for _, stems in sorted(common, key=lambda one: (one[0], -len(one[1]), sorted(one[1]))):
        if not any(stems <= theme for theme in themes):
            themes.append(stems)
    return tuple(min(voices[stems])[1] for stems in themes[:MOST_THEMES])


def _strong(felt: Mapping[str, float] | None) -> list[str]:
    return [normal_emotion(name) for name, much in (felt or {}).items() if much >= LEAST_FEELING_OF_A_THEME]


def _told(phrases: Iterable[str]) -> Iterable[tuple[frozenset[str], str]]:
    """One voice: each theme once, in the words in which it was told first."""
    heard: dict[frozenset[str], str] = {}
    for stems, told in map(_theme, phrases):
        heard.setdefault(stems, told)
    return heard.items()


@lru_cache(maxsize=8192)
def _theme(phrase: str) -> tuple[frozenset[str], str]:
    told = name_key(phrase)
    words = [word for word in told.split() if word not in STOP_WORDS and not word.isdigit()]
    return frozenset(stem(word) for word in words), told


def to_node_link(graph: TraversalGraph) -> dict[str, Any]:
    """The graph in NetworkX's node-link form, ready for JSON; read it with `node_link_graph(…, edges="edges")`.

    An id is unique only within its level, so a node is named `N1:id`; the key of an edge is its link id.
    """
    data = graph.model_dump(mode="json")
    nodes = [{"id": f"{node['level']}:{node['node_id']}", **node} for node in data.pop("nodes")]
    edges = [
        {
            "source": f"{edge['level']}:{edge['source_id']}",
            "target": f"{edge['level']}:{edge['target_id']}",
            "key": edge["edge_id"],
            **edge,
        }
        for edge in data.pop("edges")
    ]
    return {"directed": True, "multigraph": True, "graph": data, "nodes": nodes, "edges": edges}
