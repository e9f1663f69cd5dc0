"""Which graphs a question asks: those that exist, each with whether its past side is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orchestration.dependencies import Deps
from orchestration.graph_queries.recall import Recall
from schemas.errors import Fault, StoreTimeout
from schemas.memory import GraphKey, Level, collective_of
from schemas.temporal import Instant, Scope
from substrate.connection.kept import GraphState
from substrate.connection.together import together
from substrate.graphs.graph import Graph, GraphTarget
from substrate.graphs.names import graph_name
from substrate.graphs.registry import Stamp
from substrate.language.text import count_of
from substrate.store import reader

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
    citizen_id: str, graphs: Sequence[GraphKey], scope: Scope, deps: Deps, *, now: Instant
) -> View:
    """Those of the graphs of a citizen that exist, with `notes`.

    Raises StoreMisfit, Unavailable.
    """
    view = await open_plain_view(citizen_id, graphs, scope, deps, now=now)
    return view._replace(notes=(*view.notes, *await note_learned_later(view)))


async def open_plain_view(
    citizen_id: str, graphs: Sequence[GraphKey], scope: Scope, deps: Deps, *, now: Instant
) -> View:
    """The same without a note on what became known later."""
    targets = await _open_targets(citizen_id, graphs, scope, deps, now=now)
    unknown = Level.N1 in graphs and Level.N1 not in targets
    notes = [f"citizen {citizen_id} is not known here: nothing was remembered for it yet"] if unknown else []
    lacking = (collective_of(key) for key in graphs if key not in targets)
    notes += [f"collective {name} is not known here: nothing was remembered in it yet" for name in lacking if name]
    return View(scope, targets, now, tuple(notes))


async def _open_targets(
    citizen_id: str, graphs: Sequence[GraphKey], scope: Scope, deps: Deps, *, now: Instant
) -> dict[GraphKey, GraphTarget]:
    """Those of the graphs that exist. What was open already is read while the others are looked for."""
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
            deps.graphs.see_to_columns(target.graph, target.columns)
    return {key: opened[key] for key in named if key in opened}


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
    kept, columns = graph.kept(situation.state), graph.columns(situation.state)
    return GraphTarget(key, graph, past, kept, situation.feedback_at, situation.changes_until, columns)
