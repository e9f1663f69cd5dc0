"""What assembly needs of a request, whichever way it was asked. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from orchestration.assembly.budget import Budget
from orchestration.traversal.probability import State
from schemas.intention import Plurality, RetrievalIntention, StateBasedRetrieval, StreamRequest
from schemas.memory import Level, level_of
from schemas.mind.appetite import IntendRequest
from schemas.temporal import TemporalMode
from substrate.inference import tokens


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is assembled.

    `graphs`: how many are asked. `limit` is per query and level. Links are
    weighed from `state`.
    """

    request_id: str
    citizen_id: str
    mode: TemporalMode
    levels: tuple[Level, ...]
    graphs: int
    limit: int
    explain: bool
    require_valid: bool
    state: State
    plurality: Plurality | None = None


def budget_of(request: StreamRequest | IntendRequest) -> Budget | None:
    """The tokens that an answer may have; None where it is not limited."""
    if request.max_tokens is None:
        return None
    return Budget(request.max_tokens, tokens.counter(), tokens.counter_name())


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
        levels=tuple(dict.fromkeys(map(level_of, request.graphs))),
        graphs=len(request.graphs),
        limit=request.max_results_per_level,
        explain=request.explain,
        require_valid=request.require_valid,
        state=state,
        plurality=request.plurality,
    )
