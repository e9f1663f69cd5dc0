"""`/mcp` of the service: streamable HTTP without sessions, opened when it is first asked.

Without sessions there is nothing to listen for and nothing to end: POST alone is answered. Each call goes through
the same application with the headers of the caller: its key is looked at again, and what it may do is what it may
do over REST. The SDK takes some 20 MB, which only those pay who use it.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from api.client import AsyncSubstrate
from api.mcp.tool_schemas import CitizenScope
from api.security.permissions import Caller

FORWARDED_HEADERS: Final = ("authorization", "x-api-key", "x-request-id")


class McpEndpoint:
    """The endpoint. `close` ends what the first request opened."""

    path: Final = "/mcp"

    def __init__(self, app: Starlette, version: str) -> None:
        self._app = app
        self._version = version
        self._opening = asyncio.Lock()
        self._closing = asyncio.Event()
        self._held: asyncio.Task[None] | None = None
        self._inner: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of the protocol."""
        async with self._opening:
            if self._inner is None:
                self._inner = await self._open()
        await self._inner(scope, receive, send)

    async def close(self) -> None:
        """End the protocol's tasks."""
        self._closing.set()
        if self._held is not None:
            await self._held

    async def _open(self) -> ASGIApp:
        """The SDK, in a task of its own: what it opens must be closed by the task that opened it."""
        server = (await asyncio.to_thread(import_module, "api.mcp.server")).make_server(
            self._client, self._version, _owner
        )
        managers = import_module("mcp.server.streamable_http_manager")
        manager = managers.StreamableHTTPSessionManager(server, stateless=True, json_response=True)
        opened = asyncio.Event()

        async def hold() -> None:
            async with manager.run():
                opened.set()
                await self._closing.wait()

        self._held = asyncio.create_task(hold())
        await opened.wait()
        inner: ASGIApp = manager.handle_request
        return inner

    async def _client(self, context: Any) -> AsyncSubstrate:
        request: Request = context.request
        headers = {name: request.headers[name] for name in FORWARDED_HEADERS if name in request.headers}
        return AsyncSubstrate.inside(self._app, headers, attempts=1)


def _owner(context: Any) -> CitizenScope:
    """The only citizen whose key it is that came with the request."""
    caller: Caller | None = context.request.state.caller
    return CitizenScope(None if caller is None else caller.grants.only_citizen())
