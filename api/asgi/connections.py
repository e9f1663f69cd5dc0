"""Limits on connections: the time for a request head, and which connection closes when there are too many.

A connection is authenticated once a request on it had a valid key. When too many are unauthenticated, the oldest
of these is closed, so that idle connections lock nobody out. An authenticated connection is closed only when the
total is reached, and only while it is idle.
"""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from itertools import chain
from typing import Any, ClassVar, Final

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.problems import http_error_response

logger = logging.getLogger(__name__)

MAX_HEAD_BYTES: Final = 64 * 1024
"""uvicorn buffers at most this much of an incomplete head."""
HEAD_SECONDS: Final = 10.0
"""Limit for a head, from the connection or its first byte, and for the rest of a body after the response."""
MAX_CONNECTIONS: Final = 10_000
MAX_UNAUTHENTICATED: Final = 1_000
RESERVED_FILES: Final = 128
"""File descriptors left for other uses: the engine, its log, and files being read."""
MIN_CONNECTIONS: Final = 32
WARNING_INTERVAL_SECONDS: Final = 60.0
_TIMEOUT_RESPONSE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class OpenConnections:
    """Open connections, oldest first: at most `unauthenticated` without a valid key, at most `total` in all."""

    def __init__(self, unauthenticated: int, total: int) -> None:
        self._max_unauthenticated, self._max_total = unauthenticated, total
        # An authenticated connection moves to `_authenticated` only when `_unauthenticated` is full.
        self._unauthenticated: dict[GuardedConnection, None] = {}
        self._authenticated: dict[GuardedConnection, None] = {}
        self._warned_at = -WARNING_INTERVAL_SECONDS

    def add(self, connection: GuardedConnection) -> None:
        """Add a connection; when there are too many, close another one."""
        self._unauthenticated[connection] = None
        while len(self._unauthenticated) > self._max_unauthenticated:
            oldest = next(iter(self._unauthenticated))
            del self._unauthenticated[oldest]
            if oldest.authenticated:
                self._authenticated[oldest] = None
            else:
                self._close(oldest)
        if len(self._unauthenticated) + len(self._authenticated) > self._max_total:
            self._close(self._least_needed(connection))

    def remove(self, connection: GuardedConnection) -> None:
        self._unauthenticated.pop(connection, None)
        self._authenticated.pop(connection, None)

    def _least_needed(self, newest: GuardedConnection) -> GuardedConnection:
        """The oldest unauthenticated one, else the oldest idle one, else the newest."""
        unauthenticated = (connection for connection in self._unauthenticated if not connection.authenticated)
        connections = (*self._authenticated, *self._unauthenticated)
        idle = (connection for connection in connections if connection.idle)
        candidates = chain(unauthenticated, idle)
        return next((connection for connection in candidates if connection is not newest), newest)

    def _close(self, connection: GuardedConnection) -> None:
        self.remove(connection)
        connection.transport.abort()
        if time.monotonic() - self._warned_at >= WARNING_INTERVAL_SECONDS:
            self._warned_at = time.monotonic()
            logger.warning("too many connections: the oldest without a key are closed")


class StrictLines(ReceiveBuffer):
    """h11's buffer without what h11 allows old senders: a proxy in front of us may read such bytes otherwise.

    Its methods raise `h11.RemoteProtocolError` (answered with 400) for a line that ends with a bare LF or goes on
    in the next one, for a second Content-Length, and for a control character beside the size of a chunk.
    """

    def maybe_extract_lines(self) -> list[bytearray] | None:
        held = len(self)
        lines = super().maybe_extract_lines()
        if lines is None:
            return None
        size, lengths = 2, 0
        for line in lines:
            name, _, value = line.partition(b":")
            lengths += 1 + value.count(b",") if name.lower() == b"content-length" else 0
            # h11 took the ends off, CRLF has two bytes: a bare LF, or a folded line, leaves a difference.
            size += 0 if line.startswith((b" ", b"\t")) else len(line) + 2
        if held - len(self) != size or lengths > 1:
            raise h11.RemoteProtocolError("a head that can be read in two ways")
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        line = super().maybe_extract_next_line()
        if line is not None and min(line[:-2], default=0) < ord(" "):
            raise h11.RemoteProtocolError("a chunk size that can be read in two ways")
        return line


