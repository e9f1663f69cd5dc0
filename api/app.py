"""The REST application. It opens and closes the store; `service.py` adds the explorer page and MCP."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from fastapi import Depends, FastAPI
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware

from api import installed_version, problems
from api.asgi.disconnects import DisconnectMiddleware
from api.asgi.http_rules import HttpRulesMiddleware
from api.openapi import CONTACT, LICENSE, SERVERS, TAGS, Application
from api.pages import REFERENCE
from api.request_parsing import bind
from api.routes.operations import OPERATIONS
from api.runtime.idle_upkeep import OrderedRuns, Traffic, give_memory_back, note_traffic
from api.runtime.ingestions import BackgroundIngestions
from api.runtime.opening import OnFailure, StoreHolder
from api.runtime.runtime import OnLoading, Runtime, open_runtime
from api.security.authentication import Keyring, ShowKey, create_first_key, delete_first_key
from api.security.json_web_tokens import make_token_reader
from api.security.middleware import SecurityMiddleware
from api.security.permissions import admin_unless_declared
from api.security.rate_limits import Exports, RateLimits
from api.telemetry.metrics import query_in_flight
from orchestration.ingestion.file_readers import FileReaders
from schemas.errors import SubstrateError
from schemas.settings import ServerSettings, Settings
from substrate.inference.providers import import_with

if TYPE_CHECKING:
    from api.telemetry.traces import Traces

# FastAPI ignores this warning where it makes the validator of a route; ours are built later, at their first use.
warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)

DESCRIPTION: Final = """\
Memory for agent processes that outlive one context window, in three graphs: personal (N1), collective (N2)
and ecosystem (N3). Each record has two time axes: when it holds, and when it was known.

Every request needs a key, as `Authorization: Bearer KEY` or `X-API-Key`. `x-needs` names the scopes of each route.
For a citizen that the key may not reach the answer is 404, whether the citizen exists or not.

Every error is a problem (RFC 9457) with a remedy and a list of faults. A 503 says when to try again. A command
with a `command_id`, or an `Idempotency-Key` header, is applied once, however often it is sent.
"""


_CORS_REQUEST_HEADERS: Final = (
    "Authorization", "X-API-Key", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match",
)  # fmt: skip
_CORS_RESPONSE_HEADERS: Final = (
    "ETag", "Retry-After", "RateLimit", "RateLimit-Policy", "Server-Timing", "Substrate-Notes", "X-Request-Id",
)  # fmt: skip
"""The headers that pages of other origins may send, and may read in a response."""
MIN_COMPRESSED_BYTES: Final = 1400
"""About one network packet: compressing less saves nothing."""


def create_app(
    settings: Settings,
    show_key: ShowKey | None = None,
    on_failure: OnFailure | None = None,
    on_loading: OnLoading | None = None,
) -> FastAPI:
    """The application. It opens the store and the embedder when it starts, and closes them when it ends.

    If the store has no keys, an administrator's key is made and passed to `show_key`; without `show_key` none is
    made. With `on_failure` the application serves while the engine loads, and calls `on_failure` if the store
    cannot be opened. `on_loading` is called with the progress while the engine loads.
    """

    @asynccontextmanager
    async def open_store(on_loading: OnLoading) -> AsyncIterator[tuple[Runtime, Keyring]]:
        async with open_runtime(settings, on_loading) as runtime, _open_keyring(runtime, show_key) as keyring:
            runtime.deps.connection.around = traces.query if traces else query_in_flight
            if runtime.keeper is not None:
                await runtime.keeper.note_all()
            yield runtime, keyring

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.store = StoreHolder[Keyring](on_failure, on_loading)
        async with (
            app.state.store.hold_open(open_store),
            beside(note_traffic(app.state.traffic, app.state.store)),
            beside(give_memory_back()),
        ):
            yield
            await app.state.readers.aclose()
            await app.state.ingestions.close()
            await app.state.runs.close()
        if traces:
            await asyncio.to_thread(traces.close)

    app = Application(
        title="Substrate",
        version=installed_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        responses=problems.RESPONSES,
        dependencies=[Depends(admin_unless_declared)],
        docs_url=None,  # `api.pages` serves /docs from our own files
        redoc_url=None,
        license_info=LICENSE,
        contact=CONTACT,
        servers=SERVERS,
        openapi_tags=TAGS,
    )
    traces = _make_traces(settings.server)
    app.state.open = settings.auth.open
    app.state.store = StoreHolder[Keyring](on_failure, on_loading)
    app.state.exports = Exports()
    app.state.ingestions = BackgroundIngestions()
    app.state.readers = FileReaders()
    app.state.traffic = Traffic()
    app.state.runs = OrderedRuns()
    app.add_middleware(DisconnectMiddleware)
    app.add_middleware(
        SecurityMiddleware,
        rates=RateLimits(settings.auth),
        origins=settings.auth.cors_origins,
        open_to_all=settings.auth.open,
    )
    app.add_middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=1)
    if traces:
        app.add_middleware(traces.traced)
    if settings.auth.cors_origins:
        app.add_middleware(
            CORSMiddleware,  # pages of these origins call with a key; there are no cookies
            allow_origins=list(settings.auth.cors_origins),
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=_CORS_REQUEST_HEADERS,
            expose_headers=_CORS_RESPONSE_HEADERS,
        )
    app.add_middleware(HttpRulesMiddleware)
    problems.install_handlers(app)
    app.include_router(bind.router(OPERATIONS))
    REFERENCE.install(app)
    return app


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do the work beside what happens in the context, and cancel it at the end."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def _open_keyring(runtime: Runtime, show_key: ShowKey | None) -> AsyncIterator[Keyring]:
    auth, connection = runtime.settings.auth, runtime.deps.connection
    if show_key is not None and auth.admin_key is None and not auth.open:
        first = await create_first_key(connection, await connection.now())
        if first is not None:
            # Show the key. If that fails, delete it again, so that the next start makes another.
            try:
                await asyncio.to_thread(show_key, first)
            except SubstrateError:
                await delete_first_key(connection)
                raise
    tokens = make_token_reader(auth)
    admin_key = None if auth.admin_key is None else auth.admin_key.get_secret_value()
    keyring = Keyring(connection, admin_key, tokens)
    if tokens is not None:
        tokens.start_refresh()
    try:
        yield keyring
    finally:
        await keyring.close()
        if tokens is not None:
            await tokens.close()


def _make_traces(server: ServerSettings) -> Traces | None:
    """The exporter of spans; None without a collector. The SDK takes 10 MB, so it is imported only when needed."""
    if server.otlp_endpoint is None:
        return None
    traces: Traces = import_with("otlp", "api.telemetry.traces").Traces(server.otlp_endpoint, installed_version())
    return traces
