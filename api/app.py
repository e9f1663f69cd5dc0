"""The REST service: one application, opened with the store and closed with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from fastapi import FastAPI

from api import problems
from api.bodies import BodyLimit
from api.routes import citizens, episodes, health, links, memories, retrieval, upkeep, validation
from api.runtime import running
from schemas.settings import Settings

DESCRIPTION: Final = """\
Memory for agent processes that outlive one context window, in three graphs: personal (N1), collective (N2)
and ecosystem (N3). Each record has two time axes: when it holds, and when it was known.

Every error is a problem (RFC 9457) with a remedy and each fault. A 503 says when to try again; a command
with a `command_id`, or an `Idempotency-Key` header, is applied once, however often it is sent.
"""


def create_app(settings: Settings) -> FastAPI:
    """The application. It opens the store and the embedder at its start and closes them at its end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(settings) as runtime:
            app.state.runtime = runtime
            yield

    app = FastAPI(
        title="Substrate",
        version=installed_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        responses=problems.RESPONSES,
    )
    app.add_middleware(BodyLimit)
    problems.install(app)
    for room in (retrieval, memories, links, episodes, citizens, upkeep, validation, health):
        app.include_router(room.router)
    return app


def installed_version() -> str:
    """The version of the distribution; of a source tree that is not installed, 0.0.0."""
    try:
        return version("consciousness-substrate")
    except PackageNotFoundError:
        return "0.0.0"
