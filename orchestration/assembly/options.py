"""How an answer is framed: what assembly needs of a request, whichever way it was asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestration.assembly.budget import Budget
from orchestration.traversal.probability import State
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import Level
from schemas.plurality import Plurality
from schemas.temporal import TemporalMode
from substrate.inference import tokens


@dataclass(frozen=True, slots=True)
class Framing:
    """The frame of one answer. `state` is from where links are weighed; `limit` is per query and level."""

    request_id: str
    citizen_id: str
    mode: TemporalMode
    levels: tuple[Level, ...]
    limit: int
    explain: bool
    budget: Budget
    form: Literal["full", "compact"]
    require_valid: bool
    state: State
    plurality: Plurality | None = None


def of_intention(intention: RetrievalIntention) -> Framing:
    """The frame of an answer to a question."""
    return _framing(intention, intention.intention_id, intention.temporal_mode)


def of_state(state: StateBasedRetrieval) -> Framing:
    """The frame of an answer to a state."""
    past = state.as_of_time is not None or state.known_at is not None
    return _framing(state, state.state_id, TemporalMode.POINT_IN_TIME if past else TemporalMode.CURRENT)


def _framing(asked: RetrievalIntention | StateBasedRetrieval, request_id: str, mode: TemporalMode) -> Framing:
    return Framing(
        request_id=request_id,
        citizen_id=asked.citizen_id,
        mode=mode,
        levels=asked.query_levels,
        limit=asked.max_results_per_level,
        explain=asked.explain,
        budget=Budget() if asked.max_tokens is None else Budget(asked.max_tokens, tokens.counter()),
        form=asked.form,
        require_valid=asked.require_valid,
        state=State(asked.current_goal, asked.current_emotions),
        plurality=asked.plurality,
    )
