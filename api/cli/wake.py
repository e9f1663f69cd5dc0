"""`substrate wake`: wake a citizen from a state, and show the memories that come to mind."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from api.cli import formatting, options, stream_text, support
from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import QueryMode, StateBasedRetrieval
from schemas.mind.state import CitizenState

OPTIONS: Final = {
    **options.QUESTION,
    "current_energy": "--energy",
    "current_emotions": "--emotion",
    "current_goal": "--goal",
    "query_mode": "--mode",
    "temporal_scope": "--scope",
    "max_tokens": "--max-tokens",
    "parts": "--part",
}

app = typer.Typer(add_completion=False)


@app.command()
def wake(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    *,
    citizen: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Who wakes.")],
    energy: Annotated[
        float | None, typer.Option(help="The energy it wakes with, 0 to 1. Default: its own.")
    ] = None,
    emotion: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=X", help="drive=0.8; repeat for several. Default: its own."),
    ] = None,
    goal: Annotated[str | None, typer.Option(help="What it is trying to do. Default: its own goal.")] = None,
    mode: Annotated[
        str, typer.Option(help="find_related_unresolved, _similar_state, _what_i_was_doing, _resolution_patterns.")
    ] = "find_related_unresolved",
    scope: Annotated[str, typer.Option(help="recent (what changed lately counts more) or all_time.")] = "recent",
    as_of: options.AsOf = None,
    known_at: options.KnownAt = None,
    level: options.Levels = None,
    collective: options.Collectives = None,
    limit: options.ResultsOfAQuery = 20,
    filter_: options.Filter = None,
    plural: options.Plural = False,
    max_tokens: options.MaxTokens = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="Let the stream change the citizen's own energy.")
    ] = False,
    explain: options.Explain = False,
    references: options.References = False,
    part: options.Parts = None,
    as_json: options.StreamAsJson = False,
) -> None:
    """Wake a citizen from its state alone, and see what comes to mind.

    What is not given is read from the state that is kept of it, else from its memories of the last days.
    """
    fields = {
        "citizen_id": citizen,
        "current_energy": energy,
        "current_emotions": support.parse_numbers("--emotion", emotion, "joy=0.7") or None,
        "current_goal": goal,
        "query_mode": mode if mode.startswith("find") else f"find_{mode.lstrip('_')}",
        "temporal_scope": scope,
        "as_of_time": support.parse_time_option("--as-of", as_of),
        "known_at": support.parse_known_at(known_at),
        "query_levels": options.upper(level),
        "collectives": collective,
        "max_results_per_level": limit,
        "filters": options.parse_filters(filter_),
        "plurality": {} if plural else None,
        "max_tokens": max_tokens,
        "apply_feedback": feedback,
        "form": "references" if references else None,
        "parts": part,
        "explain": explain or not as_json,
    }
    state = support.validate(StateBasedRetrieval, support.drop_unset(fields), OPTIONS)
    if not as_json:
        state = state.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
    stream = support.answer_question(ctx, state, retrieve_consciousness_context_from_state)
    if as_json:
        support.write_json(send(stream, state, budget_of(state)).decode())
    else:
        scope = "from its state alone"
        question = describe_state(state.query_mode, stream.state)
        stream_text.show_within(
            max_tokens, stream, support.output(), question=question, scope=scope, explain=explain
        )


def describe_state(mode: QueryMode, state: CitizenState | None) -> str:
    """The mode and the state that a citizen woke from, in one line."""
    if state is None:
        return mode.value
    felt = ", ".join(f"{name} {much:g}" for name, much in state.emotion_vector.items())
    goal = f", goal {state.goal}" if state.goal else ""
    return formatting.to_line(f"{mode.value}: energy {state.energy:g}{', ' if felt else ''}{felt}{goal}")
