"""What assembly needs of a request, whichever way it was asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestration.assembly.budget import Budget
from orchestration.traversal.probability import State
from schemas.intention import Plurality, RetrievalIntention, StateBasedRetrieval
from schemas.memory import Level
from schemas.temporal import TemporalMode
from substrate.inference import tokens


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is assembled.

    `limit` is per query and level. Without a `budget` all is shown. Links are weighed from `state`.
    """

    request_id: str
    citizen_id: str
    mode: TemporalMode
    levels: tuple[Level, ...]
    limit: int
    explain: bool
    budget: Budget | None
    form: Literal["full", "compact"]
    require_valid: bool
    state: State
    plurality: Plurality | None = None


def intention_options(intention: RetrievalIntention) -> StreamOptions:
    state = State(intention.current_goal, intention.current_emotions)
    return _options(intention, intention.intention_id, intention.temporal_mode, state)


def state_options(state: StateBasedRetrieval, woken_from: State) -> StreamOptions:
    """`woken_from`: the state of the request, with what it left out."""
    past = state.as_of_time is not None or state.known_at is not None
    mode = TemporalMode.POINT_IN_TIME if past else TemporalMode.CURRENT
    return _options(state, state.state_id, mode, woken_from)


def _options(
    request: RetrievalIntention | StateBasedRetrieval, request_id: str, mode: TemporalMode, state: State
) -> StreamOptions:
    return StreamOptions(
        request_id=request_id,
        citizen_id=request.citizen_id,
        mode=mode,
        levels=request.query_levels,
        limit=request.max_results_per_level,
        explain=request.explain,
        budget=None if request.max_tokens is None else Budget(request.max_tokens, tokens.counter()),
        form=request.form,
        require_valid=request.require_valid,
        state=state,
        plurality=request.plurality,
    )
