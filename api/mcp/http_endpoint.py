"""`/mcp` of the service: streamable HTTP without sessions, opened by the first request.

Without sessions there is nothing to listen for and nothing to end, so only POST is served. Each call goes through
the same application with the headers of the caller, so that the key is checked and allows the same as over REST.
The SDK takes 20 MB and is imported by the first request.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.client import AsyncSubstrate
from api.mcp.tool import CitizenScope
from api.mcp.tools import choose_tools, split_names
from api.security.permissions import Caller

FORWARDED_HEADERS: Final = ("authorization", "x-api-key", "x-request-id")


class McpEndpoint:
    """The ASGI endpoint. `close` stops the SDK that the first request started."""

    path: Final = "/mcp"

    def __init__(self, app: Starlette, version: str, extra_tools: str = "") -> None:
        """`extra_tools`: the tools to offer beside the usual ones, as `tools.choose_tools` takes them."""
        self._app = app
        self._version = version
        self._tools = choose_tools(split_names(extra_tools))
        self._opening = asyncio.Lock()
        self._closing = asyncio.Event()
        self._holder: asyncio.Task[None] | None = None
        self._handler: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._opening:
            if self._handler is None:
                self._handler = await self._open()
        await self._handler(scope, receive, send)

    async def close(self) -> None:
        self._closing.set()
        if self._holder is not None:
            await self._holder

    async def _open(self) -> ASGIApp:
        """Open the SDK in a task of its own: the task that opens it must also close it."""
        server = (await asyncio.to_thread(import_module, "api.mcp.server")).make_server(
            self._client, self._version, self._tools, _scope_of
        )
        managers = import_module("mcp.server.streamable_http_manager")
        manager = managers.StreamableHTTPSessionManager(server, stateless=True, json_response=True)
        opened = asyncio.Event()

        async def hold() -> None:
            async with manager.run():
                opened.set()
                await self._closing.wait()

        self._holder = asyncio.create_task(hold())
        await opened.wait()
        handler: ASGIApp = manager.handle_request
        return handler

    async def _client(self, context: Any) -> AsyncSubstrate:
        request: Request = context.request
        headers = {name: request.headers[name] for name in FORWARDED_HEADERS if name in request.headers}
        return AsyncSubstrate.inside(self._app, headers, attempts=1)


def _scope_of(context: Any) -> CitizenScope:
    """The citizen of the caller's key, if the key is for only one."""
    caller: Caller | None = context.request.state.caller
    return CitizenScope(None if caller is None else caller.grants.only_citizen())
