"""The whole service: REST, the explorer's page and the Model Context Protocol on one address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from api.app import create_app
from api.mcp.http_endpoint import McpEndpoint
from api.pages import EXPLORER
from api.request_parsing.body_limit import BodyLimit
from api.runtime.opening import OnFailure
from api.security.authentication import ShowKey
from api.version import installed_version
from schemas.settings import Settings


def create_service(settings: Settings, show: ShowKey | None = None, failed: OnFailure | None = None) -> FastAPI:
    """The application of `create_app` with everything else that is served beside it."""
    service = create_app(settings, show, failed)
    EXPLORER.install(service)
    door = McpEndpoint(service, installed_version())
    service.router.routes.append(Route(door.path, BodyLimit(door), methods=["POST"]))
    rest = service.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with rest(app):
            yield
            await door.close()

    service.router.lifespan_context = lifespan
    return service
