"""Find memories that resonate with a wave signal, or have the shape of another."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from api.dependencies import Now
from api.routes.retrieval import ASKS
from orchestration.dependencies import Deps
from orchestration.resonance.ask import resonate
from schemas.operation import Called, Operation, group
from schemas.wave_signal import Resonances, Resonate


async def send(signal: Resonate, deps: Deps, now: Now) -> Response:
    """The memories that resonate with a signal, with the score of each channel (000, 002).

    With `by: shape` those around which the same happened as around the memory `id`, in other words (004).
    """
    resonances = await resonate(signal, deps, now)
    return Response(resonances.model_dump_json(), media_type="application/json")


OPERATIONS: Final = group(
    "retrieval",
    Operation("resonate", "POST /v1/resonate", "Find what resonates with a signal", ASKS, send, gives=Resonances,
              call=Called(says="The memories that resonate with a signal, with the score of each channel.")),
)  # fmt: skip
