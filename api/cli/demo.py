"""`substrate demo`: store the life of an invented citizen, and ask it three questions."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from api.cli import formatting, stream_text, support
from api.cli.demo_story import CITIZEN, TEAM, WORLD, DemoQuestion, Story, read_story, take_in_story
from api.runtime.runtime import Runtime, now
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.errors import Fault, InvalidRequest
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, Level
from schemas.settings import Settings, StoreSettings
from schemas.stream import ConsciousnessStream
from schemas.temporal import TemporalMode
from substrate.graphs.names import graph_name
from substrate.language.text import count_of
from substrate.store import reader, rows

ASKED_AGAIN: Final = "Why do we no longer filter by time inside the vector search?"
BEFORE_THE_CHANGE: Final = datetime(2025, 8, 1, tzinfo=UTC)
"""A day of the story before the team reversed its decision."""

WOKEN_WITH: Final[Mapping[str, Any]] = {
    "current_energy": 0.7,
    "current_emotions": {"drive": 0.8, "uncertainty": 0.3},
    "current_goal": "design_phase_3_architecture",
    "query_mode": "find_related_unresolved",
}
"""The state in which Ada wakes."""
CITIZENS_SHOWN: Final = 3
LINKS_SHOWN: Final = 4
ALSO_SHOWN: Final = 6
CHANGES_SHOWN: Final = 2
PATHS_SHOWN: Final = 3
WHOSE: Final = {None: "her own", TEAM: "the team's", WORLD: "the world's"}
ASKED: Final[Mapping[str, Any]] = {
    "citizen_id": CITIZEN,
    "query_levels": (Level.N1,),
    "collectives": (TEAM, WORLD),
    "explain": True,
}
"""Whom the demo asks."""
WORTH_SAYING: Final = 0.3
"""A channel is named when its part is at least this share of the strongest."""

app = typer.Typer(add_completion=False)


class TextChange(NamedTuple):
    """A memory, and its latest record with a different text."""

    node: ConsciousnessNode
    earlier: ConsciousnessNode


@app.command()
def demo(
    ctx: typer.Context,
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the data, to ask more questions.")] = False,
) -> None:
    """Load an example life and ask it three questions.

    It uses a temporary directory, which is removed at the end. With --keep the life stays in the directory of
    --data or SUBSTRATE_DATA, if one is named and holds no memories yet; what her team and her world know is in
    the collectives ada-team and ada-world, which nobody else is asked. It uses the local embedding model
    unless SUBSTRATE_EMBEDDING names another, or `none`.
    """
    life = read_story(now())
    configured = support.read_settings(ctx)
    with _choose_directory(configured.store, keep=keep) as directory:
        # The local model unless one is configured: an OpenAI key alone must not make the demo send texts there.
        chosen = configured.embedding.embedding or "local"
        embedding = configured.embedding.model_copy(update={"embedding": chosen})
        settings = replace(support.use_directory(configured, Path(directory)), embedding=embedding)
        console = support.output()
        support.run(_run_story(life, settings, console))
        _show_next_steps(console, _find_command(), Path(directory) if keep else None)


def _choose_directory(store: StoreSettings, *, keep: bool) -> AbstractContextManager[str]:
    """The directory that is named, to keep the life there; else a temporary one."""
    if keep and "data" in store.model_fields_set:
        return nullcontext(str(store.data))
    return tempfile.TemporaryDirectory(prefix="substrate-demo-", delete=not keep)


async def _check_nothing_stored(runtime: Runtime, settings: Settings) -> None:
    """Raises InvalidRequest when the directory has memories, of whomever."""
    if await runtime.deps.graphs.existing():
        named = await runtime.deps.graphs.citizens()
        whose = f", of {', '.join(named[:CITIZENS_SHOWN])}{', …' if len(named) > CITIZENS_SHOWN else ''}"
        raise InvalidRequest(
            f"{settings.store.data} holds memories already{whose if named else ''}: "
            "the example life goes into a directory of its own",
            remedy="Name another directory: substrate --data DIRECTORY demo --keep.",
        )


def _find_command() -> str:
    """How the reader can call this program from the current directory."""
    called = Path(sys.argv[0])
    if called.name != "substrate":
        return f"{Path(sys.executable).name} -m api.cli"
    return "substrate" if shutil.which("substrate") else os.path.relpath(called)


async def _run_story(life: Story, settings: Settings, console: Console) -> None:
    begun = time.perf_counter()
    async with support.open_store(settings) as runtime:
        opened = time.perf_counter()
        await _check_nothing_stored(runtime, settings)
        _show_opening(console, life)
        with support.progress_bar(support.messages(), life.size, "messages, memories and links") as advance:
            faults = await take_in_story(life, runtime.deps, await runtime.moment(), advance)
        if faults:
            raise Fault(f"the example life was not fully stored: {faults[0]}", remedy="Install Substrate again.")
        _show_intake(console, life, opening=opened - begun, storing=time.perf_counter() - opened)
        for number, question in enumerate(life.questions, start=1):
            console.print(
                Rule(Text(f"question {number} of {len(life.questions)}", "bold cyan"), align="left", style="cyan")
            )
            console.print(Text(question.ask, "bold"))
            _print_paragraph(console, question.why, "italic")
            await _answer_question(question, runtime, console)
            if question.ask == ASKED_AGAIN:
                await _answer_in_the_past(question, life, runtime, console)
        await _wake(runtime, console)
        moments = await runtime.deps.features.read("learning", CITIZEN, runtime.deps, now())
        _show_corrections(console, moments, datetime.now(UTC))


async def _answer_question(question: DemoQuestion, runtime: Runtime, console: Console) -> None:
    intention = RetrievalIntention(query_text=question.ask, **ASKED)
    stream = await retrieve_consciousness_context(intention, runtime.deps, await runtime.moment())
    _show_answer(console, stream, datetime.now(UTC))
    _show_changes(console, await _find_changes(stream, runtime), datetime.now(UTC))


async def _wake(runtime: Runtime, console: Console) -> None:
    state = StateBasedRetrieval(**ASKED, **WOKEN_WITH)
    console.print(Rule(Text("woken without a question", "bold cyan"), align="left", style="cyan"))
    energy, emotions, goal = (WOKEN_WITH[f"current_{name}"] for name in ("energy", "emotions", "goal"))
    felt = ", ".join(f"{name} {much:g}" for name, much in emotions.items())
    console.print(Text(f"energy {energy:g}, {felt}, goal {goal}", "bold"))
    _print_paragraph(
        console,
        "No question, so nothing is searched by words: she finds the open and blocked memories under her goal, by "
        "their energy, and those that feel as she does.",
        "italic",
    )
    stream = await retrieve_consciousness_context_from_state(state, runtime.deps, await runtime.moment())
    _show_answer(console, stream, datetime.now(UTC))
    _show_paths(console, stream)


async def _answer_in_the_past(question: DemoQuestion, life: Story, runtime: Runtime, console: Console) -> None:
    as_of, today = life.moved(BEFORE_THE_CHANGE), datetime.now(UTC)
    intention = RetrievalIntention(
        query_text=question.ask,
        temporal_mode=TemporalMode.POINT_IN_TIME,
        as_of_time=as_of,
        known_at=today,
        **ASKED,
    )
    stream = await retrieve_consciousness_context(intention, runtime.deps, await runtime.moment())
    _print_section(
        console,
        f"The same question as of {_format_ago(as_of, today)}",
        "what held on that day; the team's decision was still the opposite one",
    )
    for node in stream.activation_tiers.focus[:2]:
        _show_memory(console, node, stream.entities, today)
    console.print()


async def _find_changes(stream: ConsciousnessStream, runtime: Runtime) -> Sequence[TextChange]:
    """Memories in focus whose text changed, each with the last record of the former text."""
    changes = []
    for node in stream.activation_tiers.focus:
        if node.version == 1:
            continue
        graph = graph_name(node.graph_key, CITIZEN)
        records = await reader.history(runtime.deps.graph(graph), node.node_id)
        nodes = [rows.node(row, node.level) for row in records]
        others = [earlier for earlier in nodes if earlier.description != node.description]
        if others:
            changes.append(TextChange(node, others[-1]))
    return changes


def _show_opening(console: Console, life: Story) -> None:
    console.print(Rule(Text("a small life", "bold cyan"), align="left", style="cyan"))
    _print_paragraph(
        console,
        "Ada is an architect, and a citizen: an agent whose memory outlives her context window. For three "
        "months she works with Luca, Felix, Nicolas and others. All of them are invented.",
    )
    if life.shift.days:
        _print_paragraph(
            console,
            f"Her story was written for June to August 2025. Here it is moved by {life.shift.days} days, so "
            "that it ended yesterday; what people say in it keeps its own months.",
        )


def _show_intake(console: Console, life: Story, *, opening: float, storing: float) -> None:
    """`opening`, `storing`: in seconds."""
    kinds = life.count_kinds()
    revised = kinds["Supersede"] + kinds["Correct"] + kinds["Retract"]
    _print_paragraph(
        console,
        f"Stored {count_of(kinds['Remember'], 'memory')}, {count_of(kinds['Relate'], 'link')} and {revised} "
        f"changes of mind in three graphs (her own, the team's, the world's): {storing:.1f} s, "
        f"after {opening:.1f} s to start the engine and the embedding model. No language model is involved.",
    )


def _show_answer(console: Console, stream: ConsciousnessStream, now: datetime) -> None:
    """Print the memories in focus with the reasons, their links, and the next memories."""
    tiers = stream.activation_tiers
    _print_section(
        console,
        "In focus",
        f"what stands out of {len(tiers.ordered())} memories that {len(stream.timings)} queries found in "
        f"{stream.retrieval_latency_ms:.0f} ms; under each: its id, whose it is, why it is here, how it felt",
    )
    for node in tiers.focus:
        _show_memory(console, node, stream.entities, now)
    console.print()
    _show_links(console, stream)
    also = [formatting.shorten(formatting.choose_handle(node), 50) for node in tiers.peripheral[:ALSO_SHOWN]]
    if also:
        _print_section(console, "At the edge", "what comes next to mind")
        stream_text.print_indented(console, Text("; ".join(also)))
        console.print()


def _show_changes(console: Console, changes: Sequence[TextChange], now: datetime) -> None:
    if not changes:
        return
    _print_section(console, "Changed", "nothing is overwritten; the old content stays beside the new")
    for node, earlier in changes[:CHANGES_SHOWN]:
        end = f"until {_format_ago(node.valid_at, now)}" if earlier.invalid_at else "at first"
        reason = formatting.REASONS.get(earlier.invalidation_reason or "")
        line = Text.assemble(
            (formatting.choose_title(node), "green"), f", {end}{', when ' + reason if reason else ''}: "
        )
        line.append(f"“{_shorten(earlier.description, console)}”", "italic")
        stream_text.print_indented(console, line)
    console.print()


def _show_paths(console: Console, stream: ConsciousnessStream) -> None:
    paths = stream.traversal_graph.suggested_paths[:PATHS_SHOWN]
    if not paths:
        return
    _print_section(console, "Paths of thought", "links followed by energy, goal, emotion, confidence and transfer")
    for path in paths:
        likely = f"  ({path.traversal_probability:.2f} likely)"
        stream_text.print_indented(
            console, Text.assemble(formatting.to_line(path.path_narrative), (likely, "bright_black"))
        )
    console.print()


def _show_corrections(console: Console, moments: Any, now: datetime) -> None:
    """Print one corrected belief, and each mistake made more than once; nothing where no feature says."""
    wrong = (
        []
        if moments is None
        else [moment for moment in moments.dissonances if moment.dissonance_type == "discovered_false"]
    )
    if not wrong:
        return
    console.print(Rule(Text("what she had to unlearn", "bold cyan"), align="left", style="cyan"))
    count = len(moments.dissonances)
    _print_paragraph(console, f"{count} beliefs changed; {len(wrong)} of them had been wrong. One of those:")
    strongest = max(wrong, key=lambda moment: (moment.discovery_energy, moment.node_id))
    line = Text.assemble((formatting.to_line(strongest.node_name), "green"), ": ")
    line.append(f"“{_shorten(strongest.original_belief, console)}”", "italic")
    line.append(" → ")
    line.append(f"“{_shorten(strongest.corrected_belief, console)}”", "italic")
    stream_text.print_indented(console, line)
    names = {moment.node_id: formatting.to_line(moment.node_name) for moment in moments.dissonances}
    for pattern in (pattern for pattern in moments.recurring if pattern.count > 1):
        where = "; ".join(names[node_id] for node_id in pattern.node_ids)
        again = f"The same mistake {pattern.count} times, put right by {pattern.correction_pattern_id}: {where}"
        stream_text.print_indented(console, Text(again, "bright_black"))
    console.print()


def _show_next_steps(console: Console, command: str, directory: Path | None) -> None:
    console.print(Rule(Text("try next", "bold cyan"), align="left", style="cyan"))
    at = f" --data {directory}" if directory else ""
    steps = []
    if directory is None:
        steps.append((f"{command} demo --keep", "the same life, kept, to ask it yourself"))
    else:
        question = "When did I choose to do nothing all day?"
        steps += [
            (f'{command}{at} ask --citizen {CITIZEN} "{question}"', "ask; --explain shows every term"),
            (f'{command}{at} ask --citizen {CITIZEN} --collective {TEAM} "{ASKED_AGAIN}"', "her team too"),
            (f"{command}{at} history ada.m.office --citizen {CITIZEN}", "one memory on both time axes"),
        ]
    steps += [
        (f"{command} ingest chat.json --format messages --citizen you", "your own conversations"),
        (f'{command} ask --citizen you "What did we decide?"', "and what they left behind"),
        (f"{command}{at} serve", "the same over REST, documented at /docs"),
        (f"{command}{at} doctor", "is all well here?"),
    ]
    for step, purpose in steps:
        console.print(Text.assemble("  ", (step, "bold"), (f"  # {purpose}", "bright_black")), soft_wrap=True)
    if directory:
        console.print(
            Text(f"The data stays in {directory}; remove it when you are done.", "yellow"), soft_wrap=True
        )


def _show_links(console: Console, stream: ConsciousnessStream) -> None:
    among = sorted(stream_text.find_focus_links(stream), key=lambda link: -link.energy)[:LINKS_SHOWN]
    if not among:
        return
    _print_section(console, "Between them", "links carry what was felt; activation travels along them")
    names = {node.node_id: formatting.shorten(node.name, 44) for node in stream.activation_tiers.focus}
    for link in among:
        line = stream_text.format_link(link, names[link.source_id], names[link.target_id])
        stream_text.print_indented(console, line)
    console.print()


def _show_memory(console: Console, node: ConsciousnessNode, entities: Sequence[str], now: datetime) -> None:
    console.print(
        Text.assemble(
            (f" • {formatting.choose_title(node)}", "bold green"),
            (f" · {_format_ago(node.valid_at, now)}", "green"),
        )
    )
    if node.description:
        stream_text.print_indented(console, Text(_shorten(node.description, console)))
    details = [node.node_id, WHOSE[node.collective], _explain(node, entities), *formatting.describe_measures(node)]
    stream_text.print_indented(console, Text(" · ".join(details), "bright_black"))


def _explain(node: ConsciousnessNode, entities: Sequence[str]) -> str:
    if node.name in entities:
        return "named in the question"
    terms = node.score_terms or {}
    shares = {word: terms.get(name, 0.0) for name, word in formatting.CHANNELS.items()}
    most = max(shares.values())
    by_share = sorted(shares, key=lambda word: -shares[word])
    strong = [word for word in by_share if shares[word] >= WORTH_SAYING * most]
    channels = f"{', '.join(strong[:-1])} and {strong[-1]}" if len(strong) > 1 else strong[0]
    return f"found by its {channels}" if most > 0 else "found"


def _shorten(text: str, console: Console) -> str:
    return formatting.shorten(text, 3 * (console.width - 2 * stream_text.MARGIN))


def _print_section(console: Console, name: str, explained: str) -> None:
    console.print(Text.assemble((name, "bold"), (f": {explained}", "bright_black")))


def _print_paragraph(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style))
    console.print()


def _format_ago(moment: datetime, now: datetime) -> str:
    days = (now.date() - moment.date()).days
    if days < 2:
        return ("today", "yesterday")[max(0, days)]
    if days < 21:
        return f"{days} days ago"
    return f"{days // 7} weeks ago"
