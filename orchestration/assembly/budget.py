"""A number of tokens that an answer may have, a stream with fewer memories, and a memory with less text. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from orchestration.ranking.candidates import Key
from schemas.intention import StreamRequest
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Passage
from schemas.stream import LISTS, ActivationTiers, ConsciousnessLevelResults, ConsciousnessStream, GraphNode
from schemas.stream_forms import all_memories, graph_node, moments_of
from substrate.inference import tokens
from substrate.language.text import query_words, stem, stems

if TYPE_CHECKING:
    from schemas.mind.appetite import IntendRequest

COMPACT_TOKENS: Final = 1500
"""The most tokens of a compact text, and of an answer to `recall` and `wake`, where none are named."""


class Budget(NamedTuple):
    """The most tokens that an answer may have, the function that counts them, and its name."""

    limit: int
    count: Callable[[str], int] = len
    counter: str = "characters"

    def cost(self, node: ConsciousnessNode) -> int:
        """Tokens of a memory in a plain list: its speaker or name, and its text."""
        return self.count(f"{node.speaker or node.name}: {node.description}")


def budget_of(request: StreamRequest | IntendRequest) -> Budget | None:
    """The tokens that an answer may have; None where it is not limited."""
    if request.max_tokens is None:
        return None
    return Budget(request.max_tokens, tokens.counter(), tokens.counter_name())


def key_of(record: ConsciousnessNode | ConsciousnessRelationship) -> Key:
    """What tells a memory, or a link, from every other one of the stream."""
    own = record.node_id if isinstance(record, ConsciousnessNode) else record.link_id
    return record.graph_key, own, record.version


def reduced(
    stream: ConsciousnessStream,
    memories: Sequence[ConsciousnessNode],
    links: Iterable[ConsciousnessRelationship] | None = None,
    *,
    in_levels: Sequence[ConsciousnessNode] | None = None,
    in_graph: Sequence[ConsciousnessNode] | None = None,
    share: float = 1.0,
) -> ConsciousnessStream:
    """The stream with these memories alone, as they are given, and the links between them.

    `links`: those of them that are shown; `in_levels`, `in_graph`: the memories that stand there. None for all.
    `share`: of each list of the levels no more than its first entries, this many of all; at least one.
    """
    shown = {key_of(node): node for node in memories}
    found = shown if in_levels is None else {key_of(node): node for node in in_levels}
    linked = None if links is None else set(map(key_of, links))
    tiers = {name: _shown_nodes(nodes, shown) for name, nodes in vars(stream.activation_tiers).items()}
    graph, present = stream.traversal_graph, dict(shown)
    levels: dict[str, ConsciousnessLevelResults] = {}
    drawn: set[tuple[str, str]] = set()
    for name, level in stream.levels.items() if found else ():
        levels[name] = own = _level(level, found, linked, share)
        standing = {id(node): node for node in (*own.vector_results, *own.graph_results)}
        present |= {key_of(node): node for node in standing.values()}
        drawn.update(key_of(link)[:2] for link in own.relationships)
    nodes = present.values() if in_graph is None else in_graph
    on_graph = {(node.graph_key, node.node_id) for node in nodes}
    every = {id(node): node for node in all_memories(stream)}
    return stream.model_copy(
        update={
            "activation_tiers": ActivationTiers(**tiers),
            "levels": levels,
            "traversal_graph": graph.model_copy(
                update={
                    "nodes": tuple(_drawn_nodes(graph.nodes, nodes)),
                    "edges": tuple(
                        edge
                        for edge in graph.edges
                        if (edge.graph_key, edge.edge_id) in drawn
                        and {(edge.graph_key, edge.source_id), (edge.graph_key, edge.target_id)} <= on_graph
                    ),
                }
            ),
            "omitted": stream.omitted + len(set(map(key_of, every.values()))) - len(present),
        }
    )


def _shown_nodes(
    nodes: Iterable[ConsciousnessNode], shown: Mapping[Key, ConsciousnessNode]
) -> tuple[ConsciousnessNode, ...]:
    return tuple(filter(None, (shown.get(key_of(node)) for node in nodes)))


def _level(
    level: ConsciousnessLevelResults,
    shown: Mapping[Key, ConsciousnessNode],
    linked: Collection[Key] | None,
    share: float,
) -> ConsciousnessLevelResults:
    """The first of each list that are shown, with the number of the others."""
    lists: dict[str, tuple[Any, ...]] = {}
    for name in LISTS:
        every = getattr(level, name)
        lists[name] = every[: ceil(share * len(every))]
    vector, graph = (_shown_nodes(lists[name], shown) for name in LISTS[:2])
    here = {key_of(node)[:2] for node in (*vector, *graph)}
    relationships = tuple(
        link
        for link in lists["relationships"]
        if {(link.graph_key, link.source_id), (link.graph_key, link.target_id)} <= here
        and (linked is None or key_of(link) in linked)
    )
    omitted = Counter(level.omitted)
    lists = {"vector_results": vector, "graph_results": graph, "relationships": relationships}
    for name, each in lists.items():
        omitted[name] += len(getattr(level, name)) - len(each)
    return ConsciousnessLevelResults(**lists, omitted=dict(+omitted) or None)


def _drawn_nodes(nodes: Iterable[GraphNode], memories: Iterable[ConsciousnessNode]) -> Iterable[GraphNode]:
    """The nodes of these memories: of several versions the one that the node shows, else another that is shown."""
    shown: dict[tuple[Any, ...], ConsciousnessNode] = {}
    for memory in memories:
        shown.setdefault((memory.graph_key, memory.node_id), memory)
        shown[moments_of(memory)] = memory
    for node in nodes:
        own = shown.get(moments_of(node))
        if own is not None and not own.shortened and own.passage is None:
            yield node
        elif own := own or shown.get((node.graph_key, node.node_id)):
            yield graph_node(own, node.activation_tier)


_WORD: Final = re.compile(r"\w+")
_STEPS: Final = 24
"""This many places of a text are looked at."""
LEAST_PART: Final = 40
"""This many characters of a memory are told at least."""


def stems_of(question: str) -> frozenset[str]:
    """The stems of the words of a question that say something."""
    return frozenset(map(stem, query_words(question)))


def shares_words(node: ConsciousnessNode, words: Collection[str]) -> bool:
    """Whether its name and its text have two words of these stems, or the only one; not where there is none."""
    return len(stems(f"{node.name} {node.description}").intersection(words)) >= min(2, len(words)) > 0


def cut_to_room(
    node: ConsciousnessNode, room: int, words: Collection[str], cost: Callable[[ConsciousnessNode], int]
) -> ConsciousnessNode:
    """The memory with so much of its text as costs no more than the room, and at least its least part.

    It says where that part stands in the whole. Where not even that fits, its name is cut as well. `words`: the
    stems of the question; of two parts with as many of them the earlier is taken.
    """
    cut, text = node, node.description
    before, length = (node.passage.start, node.passage.length) if node.passage else (0, len(text))
    most, said = len(text), None
    while (spent := cost(cut)) > room and most > LEAST_PART:
        most = max(LEAST_PART, min(most - 1, int(most * max(0.3, 0.95 * room / spent))))
        said = said_words(text, words) if said is None else said
        start, end = best_part(text, most, said)
        place = Passage(start=before + start, end=before + end, length=length)
        cut = node.model_copy(update={"description": text[start:end], "passage": place})
    if spent > room and len(cut.name) > LEAST_PART:
        name = f"{cut.name[:LEAST_PART]}…"
        cut = cut.model_copy(update={"name": name, "shortened": (*cut.shortened, "name")})
    return cut


def without_field(node: ConsciousnessNode, name: str) -> ConsciousnessNode:
    """The memory without an optional field; it says so."""
    blank = node.defaults()[name]
    return node.model_copy(update={name: blank, "shortened": (*node.shortened, name)})


type SaidWord = tuple[int, int, str]
"""Where a word of a question begins in a text, where it ends, and the word."""


def said_words(text: str, words: Collection[str]) -> list[SaidWord]:
    """The words of a text that have these stems."""
    found = ((*word.span(), word[0].lower()) for word in _WORD.finditer(text)) if words else ()
    return [word for word in found if stem(word[2]) in words]


def best_part(text: str, most: int, said: Sequence[SaidWord]) -> tuple[int, int]:
    """Where the part with the most words of the question begins and ends; it begins and ends between words."""
    step = max(1, most // 4, len(text) // _STEPS)
    starts = [
        0,
        *chain.from_iterable((max(0, begin - most // 4), begin) for begin, _, _ in said),
        *range(step, max(step, len(text) - most), step),
    ]

    def worth(start: int) -> tuple[int, int]:
        end = start + most if start + most >= len(text) else start + most - most // 4  # what they ask for follows
        return len({word for begin, after, word in said if start <= begin and after <= end}), -start

    place = max(starts, key=worth)
    gap = text.find(" ", place - 1) if place else -1
    start = gap + 1 if 0 <= gap <= place + 30 else place
    return start, _word_end(text, start, min(len(text), start + most))


def _word_end(text: str, start: int, end: int) -> int:
    if end == len(text) or text[end].isspace():
        return end
    gap = text.rfind(" ", start + 1, end)
    return gap if gap > start and end - gap <= 30 else end
