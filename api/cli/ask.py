"""`substrate ask`: a question in, a consciousness stream out."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from api.cli import options, stream_text, support
from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send
from orchestration.retrieval import retrieve_consciousness_context
from schemas.errors import InvalidRequest
from schemas.intention import RetrievalIntention
from schemas.temporal import TemporalMode

OPTIONS: Final = {
    **options.QUESTION,
    **options.named(
        "time_zone", "min_energy", "min_confidence", "rerank", "prefer", "conversation", "message_id", "max_tokens"
    ),
    "temporal_mode": "--mode",
    "time_range_start": "--since",
    "time_range_end": "--until",
    "required_emotions": "--emotion",
    "emotions_match": "--any-emotion",
    "parts": "--part",
}
"""The option that sets each field of an intention, for error texts."""

app = typer.Typer(add_completion=False)


@app.command()
def ask(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="What context is needed.")],
    *,
    citizen: options.Citizen,
    as_of: options.AsOf = None,
    known_at: options.KnownAt = None,
    mode: Annotated[str | None, typer.Option(help="current, point_in_time, evolution or full_history.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --mode evolution: what was known from this time on.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --mode evolution: what was known before this time.")
    ] = None,
    level: options.AnyLevels = None,
    collective: options.Collectives = None,
    limit: options.ResultsOfAQuery = 20,
    time_zone: Annotated[
        str, typer.Option(metavar="NAME", help='The zone in which "yesterday" is read, such as Europe/Berlin.')
    ] = "UTC",
    min_energy: Annotated[float | None, typer.Option(help="0 to 1.")] = None,
    min_confidence: Annotated[float | None, typer.Option(help="0 to 1.")] = None,
    emotion: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only memories with this emotion; repeat for several.")
    ] = None,
    any_emotion: Annotated[
        bool, typer.Option("--any-emotion", help="Any one of several emotions is enough.")
    ] = False,
    filter_: options.Filter = None,
    plural: options.Plural = False,
    rerank: Annotated[
        str | None, typer.Option(metavar="NAME", help="Reorder the best memories: mmr, rrf, llm or custom.")
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show generalisations too: general (first) or concrete (behind)."),
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="The running conversation, whose message asks this.")
    ] = None,
    message_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The message of it that asks this, and is not returned.")
    ] = None,
    max_tokens: options.MaxTokens = None,
    explain: options.Explain = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Print a text for a prompt, of 1,500 tokens.")
    ] = False,
    references: options.References = False,
    part: options.Parts = None,
    as_json: options.StreamAsJson = False,
) -> None:
    """Ask a citizen's memory, and see what comes to mind and why."""
    fields = {
        "query_text": question,
        "citizen_id": citizen,
        "temporal_mode": mode,
        "as_of_time": support.parse_time_option("--as-of", as_of),
        "known_at": support.parse_known_at(known_at),
        "time_range_start": support.parse_time_option("--since", since),
        "time_range_end": support.parse_time_option("--until", until),
        "query_levels": options.upper(level),
        "collectives": collective,
        "max_results_per_level": limit,
        "time_zone": time_zone,
        "min_energy": min_energy,
        "min_confidence": min_confidence,
        "required_emotions": emotion or None,
        "emotions_match": "any" if any_emotion else None,
        "filters": options.parse_filters(filter_),
        "plurality": {} if plural else None,
        "rerank": rerank,
        "prefer": prefer,
        "conversation": conversation,
        "message_id": message_id,
        "max_tokens": max_tokens,
        "form": "references" if references else "compact" if compact else None,
        "parts": part,
    }
    if compact and references:
        raise InvalidRequest("--compact and --references are two forms", remedy="Leave out one of them.")
    intention = _make_intention(fields, explain=explain or not as_json)
    if not as_json and not compact:
        intention = intention.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
    stream = support.answer_question(ctx, intention, retrieve_consciousness_context)
    if as_json:
        support.write_json(send(stream, intention, budget_of(intention)).decode())
    elif compact:
        support.write_json(stream.text or "")
    else:
        scope = stream_text.describe_scope(intention)
        stream_text.show_within(
            max_tokens, stream, support.output(), question=intention.query_text, scope=scope, explain=explain
        )


def _make_intention(fields: dict[str, Any], *, explain: bool) -> RetrievalIntention:
    """Without `--mode`, the mode follows from the time options; `--known-at` alone asks about now."""
    set_fields = support.drop_unset(fields)
    if "temporal_mode" not in set_fields and set_fields.keys() & {"as_of_time", "known_at"}:
        set_fields["temporal_mode"] = TemporalMode.POINT_IN_TIME
    if "temporal_mode" not in set_fields and set_fields.keys() & {"time_range_start", "time_range_end"}:
        set_fields["temporal_mode"] = TemporalMode.EVOLUTION
    shared = {"generated_by": "substrate ask", "explain": explain}
    return support.validate(RetrievalIntention, {**set_fields, **shared}, OPTIONS)
