"""The operation on what could be resolved or unblocked: list it. A door answers it (`api.routes.offers`)."""

from __future__ import annotations

from typing import Final

from orchestration.features.offers import flow
from schemas.operation import Called, Operation, graph_may, group
from schemas.upkeep.offers import OffersRequest

OPERATIONS: Final = group(
    "upkeep",
    Operation("list_offers", "GET /v1/upkeep/offers", "List what could be resolved or unblocked",
              graph_may("read"), flow.list_offers, call=Called("offers", takes=OffersRequest)),
)  # fmt: skip
