"""A consciousness stream as text for a reader: header, tiers, links among the focus, what was assumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from api.cli import formatting
from schemas.intention import RetrievalIntention
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship
from schemas.stream import LEVEL_NAMES, ConsciousnessStream
from schemas.stream_parts import ResolutionPattern, TemporalDissonance, TraversalPath
from schemas.temporal import TemporalMode, long_date

FOCUS_CHARACTERS = 1500
NAMES_IN_BACKGROUND = 30
MARGIN = 3
MOST_PATHS = 3
MOST_CHANGES = 10


def show(stream: ConsciousnessStream, asked: tuple[str, str], console: Console, *, explain: bool = False) -> None:
    """Print the whole stream. `asked`: what was asked, and about which time."""
    tiers = stream.activation_tiers
    _header(stream, asked, console)
    if not tiers.ordered():
        console.print(Text("Nothing came to mind. Ask in other words, or without filters.", "yellow"))
    _section(console, "in focus", tiers.focus)
    for node in tiers.focus:
        memory(node, stream.entities, console, explain=explain)
    links(stream, console)
    _show_insights(stream, console)
    _section(console, "at the edge of focus", tiers.peripheral)
    for node in tiers.peripheral:
        _brief(node, stream.entities, console, explain=explain)
    _background(tiers.background, console)
    _footer(stream, console)


def indented(console: Console, text: Text) -> None:
    """Print a text wrapped inside the margin, without blanks at the ends of lines."""
    for line in text.wrap(console, max(20, console.width - MARGIN)):
        line.rstrip()
        console.print(Text(" " * MARGIN) + line, soft_wrap=True)


def scope(intention: RetrievalIntention) -> str:
    """The time that a question is about, in words."""
    if intention.temporal_mode is TemporalMode.POINT_IN_TIME:
        known = f"known on {formatting.dated(intention.known_at)}" if intention.known_at else "known then"
        return f"as of {formatting.dated(intention.as_of_time) if intention.as_of_time else 'now'}, as {known}"
    if intention.temporal_mode is TemporalMode.CURRENT:
        return "as of now"
    start, end = intention.time_range_start, intention.time_range_end
    since = f" since {formatting.dated(start)}" if start else ""
    until = f" until {formatting.dated(end)}" if end else ""
    return f"all that was known{since}{until}" if since or until else "all that was ever known"


def memory(node: ConsciousnessNode, entities: Sequence[str], console: Console, *, explain: bool = False) -> None:
    """One memory, whole."""
    console.print(_heading(node))
    if node.description:
        text = formatting.plain(node.description).strip()
        cut = text if len(text) <= FOCUS_CHARACTERS else f"{text[:FOCUS_CHARACTERS]} …"
        indented(console, Text(cut))
    for line in _small_print(node, entities, explain=explain):
        indented(console, Text(line, "bright_black"))
    console.print()


def links(stream: ConsciousnessStream, console: Console) -> None:
    """The links among the memories in focus, each with what was felt."""
    among = list(focus_links(stream))
    if not among:
        return
    names = {
        node.node_id: formatting.shortened(formatting.handle(node), 60) for node in stream.activation_tiers.focus
    }
    console.print(Rule(Text("links among them"), align="left", style="bright_black"))
    for link in among:
        indented(console, link_line(link, names[link.source_id], names[link.target_id]))
    console.print()


def focus_links(stream: ConsciousnessStream) -> Iterator[ConsciousnessRelationship]:
    """Links whose both ends are in focus."""
    for level, name in LEVEL_NAMES.items():
        here = {node.node_id for node in stream.activation_tiers.focus if node.level is level}
        found = stream.levels[name].relationships if name in stream.levels else ()
        yield from (link for link in found if link.source_id in here and link.target_id in here)


def link_line(link: ConsciousnessRelationship, source: str, target: str) -> Text:
    """`a —BLOCKED_BY→ b`, and what was felt."""
    line = Text.assemble(source, (f" —{link.relation_type}→ ", "cyan"), target)
    felt = formatting.one_line(link.felt_quality or link.emotion_description or "") or formatting.emotions(
        link.emotion_vector
    )
    if felt:
        line.append(f"  ({felt})", "italic bright_black")
    return line


def _header(stream: ConsciousnessStream, asked: tuple[str, str], console: Console) -> None:
    console.print(Text(formatting.shortened(asked[0], 300), "bold"))
    total = stream.consciousness_summary.total_results
    said = [
        stream.citizen_id,
        asked[1],
        f"{stream.query_count} queries",
        f"{stream.retrieval_latency_ms:.0f} ms",
        f"{total} {'memory' if total == 1 else 'memories'}",
    ]
    if stream.entities:
        said.append(f"recognised: {', '.join(map(formatting.one_line, dict.fromkeys(stream.entities)))}")
    console.print(Text(" · ".join(said), "bright_black"))
    console.print()


def _section(console: Console, name: str, nodes: Sequence[ConsciousnessNode]) -> None:
    if nodes:
        console.print(Rule(Text(name, "bold"), align="left", style="bright_black"))


def _heading(node: ConsciousnessNode) -> Text:
    return Text.assemble((formatting.title(node), "bold green"), (f" · {long_date(node.valid_at)}", "green"))


def _small_print(node: ConsciousnessNode, entities: Sequence[str], *, explain: bool) -> Iterable[str]:
    said = [node.node_id, str(node.level)]
    if node.node_type not in ("Memory", "Turn"):
        said.append(node.node_type)
    if node.version > 1:
        said.append(f"version {node.version}")
    said += [*formatting.ended(node), formatting.why(node, entities), *formatting.measured(node)]
    yield " · ".join(map(formatting.one_line, said))
    if explain and node.score_terms:
        yield formatting.sum_of_score(node)


def _brief(node: ConsciousnessNode, entities: Sequence[str], console: Console, *, explain: bool) -> None:
    line = _heading(node)
    said = [node.node_id, str(node.level), *formatting.ended(node)]
    line.append(f" · {' · '.join(map(formatting.one_line, said))}", "bright_black")
    console.print(line)
    if node.description:
        text = formatting.shortened(node.description, console.width - MARGIN)
        indented(console, Text(text))
    if explain and node.score_terms:
        details = f"{formatting.why(node, entities)}; {formatting.sum_of_score(node)}"
        indented(console, Text(details, "bright_black"))


def _background(nodes: Sequence[ConsciousnessNode], console: Console) -> None:
    if not nodes:
        return
    console.print()
    console.print(Rule(Text("in the background", "bold"), align="left", style="bright_black"))
    names = [formatting.shortened(formatting.handle(node), 40) for node in nodes[:NAMES_IN_BACKGROUND]]
    more = len(nodes) - len(names)
    console.print(Text(" · ".join(names) + (f" · and {more} more" if more else ""), "bright_black"))


def _footer(stream: ConsciousnessStream, console: Console) -> None:
    lines = [f"missing: {part.query} ({part.reason})" for part in stream.degraded]
    lines += [f"note: {note}" for note in stream.notes]
    if stream.omitted:
        lines.append(f"left out to fit --max-tokens: {stream.omitted}")
    if lines:
        console.print()
    for line in lines:
        console.print(Text(formatting.one_line(line), "yellow"))


def _show_insights(stream: ConsciousnessStream, console: Console) -> None:
    """Print resolution patterns, the likeliest paths, belief changes, and a line of measures."""
    if not stream.activation_tiers.ordered():
        return
    _insight_section(
        "how it was resolved before", [_pattern_line(one) for one in stream.resolution_patterns], console
    )
    paths = stream.traversal_graph.suggested_paths[:MOST_PATHS]
    _insight_section("paths of thought", [_path_line(path) for path in paths], console)
    changes = stream.temporal_dissonances[:MOST_CHANGES]
    _insight_section("beliefs that changed", [_change_line(change) for change in changes], console)
    console.print()
    console.print(Text(_measures_line(stream), "bright_black"))
    console.print()


def _insight_section(name: str, lines: list[Text], console: Console) -> None:
    if not lines:
        return
    console.print()
    console.print(Rule(Text(name, "bold"), align="left", style="bright_black"))
    for line in lines:
        for part in line.wrap(console, max(20, console.width - 3)):
            part.rstrip()
            console.print(Text("   ") + part, soft_wrap=True)


def _path_line(path: TraversalPath) -> Text:
    line = Text(formatting.one_line(path.path_narrative))
    line.append(
        f"  ({path.traversal_probability:.2f} likely, coherence {path.semantic_coherence:.2f})", "bright_black"
    )
    return line


def _pattern_line(pattern: ResolutionPattern) -> Text:
    line = Text(formatting.one_line(f"{pattern.blockage} → resolved by → {pattern.resolution}"))
    if pattern.steps:
        line.append(formatting.one_line(f"; beside it: {', '.join(pattern.steps)}"), "bright_black")
    return line


def _change_line(change: TemporalDissonance) -> Text:
    why = "the world changed" if change.dissonance_type == "reality_changed" else "it was found false"
    days = round(change.held_seconds / 86_400)
    before = formatting.shortened(change.original_belief, 160)
    after = formatting.shortened(change.corrected_belief, 160)
    line = Text(f"{formatting.one_line(change.node_name)}: ", "bold")
    line.append(
        formatting.one_line(f"“{before}” → “{after}”"),
        "not bold",
    )
    line.append(f"  ({why} on {long_date(change.corrected_at)}, held {days} days)", "not bold bright_black")
    return line


def _measures_line(stream: ConsciousnessStream) -> str:
    said = [
        f"energy feedback potential {stream.energy_feedback_potential:.2f}",
        f"metadata {stream.metadata_validation.quality_grade}",
    ]
    if stream.traversal_graph.central_themes:
        said.append(f"themes: {', '.join(map(formatting.one_line, stream.traversal_graph.central_themes))}")
    if stream.energy_feedback is not None:
        feedback = stream.energy_feedback
        said.append(f"energy {feedback.before:.2f} → {feedback.after:.2f}")
    return " · ".join(said)
