"""Turns an appetite into a stream: 003's autonomous intention, asked as any other question (003, S6)."""

from __future__ import annotations

from orchestration.assembly import fitting
from orchestration.assembly.budget import budget_of
from orchestration.dependencies import Deps
from orchestration.features.appetite.appetite import read_appetite
from orchestration.features.appetite.readings import ask_wider, decide
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.base import CitizenId
from schemas.mind.appetite import Decision, IntendRequest
from schemas.responses import Intended
from schemas.stream import ConsciousnessStream
from schemas.temporal import Instant


async def send_intended(citizen_id: CitizenId, request: IntendRequest, deps: Deps, now: Instant) -> bytes:
    """Decide what the appetite leads to, and ask it: 003's autonomous intention, a waking, or nothing."""
    return fitting.send_intended(await intend(citizen_id, request, deps, now), request, budget_of(request))


async def intend(citizen_id: str, request: IntendRequest, deps: Deps, now: Instant) -> Intended:
    """The appetite of a citizen, what follows from it, and with `run` the stream.

    Raises as `read_appetite` and `retrieve_consciousness_context` do.
    """
    appetite = await read_appetite(citizen_id, request, deps, now)
    decision = decide(appetite, request)
    if not request.run or decision.kind == "nothing":
        return Intended(citizen_id=citizen_id, appetite=appetite, decision=decision)
    stream = await _ask(decision, deps, now)
    # A stream is dark that brings at most one thing to mind beside what asked for it, in however many versions.
    asking = {source.id for source in appetite.reading("unresolved_tension").sources[:1]}
    found = set() if stream is None else {node.node_id for node in stream.activation_tiers.focus} - asking
    wider = ask_wider(decision) if stream is not None and len(found) < 2 else None
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
