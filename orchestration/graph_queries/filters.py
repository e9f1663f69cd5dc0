"""What the filters of a question mean in each graph: how few memories can pass, and which values nobody has.

A vector index takes its nearest before it filters. How many memories have the rarest of the values demanded says
whether to ask the index for more or to compare those memories one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from orchestration.graph_queries.existing_graphs import View
from schemas.base import without_nulls
from schemas.errors import Fault, StoreTimeout
from schemas.field_names import nearest
from schemas.intention import Filters
from schemas.memory import GraphKey
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.store import vocabulary
from substrate.store.reader import tag_members

KINDS: Final[Mapping[str, str]] = {
    "node_types": "type",
    "tags": "tag",
    "buckets": "bucket",
    "speakers": "speaker",
    "episodes": "episode",
    "sources": "source",
}
"""What a value of each filter is called."""
LABELS: Final = {"tags": "#", "buckets": "@"}
_LISTED: Final = frozenset(("node_types", "speakers", "sources"))
"""Filters that take few different values: where none is near, those that there are can be listed."""
_MOST_LISTED: Final = 8


class Fewest(NamedTuple):
    """At most this many records of a graph can pass the filters. `label`: they are the members of this tag now."""

    members: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class FilterReading:
    """How few records can pass in each graph, where that is known; and notes on values that no graph has."""

    fewest: Mapping[GraphKey, Fewest] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


type ValueCounts = Mapping[str, Mapping[str, int]]
"""How many records of a graph have each value, by filter and value, as `held_values.count_values` counts."""


async def read_filters(filters: Filters | None, view: View) -> FilterReading:
    """Count in each graph who has the values of the filters. A graph that does not answer is left out.

    Raises Unavailable when the engine does not answer.
    """
    if filters is None or filters.empty or not view.targets:
        return FilterReading(notes=() if filters is None else filters.notes)
    graphs = [target.graph for target in view.targets.values()]
    counted = await asyncio.gather(*(_count(filters, graph) for graph in graphs))
    held = {level: counts for level, counts in zip(view.targets, counted, strict=True) if counts is not None}
    bounds = {level: find_fewest(filters, counts) for level, counts in held.items()}
    unknown = unknown_values(filters, list(held.values())) if len(held) == len(graphs) else []
    known: dict[str, list[str]] = {}
    notes = []
    for name, value in unknown:
        if name not in known:
            known[name] = await _read_known(name, graphs)
        notes.append(describe_unknown(name, value, known[name]))
    fewest = without_nulls(bounds)
    return FilterReading(fewest, (*filters.notes, *notes))


def find_fewest(filters: Filters, counts: ValueCounts) -> Fewest | None:
    """The bound that the rarest condition gives; a label before others of its size. None without a bound."""
    bounds = []
    for name, mark in LABELS.items():
        held = counts.get(name, {})
        bounds += [Fewest(held.get(label, 0), f"{mark}{label}") for label in _values(filters, name)]
    totals = [sum(each.values()) for name, each in counts.items() if name not in LABELS]
    bounds += [Fewest(total) for total in totals if total <= vocabulary.MANY]
    return min(bounds, key=lambda bound: bound.members, default=None)


def unknown_values(filters: Filters, counts: Sequence[ValueCounts]) -> list[tuple[str, str]]:
    """Filter and value, for each value that no record of any graph has. `counts`: one of each graph."""
    unknown: list[tuple[str, str]] = []
    for name in KINDS:
        held = set().union(*(each.get(name, {}) for each in counts))
        unknown += [(name, value) for value in _values(filters, name) if value not in held]
    return unknown


def describe_unknown(name: str, value: str, known: Sequence[str]) -> str:
    """The note on a value of a filter that nobody has, with the one that was probably meant."""
    said = f"no memory has the {KINDS[name]} {value!r}"
    meant = nearest(value, tuple(sorted(known)))
    if meant is not None:
        return f"{said}: did you mean {meant!r}?"
    if not known or name not in _LISTED:
        return said
    listed = ", ".join(map(repr, known[:_MOST_LISTED]))
    return f"{said}; there {'is' if len(known) == 1 else 'are'} {listed}"


def _values(filters: Filters, name: str) -> list[str]:
    """The values of a filter, each once; a tag node has its name without blanks at the ends."""
    values = map(str, getattr(filters, name))
    return list(dict.fromkeys(map(str.strip, values) if name in LABELS else values))


async def _count(filters: Filters, graph: Graph) -> ValueCounts | None:
    """None when the graph does not answer in time."""
    asked = {name: values for name in KINDS if (values := _values(filters, name))}
    try:
        counts = await asyncio.gather(*(_count_one(graph, name, values) for name, values in asked.items()))
    except (GraphMissing, StoreTimeout, Fault):
        return None
    return dict(zip(asked, counts, strict=True))


async def _count_one(graph: Graph, name: str, values: Sequence[str]) -> Mapping[str, int]:
    if name not in LABELS:
        return await vocabulary.count_values(graph, name, values)
    members = await tag_members(graph, [f"{LABELS[name]}{value}" for value in values])
    return {value: members[label] for value in values if (label := f"{LABELS[name]}{value}") in members}


async def _read_known(name: str, graphs: Sequence[Graph]) -> list[str]:
    """The values that a filter can take in these graphs; none when they are not read in time."""
    try:
        found = await asyncio.gather(*(_read_values(graph, name) for graph in graphs))
    except (GraphMissing, StoreTimeout, Fault):
        return []
    known: dict[str, None] = {}
    for values in found:
        known.update(dict.fromkeys(values))
    return list(known)


async def _read_values(graph: Graph, name: str) -> list[str]:
    if name not in LABELS:
        return await vocabulary.read_values(graph, name)
    return [label[1:] for label in await vocabulary.read_labels(graph) if label.startswith(LABELS[name])]
