"""Turns an appetite into a stream: 003's autonomous intention, asked as any other question (003, S6)."""

from __future__ import annotations

from orchestration.dependencies import Deps
from orchestration.mind.appetite import read_appetite
from orchestration.mind.intention_choice import ask_wider, decide
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.mind.appetite import Appetite, Decision, IntendRequest
from schemas.responses import Intended
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant


async def intend(citizen_id: str, request: IntendRequest, deps: Deps, now: Instant) -> Intended:
    """The appetite of a citizen, what follows from it, and with `run` the stream.

    Raises as `read_appetite` and `retrieve_consciousness_context` do.
    """
    appetite = await read_appetite(citizen_id, request, deps, now)
    decision = decide(appetite, request)
    if not request.run or decision.kind == "nothing":
        return Intended(citizen_id=citizen_id, appetite=appetite, decision=decision)
    stream = await _ask(decision, deps, now)
    wider = ask_wider(decision) if _is_dark(stream, appetite) else None
    if wider is not None:
        decision, stream = wider, await _ask(wider, deps, now)
    return Intended(citizen_id=citizen_id, appetite=appetite, decision=decision, stream=stream)


async def _ask(decision: Decision, deps: Deps, now: Instant) -> ConsciousnessStream | None:
    """The stream of a decision; None where it is to do nothing."""
    if decision.intention is not None:
        return await retrieve_consciousness_context(decision.intention, deps, now)
    if decision.state is not None:
        return await retrieve_consciousness_context_from_state(decision.state, deps, now)
    return None


def _is_dark(stream: ConsciousnessStream | None, appetite: Appetite) -> bool:
    """Whether a stream brings at most one thing to mind beside what asked for it, in however many versions."""
    sources = {source.id for source in appetite.reading("unresolved_tension").sources[:1]}
    return stream is not None and len({node.node_id for node in stream.activation_tiers.focus} - sources) < 2
