"""`substrate ask`: a question in, a consciousness stream out."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import bind, options, stream_text, support
from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send
from orchestration.retrieval import retrieve_consciousness_context
from schemas.errors import InvalidRequest
from schemas.intention import RetrievalIntention
from schemas.temporal import TemporalMode

app = typer.Typer(add_completion=False)


class _Ask(bind.Options):
    query_text: Annotated[str, typer.Argument(metavar="QUESTION", help="What context is needed.")]
    citizen_id: options.Citizen
    as_of_time: options.AsOf = None
    known_at: options.KnownAt = None
    temporal_mode: Annotated[
        str | None, typer.Option("--mode", help="current, point_in_time, evolution or full_history.")
    ] = None
    time_range_start: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="With --mode evolution: what was known from this time on."),
    ] = None
    time_range_end: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="With --mode evolution: what was known before this time."),
    ] = None
    query_levels: options.AnyLevels = None
    collectives: options.Collectives = None
    max_results_per_level: options.ResultsOfAQuery = 20
    time_zone: Annotated[
        str, typer.Option(metavar="NAME", help='The zone in which "yesterday" is read, such as Europe/Berlin.')
    ] = "UTC"
    min_energy: Annotated[float | None, typer.Option(help="0 to 1.")] = None
    min_confidence: Annotated[float | None, typer.Option(help="0 to 1.")] = None
    required_emotions: Annotated[
        list[str] | None,
        typer.Option("--emotion", metavar="NAME", help="Only memories with this emotion; repeat for several."),
    ] = None
    emotions_match: Annotated[
        bool, typer.Option("--any-emotion", help="Any one of several emotions is enough.")
    ] = False
    filters: options.Filter = None
    plurality: options.Plural = False
    rerank: Annotated[
        str | None, typer.Option(metavar="NAME", help="Reorder the best memories: mmr, rrf, llm or custom.")
    ] = None
    prefer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show generalisations too: general (first) or concrete (behind)."),
    ] = None
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="The running conversation, whose message asks this.")
    ] = None
    message_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The message of it that asks this, and is not returned.")
    ] = None
    max_tokens: options.MaxTokens = None
    explain: options.Explain = False
    compact: Annotated[bool, typer.Option("--compact", help="Print a text for a prompt, of 1,500 tokens.")] = False
    references: options.References = False
    parts: options.Parts = None
    as_json: options.StreamAsJson = False


@bind.command(app, _Ask)
def ask(given: _Ask) -> None:
    """Ask a citizen's memory, and see what comes to mind and why."""
    if given.compact and given.references:
        raise InvalidRequest("--compact and --references are two forms", remedy="Leave out one of them.")
    intention = _make_intention(given)
    if not given.as_json and not given.compact:
        intention = intention.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
    stream = support.answer_question(given.ctx, intention, retrieve_consciousness_context)
    if given.as_json:
        support.write_json(send(stream, intention, budget_of(intention)).decode())
    elif given.compact:
        support.write_json(stream.text or "")
    else:
        question, scope = intention.query_text, stream_text.describe_scope(intention)
        stream_text.show_within(
            given.max_tokens, stream, support.output(), question=question, scope=scope, explain=given.explain
        )


def _make_intention(given: _Ask) -> RetrievalIntention:
    """Without `--mode`, the mode follows from the time options; `--known-at` alone asks about now."""
    mode, momentary = given.temporal_mode, given.as_of_time or given.known_at
    if mode is None and not momentary and (given.time_range_start or given.time_range_end):
        mode = TemporalMode.EVOLUTION
    return given.request(
        RetrievalIntention,
        temporal_mode=mode,
        emotions_match="any" if given.emotions_match else None,
        form="references" if given.references else "compact" if given.compact else None,
        explain=given.explain or not given.as_json,
        generated_by="substrate ask",
    )
