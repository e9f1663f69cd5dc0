"""The traversal graph: how the memories found hang together (003, components 4 and 5b). Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from orchestration.traversal.paths import Identity, Likeness, activation_score, called, level_of, suggested_paths
from orchestration.traversal.probability import goal_match, probability, resonance
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Source
from schemas.stream import ActivationTiers
from schemas.thought import GraphEdge, GraphNode, Tier, TraversalGraph, TraversalPath
from substrate.emotions import normal_emotion, normal_emotions
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
_of_memory = itemgetter(*_OF_MEMORY)
_of_link = itemgetter(*_OF_LINK)


@dataclass(frozen=True, slots=True)
class State:
    """From where the links are weighed. 003's formula takes the current energy too, and makes no use of it."""

    goal: str | None = None
    emotions: Mapping[str, float] | None = None


def traversal_weight(
    link: ConsciousnessRelationship, goal: str | None = None, emotions: Mapping[str, float] | None = None
) -> float:
    """Probability in [0, 1] that the link is followed from this state: 003's five factors (component 5b)."""
    return _weight(link, goal, normal_emotions(emotions or {}))


def _weight(link: ConsciousnessRelationship, goal: str | None, emotions: Mapping[str, float]) -> float:
    felt = resonance(link.emotion_vector, emotions)
    match = goal_match(link.goal, goal)
    return probability(link.energy, match, felt, link.confidence, link.energy_transfer_coefficient)


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
    return tuple(
        GraphNode.unchecked(
            dict(
                zip(_OF_MEMORY, _of_memory(vars(node)), strict=True),
                content=_content(node),
                activation_score=activation_score(node),
                activation_tier=in_tier.get(identity, "background"),
            )
        )
        for identity, node in memories.items()
    )


def _content(node: ConsciousnessNode) -> str:
    if node.speaker:
        return f"{node.speaker}: {node.description}"
    return f"{node.name}: {node.description}" if node.description else node.name


def graph_edges(links: Iterable[ConsciousnessRelationship], state: State) -> tuple[GraphEdge, ...]:
    """The links as edges, in the order given, weighed from this state; weights to six digits."""
    emotions = normal_emotions(state.emotions or {})
    return tuple(
        GraphEdge.unchecked(
            dict(
                zip(_OF_LINK, _of_link(vars(link)), strict=True),
                edge_id=link.link_id,
                traversal_weight=round(_weight(link, state.goal, emotions), 6),
            )
        )
        for link in links
    )


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
    degree = Counter(
        (edge.level, end)
        for edge in edges
        if edge.source_id != edge.target_id
        for end in (edge.source_id, edge.target_id)
    )
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
    voices: defaultdict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for memory in memories:
        goal, felt, words = memory.goal, memory.emotion_vector, name_key(called(memory)).split()
        _speak(voices, [*memory.tags, *([goal] if goal else ()), *_strong(felt), *words])
    for link in links:
        if link.source not in _MADE_BY_NOBODY:
            _speak(voices, [link.goal, *_strong(link.emotion_vector)])
    ranked = sorted((-said.total(), -len(stems), sorted(stems), stems) for stems, said in voices.items())
    themes: list[frozenset[str]] = []
    for count, _, _, stems in ranked:
        if -count >= LEAST_VOICES_OF_A_THEME and not any(stems <= theme for theme in themes):
            themes.append(stems)
    return tuple(min(voices[stems].items(), key=_commonest)[0] for stems in themes[:MOST_THEMES])


def _commonest(told: tuple[str, int]) -> tuple[int, str]:
    return -told[1], told[0]


def _strong(felt: Mapping[str, float] | None) -> list[str]:
    return [normal_emotion(name) for name, much in (felt or {}).items() if much >= LEAST_FEELING_OF_A_THEME]


def _speak(voices: Mapping[frozenset[str], Counter[str]], phrases: Iterable[str]) -> None:
    heard: set[frozenset[str]] = set()
    for phrase in phrases:
        told, stems = _theme(phrase)
        if stems and stems not in heard:
            heard.add(stems)
            voices[stems][told] += 1


@lru_cache(maxsize=8192)
def _theme(phrase: str) -> tuple[str, frozenset[str]]:
    told = name_key(phrase)
    words = [word for word in told.split() if word not in STOP_WORDS and not word.isdigit()]
    return told, frozenset(stem(word) for word in words)


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
