"""`substrate wake`: wake a citizen from a state, and show the memories that come to mind."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import bind, formatting, options, stream_text, support
from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.mind.state import CitizenState

app = typer.Typer(add_completion=False)


class _Wake(bind.Options):
    citizen_id: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Who wakes.")]
    current_energy: Annotated[
        float | None, typer.Option("--energy", help="The energy it wakes with, 0 to 1. Default: its own.")
    ] = None
    current_emotions: Annotated[
        list[str] | None,
        typer.Option("--emotion", metavar="NAME=X", help="drive=0.8; repeat for several. Default: its own."),
    ] = None
    current_goal: Annotated[
        str | None, typer.Option("--goal", help="What it is trying to do. Default: its own goal.")
    ] = None
    query_mode: Annotated[
        str,
        typer.Option(
            "--mode", help="find_related_unresolved, _similar_state, _what_i_was_doing, _resolution_patterns."
        ),
    ] = "find_related_unresolved"
    temporal_scope: Annotated[
        str, typer.Option("--scope", help="recent (what changed lately counts more) or all_time.")
    ] = "recent"
    as_of_time: options.AsOf = None
    known_at: options.KnownAt = None
    query_levels: options.Levels = None
    collectives: options.Collectives = None
    max_results_per_level: options.ResultsOfAQuery = 20
    filters: options.Filter = None
    plurality: options.Plural = False
    max_tokens: options.MaxTokens = None
    apply_feedback: Annotated[
        bool, typer.Option("--feedback", help="Let the stream change the citizen's own energy.")
    ] = False
    explain: options.Explain = False
    references: options.References = False
    parts: options.Parts = None
    as_json: options.StreamAsJson = False


@bind.command(app, _Wake)
def wake(given: _Wake) -> None:
    """Wake a citizen from its state alone, and see what comes to mind.

    What is not given is read from the state that is kept of it, else from its memories of the last days.
    """
    mode = given.query_mode
    state = given.request(
        StateBasedRetrieval,
        query_mode=mode if mode.startswith("find") else f"find_{mode.lstrip('_')}",
        form="references" if given.references else None,
        explain=given.explain or not given.as_json,
    )
    if not given.as_json:
        state = state.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
    stream = support.answer_question(given.ctx, state, retrieve_consciousness_context_from_state)
    if given.as_json:
        support.write_json(send(stream, state, budget_of(state)).decode())
    else:
        question, scope = describe_state(state.query_mode, stream.state), "from its state alone"
        stream_text.show_within(
            given.max_tokens, stream, support.output(), question=question, scope=scope, explain=given.explain
        )


def describe_state(mode: QueryMode, state: CitizenState | None) -> str:
    """The mode and the state that a citizen woke from, in one line."""
    if state is None:
        return mode.value
    felt = ", ".join(f"{name} {much:g}" for name, much in state.emotion_vector.items())
    goal = f", goal {state.goal}" if state.goal else ""
    return formatting.to_line(f"{mode.value}: energy {state.energy:g}{', ' if felt else ''}{felt}{goal}")
