"""Metrics, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from api.dependencies import Opened
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import UPKEEP, needs
from api.telemetry import metrics

router = APIRouter(tags=["health"], route_class=StrictRoute)


@router.get("/metrics", response_class=PlainTextResponse, operation_id="get_metrics")
@needs(UPKEEP)
async def read_metrics(runtime: Opened) -> PlainTextResponse:
    """What this process measured, and how large the store is, in Prometheus' text form."""
    return PlainTextResponse(await metrics.exposition(runtime), media_type=CONTENT_TYPE_PLAIN_0_0_4)
