"""`substrate demo`: a small life told, and three questions asked of it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from api.cli import demo_text, support
from api.cli.demo_story import CITIZEN, Question, Story, story, tell
from api.cli.progress import bar
from api.runtime.runtime import Runtime, now
from orchestration.mind.learning import learning_moments
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.errors import Fault
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import ConsciousnessNode
from schemas.settings import EmbeddingSettings, Settings
from schemas.stream import ConsciousnessStream
from schemas.temporal import TemporalMode
from substrate.graphs.names import graph_name
from substrate.store import reader, rows

ASKED_AGAIN: Final = "Why do we no longer filter by time inside the vector search?"
BEFORE_THE_CHANGE: Final = datetime(2025, 8, 1, tzinfo=UTC)
"""A day of the story on which the team still decided the opposite."""

WOKEN_WITH: Final[Mapping[str, Any]] = {
    "current_energy": 0.7,
    "current_emotions": {"drive": 0.8, "uncertainty": 0.3},
    "current_goal": "design_phase_3_architecture",
    "query_mode": "find_related_unresolved",
}
"""How Ada wakes: with much energy, driven, a little unsure, and a goal."""

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    ctx: typer.Context,
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the data, to go on asking.")] = False,
) -> None:
    """Tell a small life and ask it three questions.

    It runs in a directory of its own, which is removed at the end, with the local embedding model unless
    SUBSTRATE_EMBEDDING names another, or none.
    """
    told = story(now())
    configured = support.settings_of(ctx)
    with tempfile.TemporaryDirectory(prefix="substrate-demo-", delete=not keep) as directory:
        embedding = _offline(configured.embedding)
        settings = replace(support.at_directory(configured, Path(directory)), embedding=embedding)
        console = support.output()
        support.run(_told(told, settings, console))
        demo_text.what_next(console, _command(), Path(directory) if keep else None)


def _offline(embedding: EmbeddingSettings) -> EmbeddingSettings:
    """A demo sends nothing anywhere just because a key lies around."""
    return embedding.model_copy(update={"embedding": embedding.embedding or "local"})


def _command() -> str:
    """How the reader calls this program: by its name, or where it is."""
    called = Path(sys.argv[0])
    if called.name != "substrate":
        return f"{Path(sys.executable).name} -m api.cli"
    return "substrate" if shutil.which("substrate") else os.path.relpath(called)


async def _told(told: Story, settings: Settings, console: Console) -> None:
    demo_text.opening(console, told)
    begun = time.perf_counter()
    async with support.opened(settings) as runtime:
        opened = time.perf_counter()
        with bar(support.messages(), told.size) as advance:
            faults = await tell(told, runtime.deps, await runtime.moment(), advance)
        if faults:
            raise Fault(f"the example life was not taken in whole: {faults[0]}", remedy="Clone anew.")
        demo_text.taken_in(console, told, (opened - begun, time.perf_counter() - opened))
        for number, question in enumerate(told.questions, start=1):
            demo_text.asked(console, question, (number, len(told.questions)))
            await _answered(question, runtime, console)
            if question.ask == ASKED_AGAIN:
                await _asked_of_the_past(question, told, runtime, console)
        await _woken(runtime, console)
        demo_text.learned(console, await learning_moments(CITIZEN, runtime.deps, now()), datetime.now(UTC))


async def _answered(question: Question, runtime: Runtime, console: Console) -> None:
    intention = RetrievalIntention(query_text=question.ask, citizen_id=CITIZEN, explain=True)
    stream = await retrieve_consciousness_context(intention, runtime.deps, await runtime.moment())
    demo_text.answer(console, stream, datetime.now(UTC))
    demo_text.changed(console, await _earlier(stream, runtime), datetime.now(UTC))


async def _woken(runtime: Runtime, console: Console) -> None:
    state = StateBasedRetrieval(citizen_id=CITIZEN, explain=True, **WOKEN_WITH)
    demo_text.waking(console, state)
    stream = await retrieve_consciousness_context_from_state(state, runtime.deps, await runtime.moment())
    demo_text.answer(console, stream, datetime.now(UTC))
    demo_text.paths(console, stream)


async def _asked_of_the_past(question: Question, told: Story, runtime: Runtime, console: Console) -> None:
    as_of, today = told.moved(BEFORE_THE_CHANGE), datetime.now(UTC)
    intention = RetrievalIntention(
        query_text=question.ask,
        citizen_id=CITIZEN,
        temporal_mode=TemporalMode.POINT_IN_TIME,
        as_of_time=as_of,
        known_at=today,
        explain=True,
    )
    stream = await retrieve_consciousness_context(intention, runtime.deps, await runtime.moment())
    demo_text.past_answer(console, stream, as_of, today)


async def _earlier(
    stream: ConsciousnessStream, runtime: Runtime
) -> Sequence[tuple[ConsciousnessNode, ConsciousnessNode]]:
    """Memories in focus whose text once was another: each with the last record that said so."""
    found = []
    for node in stream.activation_tiers.focus:
        if node.version == 1:
            continue
        graph = graph_name(node.level, CITIZEN)
        records = await reader.history(runtime.deps.graph(graph), node.node_id)
        others = [
            earlier
            for earlier in (rows.node(row, node.level) for row in records)
            if earlier.description != node.description
        ]
        if others:
            found.append((node, others[-1]))
    return found
