"""Which graphs a question asks: those that exist, each with whether its past side is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries.recall import Recall
from schemas.base import without_nulls
from schemas.errors import Fault, StoreTimeout
from schemas.field_names import nearest
from schemas.intention import Filters
from schemas.memory import GraphKey, Level, collective_of
from schemas.temporal import Instant, Scope
from substrate.connection.errors import GraphMissing
from substrate.connection.kept import GraphState
from substrate.connection.together import together
from substrate.graphs.graph import Graph, GraphTarget
from substrate.graphs.names import graph_name
from substrate.graphs.registry import Stamp
from substrate.language.text import count_of
from substrate.store import reader, vocabulary
from substrate.store.column_reading import catch_up, load
from substrate.store.reader import tag_members

NO_EMBEDDER = "no embedder is configured: memories are found by words, names and links"


class View(NamedTuple):
    """The scope of a question, the graphs it asks, and when it is asked; the same value for all ways of asking.

    `notes`: on a citizen or a collective of which nothing is stored, and on memories that were true then but
    became known later. `recall`: what was found and counted, where something is asked again as it was.
    """

    scope: Scope
    targets: Mapping[GraphKey, GraphTarget]
    now: Instant
    notes: tuple[str, ...] = ()
    recall: Recall | None = None


async def open_view(
    citizen_id: str,
    graphs: Sequence[GraphKey],
    scope: Scope,
    deps: Deps,
    *,
    now: Instant,
    recall: Recall | None = None,
) -> View:
    """Those of the graphs of a citizen that exist, with `notes`. With a `recall`, in its scope.

    Raises StoreMisfit, Unavailable.
    """
    view = await open_plain_view(citizen_id, graphs, scope if recall is None else recall.scope, deps, now=now)
    return view._replace(notes=(*view.notes, *await note_learned_later(view)), recall=recall)


async def open_plain_view(
    citizen_id: str, graphs: Sequence[GraphKey], scope: Scope, deps: Deps, *, now: Instant
) -> View:
    """The same without a note on what became known later.

    What was open already is read while the other graphs are looked for.
    """
    named = {key: deps.graph(graph_name(key, citizen_id)) for key in graphs}
    unsure = {key: graph for key, graph in named.items() if not deps.graphs.is_open(graph.name)}
    known = (open_target(key, graph, None, scope, now=now) for key, graph in named.items() if key not in unsure)
    looking = deps.graphs.open_existing([graph.name for graph in unsure.values()])
    stamps, found = await together(looking, together(*known))
    existing = ((key, graph) for key, graph in unsure.items() if graph.name in stamps)
    opening = (open_target(key, graph, stamps[graph.name], scope, now=now) for key, graph in existing)
    opened = {target.key: target for target in [*found, *await together(*opening)]}
    for target in opened.values():
        if target.columns is not None:
            deps.graphs.see_to_columns(target.graph, target.columns, load)
    targets = {key: opened[key] for key in named if key in opened}
    unknown = Level.N1 in graphs and Level.N1 not in targets
    notes = [f"citizen {citizen_id} is not known here: nothing was remembered for it yet"] if unknown else []
    lacking = (collective_of(key) for key in graphs if key not in targets)
    notes += [f"collective {name} is not known here: nothing was remembered in it yet" for name in lacking if name]
    return View(scope, targets, now, tuple(notes))


async def note_learned_later(view: View) -> list[str]:
    """A note on memories that were true at the moment asked about but were not known at the known moment.

    None for other scopes, and where a graph does not answer in time.
    """
    scope = view.scope
    one_moment = scope.valid.end - scope.valid.start == 1 and scope.known.end - scope.known.start == 1
    if scope.is_present or not one_moment or scope.known.start >= view.now:
        return []
    try:
        counts = await together(
            *(reader.count_learned_later(target.graph, scope) for target in view.targets.values())
        )
    except (StoreTimeout, Fault):
        return []
    total = sum(counts)
    were = f"{count_of(total, 'memory')} {'was' if total == 1 else 'were'}"
    if total >= reader.MOST_LEARNED:  # those of a graph are not counted to the end
        were = f"at least {reader.MOST_LEARNED:,} memories were"
    later = "true at that moment but became known only later"
    return [f"{were} {later}: ask with known_at `now` (--known-at now) for what is known today"] if total else []


async def open_target(
    key: GraphKey, graph: Graph, stamp: Stamp | None, scope: Scope, *, now: Instant
) -> GraphTarget:
    """The graph with its past side where that is needed, and with what is kept of it for the present.

    `stamp`: that of the graph, where it was read just now.
    """
    if not scope.is_present or scope.valid.start < now:
        return GraphTarget(key, graph, past=True)
    try:
        if stamp is None:
            situation = await reader.read_situation(graph)
        else:
            state = GraphState(stamp.clock, stamp.shifts, stamp.created_at, stamp.generation)
            situation = reader.Situation(stamp.pending_until, stamp.feedback_at, state, stamp.changes_until)
    except (StoreTimeout, Fault):
        return GraphTarget(key, graph, past=True)
    past = now < situation.pending_until
    connection = graph.connection
    held = connection.columns.state(graph.name)
    if held is not None and situation.state is not None and held.precedes(situation.state):
        with suppress(StoreTimeout, Fault):
            await catch_up(graph, held, situation.state)
    kept = connection.kept.of(graph.name, situation.state)
    columns = connection.columns.of(graph.name, situation.state)
    return GraphTarget(key, graph, past, kept, situation.feedback_at, situation.changes_until, columns)


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
"""How many records of a graph have each value, by filter and value, as `vocabulary.count_values` counts."""


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
