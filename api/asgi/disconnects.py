"""Stop a question when its caller disconnects: queries that wait are not sent, nothing more is read or sorted.

A write runs to its end: its caller can read the receipt later. But a file is read no further: nothing of it is
stored yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

QUESTION_PATHS: Final = frozenset(
    ("/v1/retrieve", "/v1/wake", "/v1/resonate", "/v1/associate", "/v1/upkeep/sweep")
)
"""Paths of the questions that are sent by POST."""
BODILESS_METHODS: Final = frozenset(("GET", "HEAD"))
_LENGTH_HEADERS: Final = frozenset((b"content-length", b"transfer-encoding"))
CLIENT_CLOSED_REQUEST: Final = 499
"""The status of a request whose caller disconnected, as in nginx. Only logs and metrics see it."""


class DisconnectMiddleware:
    """Cancels a question when its caller disconnects."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (scope["method"] in BODILESS_METHODS or scope["path"] in QUESTION_PATHS):
            await _CancellableRequest(receive, send).run(self.app, scope)
        else:
            await self.app(scope, receive, send)


class _CancellableRequest:
    """Runs the application for one request, and cancels it when the caller disconnects.

    The application reads the body at its own pace. After the body only a disconnect can arrive, and a task waits
    for it.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._first: Message | None = None
        self._disconnected = asyncio.Event()
        self._started = self._completed = False
        self._work: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def run(self, app: ASGIApp, scope: Scope) -> None:
        if scope["method"] in BODILESS_METHODS and not _LENGTH_HEADERS.intersection(
            name for name, _ in scope["headers"]
        ):
            self._first = await self._receive()  # at once: without a length there is no body to wait for
        self._work = asyncio.ensure_future(app(scope, self._receive_message, self._send_message))
        if self._first is not None:
            self._watch_after(self._first)
        try:
            await self._work
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if not self._disconnected.is_set() or (current is not None and current.cancelling()):
                raise
            scope["state"]["left"] = True
            if not self._started:
                await self._send({"type": "http.response.start", "status": CLIENT_CLOSED_REQUEST, "headers": []})
                await self._send({"type": "http.response.body", "body": b""})
        finally:
            self._work.cancel()
            if self._watcher is not None:
                self._watcher.cancel()

    async def _receive_message(self) -> Message:
        if self._first is not None:
            message, self._first = self._first, None
        elif self._watcher is not None:
            await self._disconnected.wait()
            message = {"type": "http.disconnect"}
        else:
            message = await self._receive()
            self._watch_after(message)
        return message

    def _watch_after(self, message: Message) -> None:
        if self._watcher is None and message["type"] == "http.request" and not message.get("more_body"):
            self._watcher = asyncio.create_task(self._watch())

    async def _send_message(self, message: Message) -> None:
        # A server also reports a disconnect after a complete response; that one must cancel nothing.
        self._started = True
        self._completed = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._disconnected.set()
        if not self._completed and self._work is not None:
            self._work.cancel()


async def unless_caller_leaves[Answer](request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """What the work answers; for the part of a write that stores nothing yet. The body must have been read.

    Raises HTTPException 499 when the caller disconnects: then the work is cancelled.
    """

    async def wait_until_left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    doing, leaving = asyncio.create_task(work), asyncio.create_task(wait_until_left())
    try:
        await asyncio.wait([doing, leaving], return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
    finally:
        doing.cancel()
        leaving.cancel()
    request.scope["state"]["left"] = True
    raise HTTPException(CLIENT_CLOSED_REQUEST, "the caller has left")
