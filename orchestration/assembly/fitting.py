"""Fits a stream into a number of tokens: the best memories whole, the last one cut, the rest left out. Pure.

It changes what is shown, and nothing that was calculated: energy, grades and paths are those of what was found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from functools import cached_property
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from orchestration.assembly.budget import COMPACT_TOKENS, Budget, cut_to_room, key_of, reduced, without_field
from orchestration.assembly.compact import tell
from orchestration.assembly.sent_form import (
    FULL_TOKENS,
    LINKED,
    PLACES,
    SAMPLE,
    Records,
    bytes_per_token,
    estimate_tokens,
    frame_tokens,
    places_tokens,
    section_tokens,
    sections_of,
    sparse_row,
    stream_json,
)
from orchestration.ranking.candidates import Key
from orchestration.traversal.paths import Identity
from schemas.base import Sparse
from schemas.intention import Form, Part, StreamRequest
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.stream import ConsciousnessStream, GraphEdge
from schemas.stream_forms import all_links, all_memories, graph_node, reference
from substrate.inference import tokens

if TYPE_CHECKING:
    from schemas.mind.appetite import IntendRequest
    from schemas.responses import Intended

type SentAs = StreamRequest | IntendRequest
"""How a stream is asked for."""
OTHERS_SHARE, LINKS_SHARE = 0.2, 0.2
"""Of the tokens of a stream, the shares that are kept for its other sections and for its links."""
LEAST_SHARE, LEAST_STEP, TIERS_SHARE = 0.01, 1.15, 4
"""The least share of the lists of a stream, how much smaller than the one before each is at least, and how many
times as large that of the tiers is: they say what matters, so that the lists give way first."""
FEWEST: Final = 10
"""This many memories stand in their tiers before one of them stands in its level and the graph too."""
LARGE: Final = 5
"""A field beside the text that takes a fifth of the room may be left out."""
_MAY_GO: Final = (
    "extra", "unset", "unreadable", "score_terms", "duplicates", "contested", "shared_from", "step", "buckets",
    "aliases", "tags", "emotion_vector", "felt_quality", "body_sensation", "goal", "result", "rule",
)  # fmt: skip
"""The fields of a memory that may be left out where they are too large."""


def fit(
    stream: ConsciousnessStream,
    form: Form,
    budget: Budget | None,
    *,
    parts: Collection[Part] | None = None,
    words: Collection[str] = (),
) -> ConsciousnessStream:
    """The stream with as many of its memories as fit when it is sent, and the text of the compact form.

    Without a budget that text has `COMPACT_TOKENS` at most, and `parts` beside it are whole.
    In which sections each of them stands is decided when it is sent.
    `words`: the stems of the question; a memory that must be cut keeps the part with most of them.
    """
    if form == "compact":
        told = tell(stream, budget or Budget(COMPACT_TOKENS, tokens.counter()), words)
        if parts and budget is None:
            return stream.model_copy(update={"text": told.text})
        return reduced(stream, told.memories).model_copy(update={"text": told.text, "omitted": told.omitted})
    if budget is None:
        return stream
    sections = sections_of(form, parts)
    if sections.isdisjoint(PLACES):
        return stream
    return reduced(stream, _Fitting(stream, _Costs(stream, form, budget, sections), words).choose().memories)


def send(stream: ConsciousnessStream, asked: SentAs, budget: Budget | None) -> bytes:
    """The stream as it is sent. Without a budget the full form has at most `FULL_TOKENS`, as an estimate (003).

    A larger one is cut in equal shares by rank, so that each level shows the best of what it found. Only where
    memories are so large that not even the first of each list fit, it is fitted like any other.
    """
    if budget is not None:
        return _send_within(stream, asked, budget)
    body, share = stream_json(stream, asked.form, asked.parts), 1.0
    if asked.form != "full":
        return body
    active, found = stream.activation_tiers.ordered(), list(all_memories(stream))
    while (over := estimate_tokens(len(body), bytes_per_token(body)) / FULL_TOKENS) > 1 and share > LEAST_SHARE:
        share /= max(LEAST_STEP, over)
        in_tiers = active[: ceil(len(active) * min(1.0, share * TIERS_SHARE))]
        body = stream_json(reduced(stream, in_tiers, in_levels=found, share=share), "full", asked.parts)
    if over <= 1:
        return body
    of_token = bytes_per_token(body)
    most = Budget(FULL_TOKENS, lambda text: estimate_tokens(len(text.encode()), of_token), "estimate")
    return _send_within(fit(stream, "full", most, parts=asked.parts), asked, most)


def _send_within(stream: ConsciousnessStream, asked: SentAs, budget: Budget) -> bytes:
    """The stream that fits, with this many of its memories in each section, and this many links, as find room."""
    sections = sections_of(asked.form, asked.parts)
    if asked.form == "compact" or sections.isdisjoint(PLACES):
        return stream_json(stream, asked.form, asked.parts, budget)
    costs = _Costs(stream, asked.form, budget, sections)
    placed = _Fitting(stream, costs).placed()
    return stream_json(
        placed, asked.form, asked.parts, budget, records=costs.records, sections=costs.other_sections
    )


def send_intended(intended: Intended, asked: SentAs, budget: Budget | None) -> bytes:
    """What an appetite led to, with its stream in the form that was asked for."""
    stream = None if intended.stream is None else orjson.Fragment(send(intended.stream, asked, budget))
    return orjson.dumps({**vars(intended), "stream": stream}, default=vars, option=orjson.OPT_UTC_Z)


class _Costs:
    """What the memories and links of one stream take in one form, in tokens."""

    def __init__(self, stream: ConsciousnessStream, form: Form, budget: Budget, sections: Collection[str]) -> None:
        self._stream, self._budget, self._full = stream, budget, form == "full"
        self.primary, *others = [name for name in PLACES if name in sections]
        self.further = frozenset(others)
        self.records = Records()
        self._counted: dict[int, int] = {}  # by the identity of a memory, which the records hold
        self.other_sections = section_tokens(stream, sections, budget)
        empty = places_tokens(stream, sections, budget)
        if "traversal_graph" in sections:
            empty["traversal_graph"] = self.other_sections.pop("traversal_graph")
        self.places = sum(empty[name] for name in self.further)
        """The sections in which memories stand a second time, without any."""
        self.room = budget.limit - frame_tokens(stream, form, budget, sections) - empty[self.primary]

    @cached_property
    def links(self) -> int:
        """All links, by a few of them."""
        links = list(all_links(self._stream)) if LINKED & {self.primary, *self.further} else []
        few = links[:SAMPLE]
        return len(links) * sum(map(self.link, few)) // len(few) if few else 0

    @cached_property
    def _drawn(self) -> set[Identity]:
        return {(node.graph_key, node.node_id) for node in self._stream.traversal_graph.nodes}

    @cached_property
    def _edges(self) -> dict[Identity, GraphEdge]:
        return {(edge.graph_key, edge.edge_id): edge for edge in self._stream.traversal_graph.edges}

    @cached_property
    def _times(self) -> Counter[Key]:
        levels = self._stream.levels.values()
        return Counter(
            map(key_of, chain.from_iterable((*each.vector_results, *each.graph_results) for each in levels))
        )

    def others(self, most: int) -> int:
        """Those sections without memories and links that fit into so much room, the most important first."""
        used = 0
        for cost in self.other_sections.values():
            used += cost if used + cost <= most else 0
        return used

    def first(self, node: ConsciousnessNode) -> int:
        """A memory where it stands first; 0 where it does not."""
        if not self._stands(node, self.primary):
            return 0
        if not self._full:
            return self._own(node) + self._name(node) * (1 + self._stands(node, self.primary))
        if self.primary == "traversal_graph":
            return self._as_drawn(node)
        return self._own(node) * self._stands(node, self.primary)

    def again(self, node: ConsciousnessNode) -> int:
        """The same memory in the other sections that show it."""
        if not self._full:
            return self._name(node) * sum(self._stands(node, name) for name in self.further)
        drawn = self._as_drawn(node) if "traversal_graph" in self.further else 0
        return drawn + (self._own(node) * self._stands(node, "levels") if "levels" in self.further else 0)

    def link(self, link: ConsciousnessRelationship) -> int:
        """A link wherever it stands."""
        text = self._text(link)
        own = self._budget.count(text) + 1
        if not self._full:
            return own + 3 * self._budget.count(f'"{reference(link)}",')
        edge = self._edges.get((link.graph_key, link.link_id))
        shown = {self.primary, *self.further}
        drawn = 0 if edge is None else own * len(self._text(edge)) // len(text)
        return own * ("levels" in shown) + drawn * ("traversal_graph" in shown)

    def _text(self, record: Sparse) -> str:
        return self.records.json(record).decode()

    def _own(self, node: ConsciousnessNode) -> int:
        if id(node) not in self._counted:
            self._counted[id(node)] = self._budget.count(self._text(node)) + 1
        return self._counted[id(node)]

    def _name(self, node: ConsciousnessNode) -> int:
        return self._budget.count(f'"{reference(node)}",')

    def _stands(self, node: ConsciousnessNode, section: str) -> int:
        if section == "traversal_graph":
            return int((node.graph_key, node.node_id) in self._drawn)
        return self._times[key_of(node)] if section == "levels" else 1

    def _as_drawn(self, node: ConsciousnessNode) -> int:
        if not self._stands(node, "traversal_graph"):
            return 0
        drawn = self._text(graph_node(node, "background"))
        return self._own(node) * len(drawn) // len(self._text(node))


class _Selection(NamedTuple):
    """The memories that are shown, how many of them in each section that shows any, and the room for links."""

    memories: list[ConsciousnessNode]
    everywhere: int
    left: int


class _Fitting:
    """Chooses the memories and links of a stream that are shown."""

    def __init__(self, stream: ConsciousnessStream, costs: _Costs, words: Collection[str] = ()) -> None:
        self._stream, self._costs, self._words = stream, costs, words
        self._parts: dict[tuple[int, int], ConsciousnessNode | None] = {}  # by the identity of a memory, and room

    def choose(self) -> _Selection:
        """The best memories that fit."""
        costs = self._costs
        most = max(0, costs.room)
        others = costs.others(int(most * OTHERS_SHARE))
        shown = self._memories(others, lambda: min(int(most * LINKS_SHARE), costs.links))
        # What is kept for links, and not needed by those between these memories, is room for more of them.
        return self._memories(others, lambda: sum(map(costs.link, self._links(shown))))

    def placed(self) -> ConsciousnessStream:
        """The stream with these memories where they find room, and the strongest links between them."""
        costs, shown = self._costs, self.choose()
        again = shown.memories[: shown.everywhere]
        places = {
            name: shown.memories if name == costs.primary else again for name in (costs.primary, *costs.further)
        }
        return reduced(
            self._stream,
            shown.memories,
            self._links(shown),
            in_levels=places.get("levels"),
            in_graph=places.get("traversal_graph"),
        )

    def _memories(self, others: int, links: Callable[[], int]) -> _Selection:
        """The best memories; the first is always there, and may take what is kept for links and other sections.

        When ten stand in their tiers, what they take there and elsewhere grows alike. `links`: counts the room
        that is kept for links, where any may stand.
        """
        costs, ordered = self._costs, self._stream.activation_tiers.ordered()
        shown: list[ConsciousnessNode] = []
        linked = costs.primary in LINKED
        everywhere, spent, left = 0, 0, costs.room - others - (links() if linked else 0)
        stands_again = bool(costs.further)
        while everywhere < len(shown) or len(shown) < len(ordered):
            if stands_again and everywhere < len(shown) >= min(FEWEST, len(ordered)):
                again = costs.again(shown[everywhere])
                again += 0 if everywhere else costs.places + (0 if linked else links())
                if len(shown) == len(ordered) or again <= spent:
                    stands_again = again <= left
                    if stands_again:
                        everywhere, spent, left = everywhere + 1, spent - again, left - again
                    continue
            if len(shown) == len(ordered):
                break
            part = self._part(ordered[len(shown)], left, first=not shown)
            if part is None:
                break
            shown.append(part)
            left -= costs.first(part)
            spent += costs.first(part) if len(shown) > FEWEST else 0
            if part.passage != ordered[len(shown) - 1].passage:
                break
        return _Selection(shown, everywhere, max(0, left) + (links() if linked or everywhere else 0))

    def _part(self, node: ConsciousnessNode, room: int, *, first: bool) -> ConsciousnessNode | None:
        """The memory in so much room: whole, else without its large fields, else the part that answers.

        The `first` is there in any case, and whole if it finds room with nothing else there.
        """
        cost = self._costs.first
        if cost(node) <= (self._costs.room if first else room):
            return node
        if (id(node), room) not in self._parts:
            lean = self._leaner(node, room)
            part = None
            if first or cost(lean.model_copy(update={"name": "", "description": ""})) <= room:
                part = cut_to_room(lean, room, self._words, cost)
            self._parts[id(node), room] = part if part is not None and (first or cost(part) <= room) else None
        return self._parts[id(node), room]

    def _leaner(self, node: ConsciousnessNode, room: int) -> ConsciousnessNode:
        """The memory without those fields beside its text that take a fifth of all room, as far as needed."""
        row = sparse_row(node)
        large = {name: orjson.dumps(row[name], default=vars) for name in _MAY_GO if name in row}
        for name in sorted(large, key=lambda name: -len(large[name])):
            is_small = estimate_tokens(len(large[name])) * LARGE < self._costs.room
            if is_small or self._costs.first(node) <= room:
                break
            node = without_field(node, name)
        return node

    def _links(self, shown: _Selection) -> list[ConsciousnessRelationship]:
        """The strongest links between these memories that fit."""
        linked = shown.memories if self._costs.primary in LINKED else shown.memories[: shown.everywhere]
        present = {(node.graph_key, node.node_id) for node in linked}
        links: list[ConsciousnessRelationship] = []
        left = shown.left
        for link in all_links(self._stream):
            if {(link.graph_key, link.source_id), (link.graph_key, link.target_id)} <= present:
                left -= self._costs.link(link)
                if left < 0:
                    break
                links.append(link)
        return links
