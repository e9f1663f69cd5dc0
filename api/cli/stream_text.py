"""A consciousness stream as text: header, tiers, links in focus, insights, notes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from io import StringIO

from rich.text import Text

from api.cli import formatting
from api.cli.support import MARGIN, Sheet
from orchestration.assembly.budget import cut_to_room, reduced, stems_of
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, MetadataValidationReport
from schemas.stream import (
    LEVEL_NAMES,
    ConsciousnessStream,
    Offer,
    ResolutionPattern,
    TemporalDissonance,
    TraversalPath,
)
from schemas.temporal import ALL_KNOWN, TemporalMode, long_date
from substrate.inference import tokens

FOCUS_CHARACTERS = 1500
NAMES_IN_BACKGROUND = 30
MOST_PATHS = 3
MOST_CHANGES = 10


def show(stream: ConsciousnessStream, page: Sheet, *, question: str, scope: str, explain: bool = False) -> None:
    """Print the whole stream. `scope`: the time that the question is about, in words."""
    tiers = stream.activation_tiers
    _show_header(stream, page, question=question, scope=scope)
    if not tiers.ordered():
        asks_again = "Nothing came to mind. Ask in other words, or without filters."
        too_short = "No memory is as short as --max-tokens allows."
        page.fold(too_short if stream.omitted else asks_again, "yellow")
    if tiers.focus:
        page.heading("in focus")
    for node in tiers.focus:
        _show_memory(node, stream.entities, page, explain=explain)
    _show_links(stream, page)
    _show_insights(stream, page)
    if stream.nothing_fits and tiers.ordered():
        page.fold("Nothing fits the question. The nearest:", "yellow")
        page.print()
    if tiers.peripheral:
        page.heading("nearest" if stream.nothing_fits else "at the edge of focus")
    for node in tiers.peripheral:
        _show_brief(node, stream.entities, page, explain=explain)
    _show_background(tiers.background, page)
    _show_notes(stream, page, explain=explain)


def show_within(
    most: int | None, stream: ConsciousnessStream, page: Sheet, *, question: str, scope: str, explain: bool = False
) -> None:
    """Print the stream with as many of its memories as this many tokens hold; None for all of them."""
    shown = partial(show, question=question, scope=scope, explain=explain)
    if most is None:
        shown(stream, page)
        return
    count = tokens.counter()

    def cost(*memories: ConsciousnessNode, of: ConsciousnessStream = stream) -> int:
        draft = Sheet(file=StringIO(), width=page.width)
        with draft.capture() as printed:
            shown(reduced(of, memories), draft)
        return count(printed.get())

    memories = stream.activation_tiers.ordered()
    number = bisect_right(range(len(memories) + 1), most, key=lambda number: cost(*memories[:number])) - 1
    if number > 0 or not memories:
        shown(reduced(stream, memories[: max(0, number)]), page)
        return
    graph = stream.traversal_graph.model_copy(update={"suggested_paths": (), "central_themes": ()})
    gone = dict.fromkeys(("temporal_dissonances", "resolution_patterns", "offers", "rules", "notes"), ())
    bare = stream.model_copy(update={"traversal_graph": graph, **gone})
    cut = cut_to_room(memories[0], most, stems_of(question), partial(cost, of=bare))
    shown(reduced(bare, [cut]), page)


def describe_scope(intention: RetrievalIntention) -> str:
    """The time that a question is about, in words."""
    if intention.temporal_mode is TemporalMode.POINT_IN_TIME:
        as_of = formatting.format_moment(intention.as_of_time) if intention.as_of_time else "now"
        if intention.known_at is None:
            return f"as of {as_of}, as known then"
        known = "now" if intention.known_at == ALL_KNOWN else f"on {formatting.format_moment(intention.known_at)}"
        return f"as of {as_of}, as known {known}"
    if intention.temporal_mode is TemporalMode.CURRENT:
        return "as of now"
    start, end = intention.time_range_start, intention.time_range_end
    since = f" since {formatting.format_moment(start)}" if start else ""
    until = f" until {formatting.format_moment(end)}" if end else ""
    return f"all that was known{since}{until}" if since or until else "all that was ever known"


def _show_memory(node: ConsciousnessNode, entities: Sequence[str], page: Sheet, *, explain: bool) -> None:
    page.fold(_format_heading(node))
    if node.description:
        text = formatting.strip_controls(node.description).strip()
        page.indent(text if len(text) <= FOCUS_CHARACTERS else f"{text[:FOCUS_CHARACTERS]} …")
    parts = [node.node_id, node.graph_key]
    if node.node_type not in ("Memory", "Turn"):
        parts.append(node.node_type)
    if node.version > 1:
        parts.append(f"version {node.version}")
    parts += [
        *formatting.describe_end(node),
        formatting.explain_match(node, entities),
        *formatting.describe_measures(node),
        *formatting.describe_likeness(node),
    ]
    page.indent(" · ".join(map(formatting.to_line, parts)), "bright_black")
    if explain and node.score_terms:
        page.indent(formatting.format_score(node), "bright_black")
    page.print()


def _show_links(stream: ConsciousnessStream, page: Sheet) -> None:
    among = list(find_focus_links(stream))
    if not among:
        return
    focus = stream.activation_tiers.focus
    names = {node.node_id: formatting.shorten(formatting.choose_handle(node), 60) for node in focus}
    page.heading("links among them", "")
    for link in among:
        page.indent(format_link(link, names[link.source_id], names[link.target_id]))
    page.print()


def find_focus_links(stream: ConsciousnessStream) -> Iterator[ConsciousnessRelationship]:
    """Links with both ends in focus."""
    for level, name in LEVEL_NAMES.items():
        ids = {node.node_id for node in stream.activation_tiers.focus if node.level is level}
        links = stream.levels[name].relationships if name in stream.levels else ()
        yield from (link for link in links if link.source_id in ids and link.target_id in ids)


def format_link(link: ConsciousnessRelationship, source: str, target: str) -> Text:
    """`a —BLOCKED_BY→ b`, and what was felt."""
    line = Text.assemble(source, (f" —{link.relation_type}→ ", "cyan"), target)
    told = formatting.to_line(link.felt_quality or link.emotion_description or "")
    felt = told or formatting.format_emotions(link.emotion_vector)
    if felt:
        line.append(f"  ({felt})", "italic bright_black")
    return line


def _show_header(stream: ConsciousnessStream, page: Sheet, *, question: str, scope: str) -> None:
    page.fold(formatting.shorten(question, 300), "bold")
    total = stream.consciousness_summary.total_results
    found = f"{total} {'memory' if total == 1 else 'memories'}"
    counts = (f"{stream.query_count} queries", f"{stream.retrieval_latency_ms:.0f} ms", found)
    parts = [stream.citizen_id, scope, *counts]
    if stream.answer_confidence is not None:
        parts.append(f"{stream.answer_confidence:.0%} sure of an answer")
    if stream.entities:
        parts.append(f"recognised: {', '.join(map(formatting.to_line, dict.fromkeys(stream.entities)))}")
    page.fold(" · ".join(parts), "bright_black")
    page.print()


def _format_heading(node: ConsciousnessNode) -> Text:
    return Text.assemble(
        (formatting.choose_title(node), "bold green"), (f" · {long_date(node.valid_at)}", "green")
    )


def _show_brief(node: ConsciousnessNode, entities: Sequence[str], page: Sheet, *, explain: bool) -> None:
    line = _format_heading(node)
    parts = [node.node_id, node.graph_key, *formatting.describe_end(node), *formatting.describe_likeness(node)]
    line.append(f" · {' · '.join(map(formatting.to_line, parts))}", "bright_black")
    page.print(line)
    if node.description:
        page.indent(formatting.shorten(node.description, page.width - MARGIN))
    if explain and node.score_terms:
        details = f"{formatting.explain_match(node, entities)}; {formatting.format_score(node)}"
        page.indent(details, "bright_black")


def _show_background(nodes: Sequence[ConsciousnessNode], page: Sheet) -> None:
    if not nodes:
        return
    page.print()
    names = [formatting.shorten(formatting.choose_handle(node), 40) for node in nodes[:NAMES_IN_BACKGROUND]]
    page.heading("in the background")
    more = len(nodes) - len(names)
    page.fold(" · ".join(names) + (f" · and {more} more" if more else ""), "bright_black")


def _show_notes(stream: ConsciousnessStream, page: Sheet, *, explain: bool) -> None:
    lines = [f"missing: {part.query} ({part.reason})" for part in stream.degraded]
    lines += [f"note: {note}" for note in stream.notes if explain or not note.startswith("answer_confidence, in")]
    if stream.omitted:
        lines.append(f"left out to fit --max-tokens: {stream.omitted}")
    if lines:
        page.print()
    for line in lines:
        page.fold(formatting.to_line(line), "yellow")


def _show_insights(stream: ConsciousnessStream, page: Sheet) -> None:
    """Resolution patterns, the likeliest paths, belief changes, and a line of measures."""
    if not stream.activation_tiers.ordered():
        return
    paths, changes = stream.traversal_graph.suggested_paths, stream.temporal_dissonances
    for name, lines in (
        ("how it was resolved before", list(map(_format_pattern, stream.resolution_patterns))),
        ("could be done (substrate offers)", list(map(format_offer, stream.offers))),
        ("paths of thought", list(map(_format_path, paths[:MOST_PATHS]))),
        ("beliefs that changed", list(map(_format_change, changes[:MOST_CHANGES]))),
    ):
        if lines:
            page.print()
            page.heading(name)
        for line in lines:
            page.indent(line)
    page.print()
    potential = f"energy feedback potential {stream.energy_feedback_potential:.2f}"
    parts = [potential, describe_grade(stream.metadata_validation)]
    if stream.traversal_graph.central_themes:
        parts.append(f"themes: {', '.join(map(formatting.to_line, stream.traversal_graph.central_themes))}")
    if stream.energy_feedback is not None:
        feedback = stream.energy_feedback
        parts.append(f"relative potential {stream.relative_potential:.2f}")
        parts.append(f"energy {feedback.before:.2f} → {feedback.after:.2f}")
    page.fold(" · ".join(parts), "bright_black")
    page.print()


def _format_path(path: TraversalPath) -> Text:
    measures = f"  ({path.traversal_probability:.2f} likely, coherence {path.semantic_coherence:.2f})"
    return Text(formatting.to_line(path.path_narrative)).append(measures, "bright_black")


def _format_pattern(pattern: ResolutionPattern) -> Text:
    line = Text(formatting.to_line(f"{pattern.blockage} → resolved by → {pattern.resolution}"))
    if pattern.steps:
        line.append(formatting.to_line(f"; beside it: {', '.join(pattern.steps)}"), "bright_black")
    return line


def format_offer(offer: Offer) -> Text:
    """`resolve The schema review: it was resolved by “…”`, and the id of the offer."""
    line = Text(formatting.to_line(f"{offer.kind} {offer.name}: {offer.reason}"))
    line.append(f"  {offer.id}", "bright_black")
    return line


def _format_change(change: TemporalDissonance) -> Text:
    reason = "the world changed" if change.dissonance_type == "reality_changed" else "it was found false"
    days = round(change.held_seconds / 86_400)
    before = formatting.shorten(change.original_belief, 160)
    after = formatting.shorten(change.corrected_belief, 160)
    line = Text(f"{formatting.to_line(change.node_name)}: ", "bold")
    line.append(formatting.to_line(f"“{before}” → “{after}”"), "not bold")
    line.append(f"  ({reason} on {long_date(change.corrected_at)}, held {days} days)", "not bold bright_black")
    return line


def describe_grade(report: MetadataValidationReport) -> str:
    """The grade of what was given, and how many fields the service filled."""
    if not report.nothing_given:
        return f"metadata {report.quality_grade}"
    inferred = sum(report.inferred_fields.values())
    return f"metadata: none given{f', {inferred:,} fields inferred' if inferred else ''}"
