"""What offers add to the core. A door lists them (`api.routes.offers`)."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.offers import flow
from orchestration.features.offers.flow import offers_of_waking
from schemas.operation import Called, Operation, graph_may, group
from schemas.upkeep.offers import OffersRequest

OPERATIONS: Final = group(
    "upkeep",
    Operation("list_offers", "GET /v1/upkeep/offers", "List what could be resolved or unblocked",
              graph_may("read"), flow.list_offers, call=Called("offers", takes=OffersRequest)),
)  # fmt: skip
FEATURE: Final = Feature("offers", operations=OPERATIONS, sections={"offers": offers_of_waking})
