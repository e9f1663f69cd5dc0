"""What a stream says beyond what it found, in the terminal: paths of thought, changes of belief, patterns."""

from __future__ import annotations

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from api.cli import formatting
from schemas.stream import ConsciousnessStream
from schemas.stream_parts import ResolutionPattern, TemporalDissonance, TraversalPath
from schemas.temporal import long_date

MOST_PATHS = 3
MOST_CHANGES = 10


def show(stream: ConsciousnessStream, console: Console) -> None:
    """Print resolution patterns, the likeliest paths, belief changes, and a line of measures."""
    if not stream.activation_tiers.ordered():
        return
    _section("how it was resolved before", [_pattern(one) for one in stream.resolution_patterns], console)
    paths = stream.traversal_graph.suggested_paths[:MOST_PATHS]
    _section("paths of thought", [_path(path) for path in paths], console)
    changes = stream.temporal_dissonances[:MOST_CHANGES]
    _section("beliefs that changed", [_change(change) for change in changes], console)
    console.print()
    console.print(Text(_measures(stream), "bright_black"))
    console.print()


def _section(name: str, lines: list[Text], console: Console) -> None:
    if not lines:
        return
    console.print()
    console.print(Rule(Text(name, "bold"), align="left", style="bright_black"))
    for line in lines:
        for part in line.wrap(console, max(20, console.width - 3)):
            part.rstrip()
            console.print(Text("   ") + part, soft_wrap=True)


def _path(path: TraversalPath) -> Text:
    line = Text(formatting.one_line(path.path_narrative))
    line.append(
        f"  ({path.traversal_probability:.2f} likely, coherence {path.semantic_coherence:.2f})", "bright_black"
    )
    return line


def _pattern(pattern: ResolutionPattern) -> Text:
    line = Text(formatting.one_line(f"{pattern.blockage} → resolved by → {pattern.resolution}"))
    if pattern.steps:
        line.append(formatting.one_line(f"; beside it: {', '.join(pattern.steps)}"), "bright_black")
    return line


def _change(change: TemporalDissonance) -> Text:
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


def _measures(stream: ConsciousnessStream) -> str:
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
