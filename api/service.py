"""The whole service on one address: REST, the explorer's page and the Model Context Protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from api import installed_version
from api.app import beside, create_app
from api.mcp.http_endpoint import McpEndpoint
from api.pages import EXPLORER
from api.request_parsing.bodies import BodyLimit
from api.runtime.idle_upkeep import keep_up, work_each_second
from api.runtime.opening import OnFailure
from api.security.authentication import ShowKey
from api.telemetry.metrics import record_run
from schemas.settings import Settings


def create_service(
    settings: Settings, show_key: ShowKey | None = None, on_failure: OnFailure | None = None
) -> FastAPI:
    """The application of `create_app`, with the explorer's page and MCP."""
    service = create_app(settings, show_key, on_failure)
    EXPLORER.install(service)
    mcp = McpEndpoint(service, installed_version(), settings.server.mcp_tools)
    service.router.routes.append(Route(mcp.path, BodyLimit(mcp), methods=["POST"]))
    rest_lifespan = service.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with rest_lifespan(app):
            async with AsyncExitStack() as background:
                if settings.upkeep.upkeep == "idle":
                    work = keep_up(app.state.traffic, app.state.store, record_run)
                    await background.enter_async_context(beside(work))
                await background.enter_async_context(beside(work_each_second(app.state.store)))
                yield
            await mcp.close()

    service.router.lifespan_context = lifespan
    return service
