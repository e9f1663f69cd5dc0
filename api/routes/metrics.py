"""Metrics, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from api.dependencies import OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import requires
from api.security.upkeep_permissions import UPKEEP
from api.telemetry import metrics

router = APIRouter(tags=["health"], route_class=StrictRoute)


@router.get("/metrics", response_class=PlainTextResponse, operation_id="get_metrics")
@requires(UPKEEP)
async def read_metrics(runtime: OpenRuntime) -> PlainTextResponse:
    """The metrics of this process and the size of the store, in the text format of Prometheus."""
    return PlainTextResponse(await metrics.render_metrics(runtime), media_type=CONTENT_TYPE_PLAIN_0_0_4)
