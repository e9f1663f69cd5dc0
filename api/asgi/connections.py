"""Connections before they are requests: how long a head may take, and who makes way when there are too many.

A connection whose requests showed no key that counts is a newcomer. Newcomers make way for each other, the oldest
first, so that idle ones shut nobody out; who has shown a key makes way only when all places are taken, and idle.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from itertools import chain
from typing import Any, ClassVar, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.problems import http_error_response

logger = logging.getLogger(__name__)

MAX_HEAD_BYTES: Final = 64 * 1024
"""Bytes, as uvicorn has them taken in before a head is whole."""
HEAD_SECONDS: Final = 10.0
"""For the head of a request, from its first byte or the connection on; and for the rest of an answered body."""
MAX_CONNECTIONS: Final = 10_000
MAX_UNAUTHENTICATED: Final = 1_000
RESERVED_FILES: Final = 128
"""Descriptors that are not for connections: the engine, its log, files that are read."""
MIN_CONNECTIONS: Final = 32
WARNING_INTERVAL_SECONDS: Final = 60.0
_TIMEOUT_RESPONSE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class OpenConnections:
    """Who is connected, oldest first: at most `newcomers` who showed no key, at most `everybody` in all."""

    def __init__(self, newcomers: int, everybody: int) -> None:
        self._most_newcomers, self._most = newcomers, everybody
        self._newcomers: dict[GuardedConnection, None] = {}
        self._known: dict[GuardedConnection, None] = {}
        self._told_at = -WARNING_INTERVAL_SECONDS

    def enter(self, connection: GuardedConnection) -> None:
        """Take a connection in; another makes way when there are too many."""
        self._newcomers[connection] = None
        while len(self._newcomers) > self._most_newcomers:
            oldest = next(iter(self._newcomers))
            del self._newcomers[oldest]
            if oldest.known:
                self._known[oldest] = None
            else:
                self._end(oldest)
        if len(self._newcomers) + len(self._known) > self._most:
            self._end(self._least_missed(connection))

    def leave(self, connection: GuardedConnection) -> None:
        """It has ended."""
        self._newcomers.pop(connection, None)
        self._known.pop(connection, None)

    def _least_missed(self, last: GuardedConnection) -> GuardedConnection:
        """Another newcomer, else one that is idle, else the last that came."""
        unknown = (one for one in self._newcomers if not one.known)
        idle = (one for one in (*self._known, *self._newcomers) if one.idle)
        return next((one for one in chain(unknown, idle) if one is not last), last)

    def _end(self, connection: GuardedConnection) -> None:
        self.leave(connection)
        connection.transport.abort()
        if time.monotonic() - self._told_at >= WARNING_INTERVAL_SECONDS:
            self._told_at = time.monotonic()
            logger.warning("too many connections: the oldest without a key make way")


class GuardedConnection(H11Protocol):
    """A connection of a crowd. `guarded` makes the kind that a server is given."""

    crowd: ClassVar[OpenConnections]
    head_seconds: ClassVar[float]
    _late: asyncio.TimerHandle | None = None
    _known = False

    @property
    def known(self) -> bool:
        """Whether a request on it showed a key that counts: the gate then names its caller."""
        self._note_caller()
        return self._known

    def _note_caller(self) -> None:
        """Before another request takes the place of this one."""
        state = {} if self.scope is None else self.scope["state"]
        self._known = self._known or state.get("caller") is not None

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Enter the crowd; a head is expected from now on."""
        super().connection_made(transport)
        self.crowd.enter(self)
        self._watch(waits=True)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the crowd."""
        self._watch(waits=False)
        self.crowd.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hear what came; whoever still sends a head, or a body that was answered, goes on being watched."""
        self._note_caller()
        super().data_received(data)
        state = self.conn.their_state
        self._watch(waits=state is h11.IDLE or (self.idle and state is h11.SEND_BODY))

    def on_response_complete(self) -> None:
        """What comes now is the rest of the body, or another head; silence is uvicorn's to end."""
        self._note_caller()
        super().on_response_complete()
        begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        self._watch(waits=self.idle and (begun or self.conn.their_state is h11.SEND_BODY))

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request with a problem, which names what of it is too long."""
        begun = bytes(self.conn.trailing_data[0])
        if len(begun) < MAX_HEAD_BYTES:
            status, detail = 400, "this is not HTTP; see /docs"
        elif b"\n" not in begun[:MAX_HEAD_BYTES]:
            status, detail = 414, f"the first line has more than {MAX_HEAD_BYTES:,} bytes"
        else:
            status, detail = 431, f"the head has more than {MAX_HEAD_BYTES:,} bytes"
        answer = http_error_response(status, "", detail, {"Connection": "close"})
        for event in (
            h11.Response(status_code=status, headers=answer.raw_headers),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch(self, *, waits: bool) -> None:
        if not waits and self._late is not None:
            self._late.cancel()
            self._late = None
        elif waits and self._late is None:
            self._late = self.loop.call_later(self.head_seconds, self._end_late)

    def _end_late(self) -> None:
        self._late = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()
            return
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_TIMEOUT_RESPONSE)
        self.transport.close()


def connection_class(crowd: OpenConnections, head_seconds: float = HEAD_SECONDS) -> type[GuardedConnection]:
    """The kind of connection of one server."""
    held: dict[str, Any] = {"crowd": crowd, "head_seconds": head_seconds}
    return type("GuardedOfServer", (GuardedConnection,), held)


def process_connections() -> OpenConnections:
    """A crowd that fits the files which this process may open; it may open all that its user may, from now on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + RESERVED_FILES
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    everybody = max(MIN_CONNECTIONS, most - RESERVED_FILES)
    return OpenConnections(min(MAX_UNAUTHENTICATED, everybody // 2), everybody)
