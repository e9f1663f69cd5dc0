"""How an answer is framed: what assembly needs of a request, whichever way it was asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestration.assembly.budget import Budget
from orchestration.traversal.graph import State
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.memory import Level
from schemas.plurality import Plurality
from schemas.temporal import TemporalMode
from substrate import tokens


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


def _budget(limit: int | None) -> Budget:
    return Budget() if limit is None else Budget(limit, tokens.counter())


def of_intention(intention: RetrievalIntention) -> Framing:
    """The frame of an answer to a question."""
    return Framing(
        request_id=intention.intention_id,
        citizen_id=intention.citizen_id,
        mode=intention.temporal_mode,
        levels=intention.query_levels,
        limit=intention.max_results_per_level,
        explain=intention.explain,
        budget=_budget(intention.max_tokens),
        form=intention.form,
        require_valid=intention.require_valid,
        state=State(intention.current_goal, intention.current_emotions),
        plurality=intention.plurality,
    )


def of_state(state: StateBasedRetrieval) -> Framing:
    """The frame of an answer to a state."""
    past = state.as_of_time is not None or state.known_at is not None
    return Framing(
        request_id=state.state_id,
        citizen_id=state.citizen_id,
        mode=TemporalMode.POINT_IN_TIME if past else TemporalMode.CURRENT,
        levels=state.query_levels,
        limit=state.max_results_per_level,
        explain=state.explain,
        budget=_budget(state.max_tokens),
        form=state.form,
        require_valid=state.require_valid,
        state=State(state.current_goal, state.current_emotions),
        plurality=state.plurality,
    )