class LingeringTransport:
    """A transport that closes only its sending side at first, while the client still sends.

    Closing both sides with bytes unread resets the connection, and the client may never see the response.
    """

    def __init__(self, inner: asyncio.Transport, connection: GuardedConnection) -> None:
        self._inner, self._connection = inner, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        return self._connection.lingers or self._inner.is_closing()

    def close(self) -> None:
        """Close the sending side; both sides when called again, or when the request was read to its end."""
        unread = self._connection.conn.their_state in (h11.SEND_BODY, h11.ERROR)
        if self.is_closing() or not unread or not self._inner.can_write_eof():
            self._inner.close()
            return
        self._inner.write_eof()
        self._connection.linger()


class GuardedConnection(H11Protocol):
    """A connection with a time limit for heads. Servers use a subclass made by `connection_class`."""

    open_connections: ClassVar[OpenConnections]
    head_seconds: ClassVar[float]
    _head_timer: asyncio.TimerHandle | None = None
    _authenticated = False
    lingers = False
    """True when all is answered, and what still comes is dropped."""

    @property
    def authenticated(self) -> bool:
        """True when a request on this connection had a valid key."""
        self._note_caller()
        return self._authenticated

    def _note_caller(self) -> None:
        """Read the caller that the security middleware set, before another request replaces the scope."""
        state = {} if self.scope is None else self.scope["state"]
        self._authenticated = self._authenticated or state.get("caller") is not None

    @property
    def idle(self) -> bool:
        """True when no request on this connection is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        self.conn._receive_buffer = StrictLines()  # h11 has no option for it
        super().connection_made(LingeringTransport(transport, self))  # type: ignore[arg-type]  # it wraps one
        self.open_connections.add(self)
        self._time_head(waiting=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lingers = False
        self._time_head(waiting=False)
        self.open_connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle the bytes. The timer runs while a head is incomplete, or the body of an answered request."""
        if self.lingers:
            return
        self._note_caller()
        super().data_received(data)
        state = self.conn.their_state
        self._time_head(waiting=state is h11.IDLE or (self.idle and state is h11.SEND_BODY))

    def linger(self) -> None:
        """Drop what still comes, for at most the time of a head. What waits for the body hears that it ends."""
        self.lingers = True
        self.flow.resume_reading()
        self._time_head(waiting=True)
        if not self.idle:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        """Time the rest of the body, or the next head once it has begun. uvicorn closes silent connections."""
        self._note_caller()
        super().on_response_complete()
        head_begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        self._time_head(waiting=self.idle and (head_begun or self.conn.their_state is h11.SEND_BODY))

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not a valid request with a problem: 400, 414 or 431."""
        head = bytes(self.conn.trailing_data[0])
        if len(head) < MAX_HEAD_BYTES or not self.idle:
            status, detail = 400, "this is not HTTP; see /docs"
        elif b"\n" not in head[:MAX_HEAD_BYTES]:
            status, detail = 414, f"the first line has more than {MAX_HEAD_BYTES:,} bytes"
        else:
            status, detail = 431, f"the head has more than {MAX_HEAD_BYTES:,} bytes"
        response = http_error_response(status, "", detail, {"Connection": "close"})
        for event in (
            h11.Response(status_code=status, headers=response.raw_headers),
            h11.Data(data=bytes(response.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _time_head(self, *, waiting: bool) -> None:
        """Start the timer unless it runs, or stop it."""
        waiting = waiting or self.lingers
        if not waiting and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        elif waiting and self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._time_out)

    def _time_out(self) -> None:
        self._head_timer = None
        if self.lingers or self.transport.get_write_buffer_size():
            self.transport.abort()
            return
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_TIMEOUT_RESPONSE)
        self.transport.close()


def connection_class(connections: OpenConnections, head_seconds: float = HEAD_SECONDS) -> type[GuardedConnection]:
    """A connection class that carries these limits, because uvicorn passes no arguments of ours to its class."""
    attributes: dict[str, Any] = {"open_connections": connections, "head_seconds": head_seconds}
    return type("ServerConnection", (GuardedConnection,), attributes)


def process_connections() -> OpenConnections:
    """Limits that fit the files this process may open; first increases its soft file limit as far as allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + RESERVED_FILES
    files = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    total = max(MIN_CONNECTIONS, files - RESERVED_FILES)
    return OpenConnections(min(MAX_UNAUTHENTICATED, total // 2), total)
