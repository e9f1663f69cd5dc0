"""What is asked stops when its caller leaves: no query that waits is sent, nothing more is read or sorted.

What writes goes on to its end, as if its answer had been lost: what was stored is learnt from its receipts.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

QUESTION_PATHS: Final = frozenset(
    ("/v1/retrieve", "/v1/wake", "/v1/resonate", "/v1/associate", "/v1/upkeep/sweep")
)
"""What is asked by POST."""
BODILESS_METHODS: Final = frozenset(("GET", "HEAD"))
_LENGTHS: Final = frozenset((b"content-length", b"transfer-encoding"))
CLIENT_CLOSED_REQUEST: Final = 499
"""The status of a request whose caller left, as nginx has it; only logs and metrics ever see it."""


class DisconnectMiddleware:
    """Middleware: listens to the caller while the application works."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a question is cancelled when its caller leaves."""
        if scope["type"] == "http" and is_question(scope):
            await _CancellableRequest(receive, send).answer(self.app, scope)
        else:
            await self.app(scope, receive, send)


def is_question(scope: Scope) -> bool:
    """Whether the request only asks."""
    return scope["method"] in BODILESS_METHODS or scope["path"] in QUESTION_PATHS


class _CancellableRequest:
    """One question: what comes from its caller, and what goes back.

    Once the body is here whole, all that can still come is that the caller left; before that, the application
    reads it itself, as fast as it takes it.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._from_caller, self._to_caller = receive, send
        self._first: Message | None = None
        self._left = asyncio.Event()
        self._begun = self._answered = False
        self._work: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    async def answer(self, app: ASGIApp, scope: Scope) -> None:
        """Have the application answer, as long as the caller is there."""
        if scope["method"] in BODILESS_METHODS and not _LENGTHS.intersection(name for name, _ in scope["headers"]):
            self._first = await self._from_caller()  # at once: with no length there is no body to wait for
        self._work = asyncio.create_task(_call(app, scope, self._receive, self._send))
        if self._first is not None:
            self._watch_after(self._first)
        try:
            await self._work
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if not self._left.is_set() or (own is not None and own.cancelling()):
                raise
            scope["state"]["left"] = True
            if not self._begun:
                await self._to_caller(
                    {"type": "http.response.start", "status": CLIENT_CLOSED_REQUEST, "headers": []}
                )
                await self._to_caller({"type": "http.response.body", "body": b""})
        finally:
            self._work.cancel()
            if self._watching is not None:
                self._watching.cancel()

    async def _receive(self) -> Message:
        if self._first is not None:
            message, self._first = self._first, None
        elif self._watching is not None:
            await self._left.wait()
            message = {"type": "http.disconnect"}
        else:
            message = await self._from_caller()
            self._watch_after(message)
        return message

    def _watch_after(self, message: Message) -> None:
        if self._watching is None and message["type"] == "http.request" and not message.get("more_body"):
            self._watching = asyncio.create_task(self._watch())

    async def _send(self, message: Message) -> None:
        # A server says that the caller is gone after the whole answer too.
        self._begun = True
        self._answered = message["type"] == "http.response.body" and not message.get("more_body")
        await self._to_caller(message)

    async def _watch(self) -> None:
        while (await self._from_caller())["type"] != "http.disconnect":
            pass
        self._left.set()
        if not self._answered and self._work is not None:
            self._work.cancel()


async def _call(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)
