"""What a citizen does about its appetite: 003's autonomous intention, a waking, or nothing (003, S6). Pure."""

from __future__ import annotations

from typing import Final

from schemas.intention import QueryMode, RetrievalIntention, StateBasedRetrieval
from schemas.mind.appetite import Appetite, Decision, IntendRequest, Reading, ReadingName
from schemas.temporal import TemporalMode

HUNGRY: Final = 0.7
"""Context hunger above this asks broadly (003)."""
TENSE: Final = 0.6
"""Unresolved tension above this asks for past experiences (003)."""
LEAST_ENERGY: Final = 0.5
"""Both ask for memories with at least this energy (003)."""
AWAKE: Final = 0.5
"""Anything else that is at least this strong wakes the citizen from its state."""
GENERATED_BY: Final = "appetite"
_WAKING: Final[tuple[ReadingName, ...]] = ("unresolved_tension", "pain", "drives", "due", "context")
"""The readings that a waking from the state answers. Memories to judge anew are answered by judging them."""


def decide(appetite: Appetite, request: IntendRequest) -> Decision:
    """The intention or the state that follows from an appetite, and why; neither where nothing is strong."""
    hunger, tension = appetite.reading("context_hunger"), appetite.reading("unresolved_tension")
    if hunger.amount > HUNGRY and appetite.active_contexts:
        about = ", ".join(appetite.active_contexts)
        intention = _intention(f"Recent developments in {about}", TemporalMode.CURRENT, appetite, request)
        return Decision(kind="broad", why=_above(hunger, HUNGRY), reading=hunger.name, intention=intention)
    if tension.amount > TENSE and appetite.tension_source:
        text = f"Past experiences similar to {appetite.tension_source}"
        intention = _intention(text, TemporalMode.EVOLUTION, appetite, request)
        if appetite.dominant_emotions:
            felt = {"required_emotions": appetite.dominant_emotions, "emotions_match": "any"}
            intention = intention.model_copy(update=felt)
        return Decision(kind="similar", why=_above(tension, TENSE), reading=tension.name, intention=intention)
    return _wake(appetite, request)


def ask_wider(decision: Decision) -> Decision | None:
    """The decision again, whatever the memories feel; None where it did not ask for feelings.

    In an ordinary chat few memories feel anything: a filter by feelings may leave nothing.
    """
    intention = decision.intention
    if intention is None or not intention.required_emotions:
        return None
    felt = " or ".join(intention.required_emotions)
    wider = RetrievalIntention.model_validate(
        intention.model_dump(exclude={"required_emotions", "emotions_match", "intention_id"}, exclude_unset=True)
    )
    why = f"{decision.why}; hardly anything else that feels {felt} was found, so it asked whatever is felt"
    return decision.model_copy(update={"intention": wider, "why": why})


def _wake(appetite: Appetite, request: IntendRequest) -> Decision:
    """A waking from the state, for the strongest reading that it answers."""
    strong = [each for each in appetite.readings if each.name in _WAKING and each.amount >= AWAKE]
    if not strong:
        return Decision(kind="nothing", why=_why_not(appetite))
    mode = QueryMode.SIMILAR_STATE if strong[0].name == "pain" else QueryMode.RELATED_UNRESOLVED
    state = StateBasedRetrieval(
        citizen_id=appetite.citizen_id,
        query_mode=mode,
        reality_pressure=appetite.reality_pressure,
        query_levels=request.query_levels,
        collectives=request.collectives,
        **_options(request),
    )
    return Decision(kind="state", why=_above(strong[0], AWAKE, "at least"), reading=strong[0].name, state=state)


def _intention(text: str, mode: TemporalMode, appetite: Appetite, request: IntendRequest) -> RetrievalIntention:
    return RetrievalIntention(
        citizen_id=appetite.citizen_id,
        query_text=text,
        temporal_mode=mode,
        min_energy=LEAST_ENERGY,
        reality_pressure=appetite.reality_pressure,
        query_levels=request.query_levels,
        collectives=request.collectives,
        time_zone=request.time_zone,
        generated_by=GENERATED_BY,
        **_options(request),
    )


def _options(request: IntendRequest) -> dict[str, object]:
    return request.model_dump(include={"apply_feedback", "explain", "max_tokens", "form", "parts"})


def _above(reading: Reading, threshold: float, how: str = "above") -> str:
    return f"{reading.name} is {reading.amount:.2f}, {how} {threshold:g}: {reading.reason}"


def _why_not(appetite: Appetite) -> str:
    """The strongest readings and what they would need."""
    hunger = appetite.reading("context_hunger")
    if hunger.amount > HUNGRY:
        return f"{_above(hunger, HUNGRY)}; but nothing tells what its contexts are"
    most = max(appetite.readings, key=lambda each: (each.name in _WAKING, each.amount))
    return (
        f"nothing is strong enough: context_hunger {hunger.amount:.2f} of more than {HUNGRY:g}, "
        f"{most.name} {most.amount:.2f} of {AWAKE:g} ({most.reason})"
    )
