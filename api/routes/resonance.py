"""Find memories that resonate with a wave signal or have the shape of another; perspectives; tags and words."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from api.dependencies import Now
from api.routes.retrieval import ASKS
from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import Associations, TagWalk
from orchestration.features.shape.perspectives import look
from orchestration.features.shape.values import Look, Perspectives
from orchestration.resonance.ask import resonate
from schemas.base import json_bytes
from schemas.operation import Called, Operation, group
from schemas.wave_signal import Resonances, Resonate


async def send(signal: Resonate, deps: Deps, now: Now) -> Response:
    """The memories that resonate with a signal, with the score of each channel (000, 002).

    With `by: shape` those around which the same happened as around the memory `id`, in other words (004).
    """
    resonances = await resonate(signal, deps, now)
    return Response(resonances.model_dump_json(), media_type="application/json")


async def perspectives(asked: Look, deps: Deps, now: Now) -> Response:
    """One question looked at by meaning, by shape and by feeling; no memory stands in two of them (004)."""
    looked = await look(asked, deps, now)
    return Response(looked.model_dump_json(), media_type="application/json")


async def walk(request: TagWalk, deps: Deps, now: Now) -> Response:
    """Memories that match the words of a question, and others that tags and links lead to; no vectors (001)."""
    associations = await associate(request, deps, now)
    return Response(json_bytes(associations), media_type="application/json")


OPERATIONS: Final = group(
    "retrieval",
    Operation("resonate", "POST /v1/resonate", "Find what resonates with a signal", ASKS, send, gives=Resonances,
              call=Called(says="The memories that resonate with a signal, with the score of each channel.")),
    Operation("perspectives", "POST /v1/perspectives", "Look at a question in three ways",
              ASKS, perspectives, gives=Perspectives,
              call=Called(says="A question looked at by meaning, by shape and by feeling; no memory stands "
                               "in two of them.")),
    Operation("walk_tags", "POST /v1/associate", "Walk from words over tags and links",
              ASKS, walk, gives=Associations,
              call=Called("associate",
                          "Memories that match the words of a question, and others that their tags and "
                          "links lead to.")),
)  # fmt: skip
