"""Retrieval: an intention or a state in, a consciousness stream out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final

from fastapi import Header, Response

from api.dependencies import Now, OpenRuntime
from api.telemetry import metrics
from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send
from orchestration.resonance.ask import resonate
from orchestration.retrieval import retrieve as retrieve_stream
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.operation import ASKS, Method, Operation, group
from schemas.stream import ConsciousnessStream, GraphForm
from schemas.stream_forms import StreamAnswer, stream_of

GRAPHS: Final[Mapping[str, GraphForm]] = {
    "application/graphml+xml": "graphml",
    "application/vnd.node-link+json": "node-link",
}
"""The forms in which the traversal graph alone can be had, by the media type that a request accepts."""
Accepted = Annotated[str, Header(alias="accept")]


async def retrieve(intention: RetrievalIntention, runtime: OpenRuntime, now: Now, form: Accepted = "") -> Response:
    """The part of a citizen's memory that matters now, over all three levels."""
    retrieved = await retrieve_stream(intention, runtime.deps, now)
    body = retrieved.send(intention, runtime.deps) if form not in GRAPHS else b""
    return _stream_response(
        retrieved.stream, "retrieve", body, intention.parts or (), form=form, was_kept=retrieved.was_kept
    )


async def wake(state: StateBasedRetrieval, runtime: OpenRuntime, now: Now, form: Accepted = "") -> Response:
    """The memories that fit a citizen's state, with no question asked."""
    stream = await retrieve_consciousness_context_from_state(state, runtime.deps, now)
    body = send(stream, state, budget_of(state)) if form not in GRAPHS else b""
    return _stream_response(stream, "wake", body, state.parts or (), form=form)


def _stream_response(
    stream: ConsciousnessStream, door: str, body: bytes, parts: Iterable[str], *, form: str, was_kept: bool = False
) -> Response:
    """The stream, or its graph alone where the request accepts that form, with the milliseconds of each stage in
    `Server-Timing`, which browsers show."""
    if form in GRAPHS:
        body = stream.traversal_graph.written(GRAPHS[form]).encode()
    stages = [f"{stage};dur={milliseconds:g}" for stage, milliseconds in stream.stage_ms.items()]
    timing = ", ".join([*stages, f"total;dur={stream.retrieval_latency_ms:g}"])
    metrics.record_stream(stream, door, len(body), parts, was_kept=was_kept)
    media_type = form if form in GRAPHS else "application/json"
    return Response(body, media_type=media_type, headers={"Server-Timing": timing})


OPERATIONS: Final = group(
    "retrieval",
    Operation("retrieve", "POST /v1/retrieve", "Ask a question", ASKS, retrieve, gives=StreamAnswer,
              call=Method(once="apply_feedback", reads=stream_of)),
    Operation("wake", "POST /v1/wake", "Wake from a state, without a question", ASKS, wake, gives=StreamAnswer,
              call=Method(says="The part of a citizen's memory that fits its state: the given one, else the kept "
                               "or derived one.", once="apply_feedback", reads=stream_of)),
    Operation("resonate", "POST /v1/resonate", "Find what resonates with a signal", ASKS, resonate,
              call=Method(says="The memories that resonate with a signal, with the score of each channel.")),
)  # fmt: skip
