"""Fits a stream into a number of tokens: the best memories whole, the last one cut, the rest left out. Pure.

It changes what is shown, and nothing that was calculated: energy, grades and paths are those of what was found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Protocol

import orjson

from orchestration.assembly.budget import Budget
from orchestration.assembly.compact import LEAST_PART, tell
from orchestration.assembly.excerpt import excerpt
from orchestration.assembly.sent_form import (
    FRAME_TOKENS,
    SAMPLE,
    estimate_tokens,
    others_json,
    record_json,
    sections_of,
    stream_json,
)
from orchestration.ranking.candidates import Key
from schemas.intention import Form, Part
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, GraphKey
from schemas.responses import Intended
from schemas.stream import ActivationTiers, ConsciousnessLevelResults, ConsciousnessStream
from schemas.stream_forms import all_links, all_memories, graph_node, moments_of
from schemas.stream_parts import GraphNode

OTHERS_SHARE, LINKS_SHARE = 0.2, 0.2
"""Of the tokens of a stream, the shares that are kept for its other sections and for its links."""
REFERENCE_TOKENS: Final = 12
"""What one more place of a record costs by reference, about."""

FULL_TOKENS: Final = 50_000
"""The most tokens of a stream by 003, for the form that says each memory several times."""
FEWEST: Final = 10
"""Where fewer memories fit in the full form, they stand in their tiers alone, and more of them fit."""
_TIERS_ALONE: Final = frozenset(("activation_tiers",))
_LINKED: Final = frozenset(("levels", "traversal_graph"))

type LinkKey = tuple[GraphKey, str, int]


def fit(
    stream: ConsciousnessStream,
    form: Form,
    budget: Budget | None,
    *,
    parts: Collection[Part] | None = None,
    words: Collection[str] = (),
) -> ConsciousnessStream:
    """The stream with as many of its memories and links as fit when it is sent, and the text of the compact form.

    `words`: the stems of the question; a memory that must be cut keeps the part with most of them.
    """
    if form == "compact":
        told = tell(stream, budget, words)
        shown = stream if budget is None else reduced(stream, told.memories)
        return shown.model_copy(update={"text": told.text})
    if budget is None:
        return stream
    return _Fitting(stream, form, budget, sections=sections_of(form, parts), words=words).fitted()


def send(stream: ConsciousnessStream, asked: Sent, budget: Budget | None) -> bytes:
    """The stream as it is sent. Without a budget the full form has at most `FULL_TOKENS`, as an estimate (003)."""
    body = stream_json(stream, asked.form, asked.parts, budget)
    if budget is not None or asked.form != "full" or estimate_tokens(len(body)) <= FULL_TOKENS:
        return body
    most = Budget(FULL_TOKENS, lambda text: estimate_tokens(len(text.encode())), "estimate")
    return stream_json(fit(stream, "full", most, parts=asked.parts), "full", asked.parts, most)


def send_intended(intended: Intended, asked: Sent, budget: Budget | None) -> bytes:
    """What an appetite led to, with its stream in the form that was asked for."""
    stream = None if intended.stream is None else orjson.Fragment(send(intended.stream, asked, budget))
    return orjson.dumps({**vars(intended), "stream": stream}, default=vars, option=orjson.OPT_UTC_Z)


class Sent(Protocol):
    """How a stream is asked for."""

    @property
    def form(self) -> Form: ...
    @property
    def parts(self) -> tuple[Part, ...] | None: ...


class _Fitting:
    """What the memories and links of one stream cost in one form."""

    def __init__(
        self,
        stream: ConsciousnessStream,
        form: Form,
        budget: Budget,
        *,
        sections: Collection[str],
        words: Collection[str],
    ) -> None:
        self._stream, self._budget, self._words = stream, budget, words
        self._full = form == "full"
        self._sections = frozenset(sections)
        found = chain.from_iterable((*each.vector_results, *each.graph_results) for each in stream.levels.values())
        self._places: dict[Key, int] = {}
        for node in chain(found if "levels" in sections else (), _active(stream, sections)):
            self._places[_key(node)] = self._places.get(_key(node), 0) + 1

    def fitted(self) -> ConsciousnessStream:
        """The best memories, and the strongest links between them."""
        room = max(0, self._budget.limit - FRAME_TOKENS)
        left = room - min(int(room * OTHERS_SHARE), self._budget.count(others_json(self._stream, self._sections)))
        keep = min(int(room * LINKS_SHARE), self._links_cost())
        memories, rest = self._memories(left - keep)
        if self._full and len(memories) < FEWEST:
            alone = _Fitting(self._stream, "references", self._budget, sections=_TIERS_ALONE, words=self._words)
            more, _ = alone._memories(left)
            if len(more) > len(memories):
                return reduced(self._stream, more, ())
        return reduced(self._stream, memories, self._links(memories, keep + rest))

    def _memories(self, left: int) -> tuple[list[ConsciousnessNode], int]:
        """The best memories, each whole, the last one perhaps cut, and the tokens that are left."""
        memories: list[ConsciousnessNode] = []
        for node in self._stream.activation_tiers.ordered():
            cost = self._cost(node)
            if cost <= left:
                memories.append(node)
                left -= cost
                continue
            cut = self._cut(node, left)
            if not memories or self._cost(cut) <= left:
                memories.append(cut)
                left -= self._cost(cut)
            break
        return memories, left

    def _links_cost(self) -> int:
        """Tokens of all links, by a few of them."""
        links = list(all_links(self._stream)) if self._sections & _LINKED else []
        few = links[:SAMPLE]
        return len(links) * sum(map(self._link_cost, few)) // len(few) if few else 0

    def _link_cost(self, link: ConsciousnessRelationship) -> int:
        own = self._budget.count(record_json(link))
        return own + own * 2 // 3 if self._full else own + 3 * REFERENCE_TOKENS

    def _cost(self, node: ConsciousnessNode) -> int:
        """Tokens of a memory wherever it stands."""
        own, places = self._budget.count(record_json(node)), self._places.get(_key(node), 1)
        drawn = "traversal_graph" in self._sections
        if self._full:
            return own * places + drawn * (own * 2 // 3)
        return own + REFERENCE_TOKENS * (places + 1 + drawn)

    def _cut(self, node: ConsciousnessNode, room: int) -> ConsciousnessNode:
        cut, most = node, len(node.description)
        while most > LEAST_PART and (cost := self._cost(cut)) > room:
            most = max(LEAST_PART, min(most - 1, int(most * max(0.3, 0.95 * room / cost))))
            cut = excerpt(node, most, self._words)
        return cut

    def _links(self, memories: Sequence[ConsciousnessNode], left: int) -> list[ConsciousnessRelationship]:
        """The strongest links between these memories that fit."""
        present = {(node.graph_key, node.node_id) for node in memories}
        links: list[ConsciousnessRelationship] = []
        for link in all_links(self._stream) if self._sections & _LINKED else ():
            if {(link.graph_key, link.source_id), (link.graph_key, link.target_id)} <= present:
                left -= self._link_cost(link)
                if left < 0:
                    break
                links.append(link)
        return links


def reduced(
    stream: ConsciousnessStream,
    memories: Sequence[ConsciousnessNode],
    links: Iterable[ConsciousnessRelationship] | None = None,
) -> ConsciousnessStream:
    """The stream with these memories alone, as they are given, and the links between them.

    `links`: those of them that are shown; None for all.
    """
    shown = {_key(node): node for node in memories}
    present = {key[:2] for key in shown}
    between = all_links(stream) if links is None else links
    linked = {
        (link.graph_key, link.link_id, link.version)
        for link in between
        if {(link.graph_key, link.source_id), (link.graph_key, link.target_id)} <= present
    }
    tiers = stream.activation_tiers
    graph = stream.traversal_graph
    drawn = {key[:2] for key in linked}
    return stream.model_copy(
        update={
            "activation_tiers": ActivationTiers(
                focus=_shown(tiers.focus, shown),
                peripheral=_shown(tiers.peripheral, shown),
                background=_shown(tiers.background, shown),
            ),
            "levels": {name: _level(level, shown, linked) for name, level in stream.levels.items()},
            "traversal_graph": graph.model_copy(
                update={
                    "nodes": tuple(_drawn(graph.nodes, memories)),
                    "edges": tuple(edge for edge in graph.edges if (edge.graph_key, edge.edge_id) in drawn),
                }
            ),
            "omitted": stream.omitted + len({_key(node) for node in all_memories(stream)}) - len(shown),
        }
    )


def _active(stream: ConsciousnessStream, sections: Collection[str]) -> tuple[ConsciousnessNode, ...]:
    return stream.activation_tiers.ordered() if "activation_tiers" in sections else ()


def _key(node: ConsciousnessNode) -> Key:
    return node.graph_key, node.node_id, node.version


def _shown(
    nodes: Iterable[ConsciousnessNode], shown: Mapping[Key, ConsciousnessNode]
) -> tuple[ConsciousnessNode, ...]:
    return tuple(shown[_key(node)] for node in nodes if _key(node) in shown)


def _level(
    level: ConsciousnessLevelResults, shown: Mapping[Key, ConsciousnessNode], linked: Collection[LinkKey]
) -> ConsciousnessLevelResults:
    return ConsciousnessLevelResults(
        vector_results=_shown(level.vector_results, shown),
        graph_results=_shown(level.graph_results, shown),
        relationships=tuple(
            link for link in level.relationships if (link.graph_key, link.link_id, link.version) in linked
        ),
    )


def _drawn(nodes: Iterable[GraphNode], memories: Iterable[ConsciousnessNode]) -> Iterable[GraphNode]:
    """The nodes of these memories: of several versions the one that the node shows, else another that is shown."""
    shown: dict[tuple[Any, ...], ConsciousnessNode] = {}
    for memory in memories:
        shown.setdefault((memory.graph_key, memory.node_id), memory)
        shown[moments_of(memory)] = memory
    for node in nodes:
        own = shown.get(moments_of(node)) or shown.get((node.graph_key, node.node_id))
        if own is not None:
            yield graph_node(own, node.activation_tier)
