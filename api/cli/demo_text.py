"""The words of the demo: what a stranger sees of each stream, and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from api.cli import formatting, stream_text
from api.cli.demo_story import CITIZEN, Question, Story
from schemas.citizen import LearningMoments
from schemas.intention import StateBasedRetrieval
from schemas.memory import ConsciousnessNode, Level
from schemas.stream import ConsciousnessStream

LINKS_SHOWN: Final = 4
ALSO_SHOWN: Final = 6
CHANGES_SHOWN: Final = 2
PATHS_SHOWN: Final = 3
WHOSE: Final = {Level.N1: "her own", Level.N2: "the team's", Level.N3: "the world's"}
WORTH_SAYING: Final = 0.3
"""A channel is named when it gave at least this share of what the strongest gave."""


def opening(console: Console, told: Story) -> None:
    """Who Ada is, and when."""
    console.print(Rule(Text("a small life", "bold cyan"), align="left", style="cyan"))
    _paragraph(
        console,
        "Ada is an architect, and a citizen: an agent whose memory outlives her context window. For three "
        "months she works with Luca, Felix, Nicolas and others. All of them are invented.",
    )
    if told.shift.days:
        _paragraph(
            console,
            f"Her story was written for June to August 2025. Here it is moved by {told.shift.days} days, so "
            "that it ended yesterday; what people say in it keeps its own months.",
        )


def taken_in(console: Console, told: Story, seconds: tuple[float, float]) -> None:
    """What was stored, and how long it took."""
    kinds = told.counted()
    revised = kinds["Supersede"] + kinds["Correct"] + kinds["Retract"]
    _paragraph(
        console,
        f"Stored {kinds['Remember']} memories, {kinds['Relate']} links and {revised} changes of mind in three "
        f"graphs (her own, the team's, the world's): {seconds[1]:.1f} s, after {seconds[0]:.1f} s to start "
        "the engine and the embedding model. No language model is involved.",
    )


def asked(console: Console, question: Question, place: tuple[int, int]) -> None:
    """A question, and why it is worth asking."""
    console.print(Rule(Text(f"question {place[0]} of {place[1]}", "bold cyan"), align="left", style="cyan"))
    console.print(Text(question.ask, "bold"))
    _paragraph(console, question.why, "italic")


def answer(console: Console, stream: ConsciousnessStream, now: datetime) -> None:
    """The stream in short: what is in focus and why, the links among it, what else came to mind."""
    tiers = stream.activation_tiers
    _section(
        console,
        "In focus",
        f"what stands out of {len(tiers.ordered())} memories that {len(stream.timings)} queries found in "
        f"{stream.retrieval_latency_ms:.0f} ms; under each: its id, whose it is, why it is here, how it felt",
    )
    for node in tiers.focus:
        _memory(console, node, stream.entities, now)
    console.print()
    _links(console, stream)
    also = [formatting.shortened(formatting.handle(node), 50) for node in tiers.peripheral[:ALSO_SHOWN]]
    if also:
        _section(console, "At the edge", "what comes next to mind")
        stream_text.indented(console, Text("; ".join(also)))
        console.print()


def changed(console: Console, pairs: Sequence[tuple[ConsciousnessNode, ConsciousnessNode]], now: datetime) -> None:
    """What memories in focus said before."""
    if not pairs:
        return
    _section(console, "Changed", "nothing is overwritten; what was held before stays beside what holds now")
    for node, earlier in pairs[:CHANGES_SHOWN]:
        end = f"until {_ago(node.valid_at, now)}" if earlier.invalid_at else "at first"
        why = formatting.REASONS.get(earlier.invalidation_reason or "")
        said = Text.assemble((formatting.title(node), "green"), f", {end}{', when ' + why if why else ''}: ")
        said.append(f"“{_excerpt(earlier.description, console)}”", "italic")
        stream_text.indented(console, said)
    console.print()


def waking(console: Console, state: StateBasedRetrieval) -> None:
    """How she wakes, without a word said."""
    console.print(Rule(Text("woken without a question", "bold cyan"), align="left", style="cyan"))
    felt = ", ".join(f"{name} {much:g}" for name, much in state.current_emotions.items())
    console.print(Text(f"energy {state.current_energy:g}, {felt}, goal {state.current_goal}", "bold"))
    _paragraph(
        console,
        "No text, so nothing is searched by words: what is open or blocked under her goal comes, by its energy, "
        "and what feels as she feels.",
        "italic",
    )


def paths(console: Console, stream: ConsciousnessStream) -> None:
    """The likeliest paths of thought from what is in focus."""
    found = stream.traversal_graph.suggested_paths[:PATHS_SHOWN]
    if not found:
        return
    _section(console, "Paths of thought", "links followed by energy, goal, emotion, confidence and transfer")
    for path in found:
        likely = f"  ({path.traversal_probability:.2f} likely)"
        stream_text.indented(
            console, Text.assemble(formatting.one_line(path.path_narrative), (likely, "bright_black"))
        )
    console.print()


def learned(console: Console, moments: LearningMoments, now: datetime) -> None:
    """A belief that she had to correct, and the mistake that she made more than once."""
    wrong = [one for one in moments.dissonances if one.dissonance_type == "discovered_false"]
    if not wrong:
        return
    console.print(Rule(Text("what she had to unlearn", "bold cyan"), align="left", style="cyan"))
    count = len(moments.dissonances)
    _paragraph(console, f"{count} beliefs changed; {len(wrong)} of them had been wrong. One of those:")
    strongest = max(wrong, key=lambda one: (one.discovery_energy, one.node_id))
    said = Text.assemble((formatting.one_line(strongest.node_name), "green"), ": ")
    said.append(f"“{_excerpt(strongest.original_belief, console)}”", "italic")
    said.append(" → ")
    said.append(f"“{_excerpt(strongest.corrected_belief, console)}”", "italic")
    stream_text.indented(console, said)
    names = {one.node_id: formatting.one_line(one.node_name) for one in moments.dissonances}
    for pattern in (one for one in moments.recurring if one.count > 1):
        where = "; ".join(names[node_id] for node_id in pattern.node_ids)
        again = f"The same mistake {pattern.count} times, put right by {pattern.correction_pattern_id}: {where}"
        stream_text.indented(console, Text(again, "bright_black"))
    console.print()


def past_answer(console: Console, stream: ConsciousnessStream, as_of: datetime, now: datetime) -> None:
    """The same question about an earlier day."""
    _section(
        console,
        f"The same question as of {_ago(as_of, now)}",
        "what held on that day; the team's decision was still the opposite one",
    )
    for node in stream.activation_tiers.focus[:2]:
        _memory(console, node, stream.entities, now)
    console.print()


def what_next(console: Console, command: str, kept: Path | None) -> None:
    """What to try now."""
    console.print(Rule(Text("try next", "bold cyan"), align="left", style="cyan"))
    at = f" --data {kept}" if kept else ""
    steps = []
    if kept is None:
        steps.append((f"{command} demo --keep", "the same life, kept, to ask it yourself"))
    else:
        question = "When did I choose to do nothing all day?"
        steps += [
            (f'{command}{at} ask --citizen {CITIZEN} "{question}"', "ask; --explain shows every term"),
            (f"{command}{at} history ada.m.office --citizen {CITIZEN}", "one memory on both time axes"),
        ]
    steps += [
        (f"{command} ingest chat.json --format messages --citizen you", "your own conversations"),
        (f'{command} ask --citizen you "What did we decide?"', "and what they left behind"),
        (f"{command}{at} serve", "the same over REST, documented at /docs"),
        (f"{command}{at} doctor", "is all well here?"),
    ]
    for step, what in steps:
        console.print(Text.assemble("  ", (step, "bold"), (f"  # {what}", "bright_black")), soft_wrap=True)
    if kept:
        console.print(Text(f"The data stays in {kept}; remove it when you are done.", "yellow"), soft_wrap=True)


def _links(console: Console, stream: ConsciousnessStream) -> None:
    among = sorted(stream_text.focus_links(stream), key=lambda link: -link.energy)[:LINKS_SHOWN]
    if not among:
        return
    _section(console, "Between them", "links carry what was felt; activation travels along them")
    names = {node.node_id: formatting.shortened(node.name, 44) for node in stream.activation_tiers.focus}
    for link in among:
        line = stream_text.link_line(link, names[link.source_id], names[link.target_id])
        stream_text.indented(console, line)
    console.print()


def _memory(console: Console, node: ConsciousnessNode, entities: Sequence[str], now: datetime) -> None:
    console.print(
        Text.assemble((f" • {formatting.title(node)}", "bold green"), (f" · {_ago(node.valid_at, now)}", "green"))
    )
    if node.description:
        stream_text.indented(console, Text(_excerpt(node.description, console)))
    said = [node.node_id, WHOSE[node.level], _because(node, entities), *formatting.measured(node)]
    stream_text.indented(console, Text(" · ".join(said), "bright_black"))


def _because(node: ConsciousnessNode, entities: Sequence[str]) -> str:
    if node.name in entities:
        return "named in the question"
    terms = node.score_terms or {}
    gave = {word: terms.get(name, 0.0) for name, word in formatting.CHANNELS.items()}
    most = max(gave.values())
    strong = [word for word in sorted(gave, key=lambda word: -gave[word]) if gave[word] >= WORTH_SAYING * most]
    said = f"{', '.join(strong[:-1])} and {strong[-1]}" if len(strong) > 1 else strong[0]
    return f"found by its {said}" if most > 0 else "found"


def _excerpt(text: str, console: Console) -> str:
    return formatting.shortened(text, 3 * (console.width - 2 * stream_text.MARGIN))


def _section(console: Console, name: str, explained: str) -> None:
    console.print(Text.assemble((name, "bold"), (f": {explained}", "bright_black")))


def _paragraph(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style))
    console.print()


def _ago(moment: datetime, now: datetime) -> str:
    days = (now.date() - moment.date()).days
    if days < 2:
        return ("today", "yesterday")[max(0, days)]
    if days < 21:
        return f"{days} days ago"
    return f"{days // 7} weeks ago"
