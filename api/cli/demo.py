"""`substrate demo`: store the life of an invented citizen, and ask it three questions.

The life is read from files, shifted so that it ends yesterday, and ingested as it happened.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from rich.text import Text

from api.cli import formatting, stream_text, support
from api.cli.program import Command, option
from api.runtime.runtime import Runtime, now, open_runtime
from orchestration.ingestion.formats import parse
from orchestration.ingestion.formats.reader import File, FileSet, ParsedFiles
from orchestration.ingestion.pipeline import ingest_as_happened
from orchestration.ingestion.storing import length
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.errors import Fault, InvalidRequest, NotFound
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import ConsciousnessNode, Level
from schemas.settings import Settings
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant, TemporalMode, to_datetime
from substrate.graphs.names import graph_name
from substrate.language.text import count_of
from substrate.store import reader, rows

CITIZEN: Final = "ada"
TEAM, WORLD = "ada-team", "ada-world"
ROOMS: Final = {"N2": TEAM, "N3": WORLD}
"""What her team and her world know stands in collectives of their own: all citizens read N2 and N3."""
CARRIED: Final = Path(__file__).resolve().parent / "ada"
HOME: Final = CARRIED if CARRIED.exists() else Path(__file__).resolve().parents[2] / "examples" / "ada"
"""A wheel has the files beside this module, a source tree has them in `examples`."""
FILES: Final = (
    ("n1_personal.jsonl", "commands"),
    ("n2_collective.jsonl", "commands"),
    ("n3_ecosystem.jsonl", "commands"),
    ("talk_with_luca.jsonl", "messages"),
)
TIMES: Final = ("valid_at", "invalid_at", "effective_at", "timestamp")

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

type _TextChange = tuple[ConsciousnessNode, ConsciousnessNode]
"""A memory, and its latest record with a different text."""


class Story(NamedTuple):
    """The example life, moved in time by `shift`, and its questions, each with why it is asked."""

    life: ParsedFiles
    questions: tuple[tuple[str, str], ...]
    shift: timedelta


def read_story(now: Instant, home: Path = HOME) -> Story:
    """The example life, moved by whole days so that it ended yesterday.

    Raises NotFound when the examples are not there.
    """
    try:
        expected = orjson.loads((home / "expect.json").read_bytes())
        texts = [(home / name).read_text("utf-8") for name, _ in FILES]
    except FileNotFoundError as error:
        raise NotFound(
            f"the example life is not here ({home})",
            remedy="It is part of every wheel and every clone: install Substrate again.",
        ) from error
    end = datetime.fromisoformat(expected["now"])
    shift = timedelta(days=(to_datetime(now).date() - end.date()).days)
    intakes = []
    for (name, form), text in zip(FILES, texts, strict=True):
        moved = "\n".join(_move_line(line, shift) for line in text.splitlines())
        intakes.append(parse(form, FileSet(Path(name).stem, (File(name, moved),), CITIZEN)))
    items = tuple(item for intake in intakes for item in intake.items)
    asked = (question for question in expected["questions"] if question.get("demo"))
    questions = tuple((question["ask"], question["why"]) for question in asked)
    return Story(replace(intakes[0], items=items), questions, shift)


def _move_line(line: str, shift: timedelta) -> str:
    """A line of JSON, in its room, with every time field moved; dates in texts stay."""
    entry = orjson.loads(line)
    moved = {name: datetime.fromisoformat(entry[name]) + shift for name in TIMES if entry.get(name)}
    room = ROOMS.get(entry.get("level", ""))
    placed = {"level": "N2", "collective": room} if room else {}
    return orjson.dumps({**entry, **moved, **placed}).decode()


class DemoCommand(Command, name="demo"):
    """Load an example life and ask it three questions.

    It uses a temporary directory, which is removed at the end. With --keep the life stays in the directory of
    --data or SUBSTRATE_DATA, if one is named and holds no memories yet; what her team and her world know is in
    the collectives ada-team and ada-world, which nobody else is asked. It uses the local embedding model
    unless SUBSTRATE_EMBEDDING names another, or `none`.
    """

    keep: bool = option("--keep", "Keep the data, to ask more questions.", False)

    def run(self) -> None:
        story = read_story(now())
        configured = support.read_settings(self.ctx)
        directory: AbstractContextManager[str]
        if self.keep and "data" in configured.store.model_fields_set:
            directory = nullcontext(str(configured.store.data))
        else:
            directory = tempfile.TemporaryDirectory(prefix="substrate-demo-", delete=not self.keep)
        with directory as name:
            # The local model unless one is configured: an OpenAI key alone must not make it send texts there.
            chosen = configured.embedding.embedding or "local"
            embedding = configured.embedding.model_copy(update={"embedding": chosen})
            settings = replace(support.use_directory(configured, Path(name)), embedding=embedding)
            page = support.output()
            support.run(_run_story(story, settings, page))
            _show_next_steps(page, Path(name) if self.keep else None)


async def _check_nothing_stored(runtime: Runtime, settings: Settings) -> None:
    """Raises InvalidRequest when the directory has memories, of whomever."""
    if await runtime.deps.graphs.existing_or_parked():
        named = await runtime.deps.graphs.citizens()
        whose = f", of {', '.join(named[:CITIZENS_SHOWN])}{', …' if len(named) > CITIZENS_SHOWN else ''}"
        raise InvalidRequest(
            f"{settings.store.data} holds memories already{whose if named else ''}: "
            "the example life goes into a directory of its own",
            remedy="Name another directory: substrate --data DIRECTORY demo --keep.",
        )


async def _run_story(story: Story, settings: Settings, page: support.Sheet) -> None:
    begun = time.perf_counter()
    async with open_runtime(settings, support.report_loading()) as runtime:
        opened = time.perf_counter()
        await _check_nothing_stored(runtime, settings)
        _show_opening(page, story.shift.days)
        total, at = sum(map(length, story.life.items)), await runtime.moment()
        with support.progress_bar(total, "messages, memories and links") as advance:
            report = await ingest_as_happened(story.life, runtime.deps, at, progress=advance)
        if report.faults:
            fault = f"the example life was not fully stored: {report.faults[0]}"
            raise Fault(fault, remedy="Install Substrate again.")
        opening, storing = opened - begun, time.perf_counter() - opened
        kinds = Counter(type(command).__name__ for item in story.life.items for command in item.commands())
        revised = kinds["Supersede"] + kinds["Correct"] + kinds["Retract"]
        _print_paragraph(
            page,
            f"Stored {count_of(kinds['Remember'], 'memory')}, {count_of(kinds['Relate'], 'link')} and {revised} "
            f"changes of mind in three graphs (her own, the team's, the world's): {storing:.1f} s, "
            f"after {opening:.1f} s to start the engine and the embedding model. No language model is involved.",
        )
        for number, (question, why) in enumerate(story.questions, start=1):
            page.heading(f"question {number} of {len(story.questions)}", "bold cyan", "cyan")
            page.fold(question, "bold")
            _print_paragraph(page, why, "italic")
            intention = RetrievalIntention(query_text=question, **ASKED)
            stream = await retrieve_consciousness_context(intention, runtime.deps, await runtime.moment())
            _show_answer(page, stream)
            _show_changes(page, await _find_changes(stream, runtime))
            if question == ASKED_AGAIN:
                await _answer_in_the_past(BEFORE_THE_CHANGE + story.shift, runtime, page)
        await _wake(runtime, page)
        moments = await runtime.deps.features.read("learning", CITIZEN, runtime.deps, now())
        _show_corrections(page, moments)


async def _wake(runtime: Runtime, page: support.Sheet) -> None:
    state = StateBasedRetrieval(**ASKED, **WOKEN_WITH)
    page.heading("woken without a question", "bold cyan", "cyan")
    energy, emotions, goal = (WOKEN_WITH[f"current_{name}"] for name in ("energy", "emotions", "goal"))
    felt = ", ".join(f"{name} {much:g}" for name, much in emotions.items())
    page.fold(f"energy {energy:g}, {felt}, goal {goal}", "bold")
    _print_paragraph(
        page,
        "No question, so nothing is searched by words: she finds the open and blocked memories under her goal, by "
        "their energy, and those that feel as she does.",
        "italic",
    )
    stream = await retrieve_consciousness_context_from_state(state, runtime.deps, await runtime.moment())
    _show_answer(page, stream)
    paths = stream.traversal_graph.suggested_paths[:PATHS_SHOWN]
    if not paths:
        return
    _print_section(page, "Paths of thought", "links followed by energy, goal, emotion, confidence and transfer")
    for path in paths:
        likely = (f"  ({path.traversal_probability:.2f} likely)", "bright_black")
        page.indent(Text.assemble(formatting.to_line(path.path_narrative), likely))
    page.print()


async def _answer_in_the_past(as_of: datetime, runtime: Runtime, page: support.Sheet) -> None:
    mode, today = TemporalMode.POINT_IN_TIME, datetime.now(UTC)
    moment: dict[str, Any] = {"temporal_mode": mode, "as_of_time": as_of, "known_at": today}
    intention = RetrievalIntention(query_text=ASKED_AGAIN, **moment, **ASKED)
    stream = await retrieve_consciousness_context(intention, runtime.deps, await runtime.moment())
    _print_section(
        page,
        f"The same question as of {_format_ago(as_of)}",
        "what held on that day; the team's decision was still the opposite one",
    )
    for node in stream.activation_tiers.focus[:2]:
        _show_memory(page, node, stream.entities)
    page.print()


async def _find_changes(stream: ConsciousnessStream, runtime: Runtime) -> Sequence[_TextChange]:
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
            changes.append((node, others[-1]))
    return changes


def _show_opening(page: support.Sheet, days: int) -> None:
    page.heading("a small life", "bold cyan", "cyan")
    _print_paragraph(
        page,
        "Ada is an architect, and a citizen: an agent whose memory outlives her context window. For three "
        "months she works with Luca, Felix, Nicolas and others. All of them are invented.",
    )
    if days:
        _print_paragraph(
            page,
            f"Her story was written for June to August 2025. Here it is moved by {days} days, so "
            "that it ended yesterday; what people say in it keeps its own months.",
        )


def _show_answer(page: support.Sheet, stream: ConsciousnessStream) -> None:
    """Print the memories in focus with the reasons, their links, and the next memories."""
    tiers = stream.activation_tiers
    _print_section(
        page,
        "In focus",
        f"what stands out of {len(tiers.ordered())} memories that {len(stream.timings)} queries found in "
        f"{stream.retrieval_latency_ms:.0f} ms; under each: its id, whose it is, why it is here, how it felt",
    )
    for node in tiers.focus:
        _show_memory(page, node, stream.entities)
    page.print()
    _show_links(page, stream)
    also = [formatting.shorten(formatting.choose_handle(node), 50) for node in tiers.peripheral[:ALSO_SHOWN]]
    if also:
        _print_section(page, "At the edge", "what comes next to mind")
        page.indent("; ".join(also))
        page.print()


def _show_changes(page: support.Sheet, changes: Sequence[_TextChange]) -> None:
    if not changes:
        return
    _print_section(page, "Changed", "nothing is overwritten; the old content stays beside the new")
    for node, earlier in changes[:CHANGES_SHOWN]:
        end = f"until {_format_ago(node.valid_at)}" if earlier.invalid_at else "at first"
        reason = formatting.REASONS.get(earlier.invalidation_reason or "")
        when = f", {end}{', when ' + reason if reason else ''}: "
        line = Text.assemble((formatting.choose_title(node), "green"), when)
        line.append(f"“{_shorten(earlier.description, page)}”", "italic")
        page.indent(line)
    page.print()


def _show_corrections(page: support.Sheet, moments: Any) -> None:
    """Print one corrected belief, and each mistake made more than once; nothing where no feature says."""
    dissonances = () if moments is None else moments.dissonances
    wrong = [moment for moment in dissonances if moment.dissonance_type == "discovered_false"]
    if not wrong:
        return
    page.heading("what she had to unlearn", "bold cyan", "cyan")
    told = f"{len(dissonances)} beliefs changed; {len(wrong)} of them had been wrong. One of those:"
    _print_paragraph(page, told)
    strongest = max(wrong, key=lambda moment: (moment.discovery_energy, moment.node_id))
    line = Text.assemble((formatting.to_line(strongest.node_name), "green"), ": ")
    line.append(f"“{_shorten(strongest.original_belief, page)}”", "italic")
    line.append(" → ")
    line.append(f"“{_shorten(strongest.corrected_belief, page)}”", "italic")
    page.indent(line)
    names = {moment.node_id: formatting.to_line(moment.node_name) for moment in dissonances}
    for pattern in moments.recurring:
        if pattern.count < 2:
            continue
        where = "; ".join(names[node_id] for node_id in pattern.node_ids)
        again = f"The same mistake {pattern.count} times, put right by {pattern.correction_pattern_id}: {where}"
        page.indent(again, "bright_black")
    page.print()


def _show_next_steps(page: support.Sheet, directory: Path | None) -> None:
    """Print commands as the reader can call them from the current directory."""
    page.heading("try next", "bold cyan", "cyan")
    called = Path(sys.argv[0])
    is_command = called.name == "substrate"
    run = called if is_command else Path(sys.executable)
    typed = run.name if shutil.which(run.name) == str(run.absolute()) else os.path.relpath(run)
    command = shlex.quote(typed) + ("" if is_command else " -m api.cli")
    at = f" --data {shlex.quote(str(directory))}" if directory else ""
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
        page.say(Text.assemble("  ", (step, "bold"), (f"  # {purpose}", "bright_black")))
    if directory:
        page.say(f"The data stays in {directory}; remove it when you are done.", "yellow")


def _show_links(page: support.Sheet, stream: ConsciousnessStream) -> None:
    among = sorted(stream_text.find_focus_links(stream), key=lambda link: -link.energy)[:LINKS_SHOWN]
    if not among:
        return
    _print_section(page, "Between them", "links carry what was felt; activation travels along them")
    names = {node.node_id: formatting.shorten(node.name, 44) for node in stream.activation_tiers.focus}
    for link in among:
        page.indent(stream_text.format_link(link, names[link.source_id], names[link.target_id]))
    page.print()


def _show_memory(page: support.Sheet, node: ConsciousnessNode, entities: Sequence[str]) -> None:
    title, when = f" • {formatting.choose_title(node)}", f" · {_format_ago(node.valid_at)}"
    page.fold(Text.assemble((title, "bold green"), (when, "green")))
    if node.description:
        page.indent(_shorten(node.description, page))
    details = [node.node_id, WHOSE[node.collective], _explain(node, entities), *formatting.describe_measures(node)]
    page.indent(" · ".join(details), "bright_black")


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


def _shorten(text: str, page: support.Sheet) -> str:
    return formatting.shorten(text, 3 * (page.width - 2 * support.MARGIN))


def _print_section(page: support.Sheet, name: str, explained: str) -> None:
    page.fold(Text.assemble((name, "bold"), (f": {explained}", "bright_black")))


def _print_paragraph(page: support.Sheet, text: str, style: str = "") -> None:
    page.fold(text, style)
    page.print()


def _format_ago(moment: datetime) -> str:
    days = (datetime.now(UTC).date() - moment.date()).days
    if days < 2:
        return ("today", "yesterday")[max(0, days)]
    if days < 21:
        return f"{days} days ago"
    return f"{days // 7} weeks ago"
