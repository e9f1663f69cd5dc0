"""A client of `benchmarks.soak`: raw requests over one connection, whole, slow, broken off, or no HTTP at all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

type Manner = Literal["whole", "slow", "dropped", "half", "chunked", "raw"]
"""How a request is sent. `slow`: its body in four parts, with pauses. `dropped`: the connection ends before the
answer, `half`: in the middle of the body. `chunked`: without a length. `raw`: the body is all that is sent."""

TIMEOUT_S: Final = 60.0
PARTS, PAUSE_S = 4, 0.02
CHUNK: Final = 1 << 20
NO_ANSWER: Final = 0
FIRST_FAULT: Final = 500
_BROKEN: Final = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError)


class Sent(NamedTuple):
    """A request. `body` is also all that is sent where the manner is `raw`."""

    method: str
    target: str
    body: bytes = b""
    headers: Mapping[str, str] = {}
    manner: Manner = "whole"

    @property
    def unanswered(self) -> bool:
        """True when the client does not wait for an answer."""
        return self.manner in ("dropped", "half")


@dataclass
class RawClient:
    """Sends requests one after another. The connection stays open, unless a request or the service ends it."""

    port: int
    key: str
    host: str = "127.0.0.1"
    fault: bytes = b""
    """The body of the last answer 5xx."""
    _line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None)

    async def send(self, sent: Sent) -> int:
        """Send a request and return the status of the answer; `NO_ANSWER` when none came, or none was awaited."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._send(sent)
        except _BROKEN:
            await self.close()
            return NO_ANSWER

    async def close(self) -> None:
        """End the connection at once."""
        line, self._line = self._line, None
        if line is not None:
            line[1].transport.abort()

    async def _send(self, sent: Sent) -> int:
        if self._line is None or self._line[0].at_eof():
            self._line = await asyncio.open_connection(self.host, self.port, limit=1 << 20)
        reader, writer = self._line
        await self._write(sent, writer)
        if sent.unanswered:
            await self.close()
            return NO_ANSWER
        answer = await _read(reader, bodiless=sent.method == "HEAD")
        if not answer.stays or sent.manner == "raw":
            await self.close()
        if answer.status >= FIRST_FAULT:
            self.fault = answer.body
        return answer.status

    async def _write(self, sent: Sent, writer: asyncio.StreamWriter) -> None:
        if sent.manner == "raw":
            writer.write(sent.body)
            return
        writer.write(self._head(sent))
        if sent.manner == "slow":
            size = len(sent.body) // PARTS + 1
            for start in range(0, len(sent.body), size):
                writer.write(sent.body[start : start + size])
                await asyncio.sleep(PAUSE_S)
        elif sent.manner == "chunked":
            for start in range(0, len(sent.body), CHUNK):
                part = sent.body[start : start + CHUNK]
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
        else:
            writer.write(sent.body[: len(sent.body) // 2] if sent.manner == "half" else sent.body)
            await writer.drain()

    def _head(self, sent: Sent) -> bytes:
        fields = {"Host": f"{self.host}:{self.port}", "Authorization": f"Bearer {self.key}"}
        if sent.manner == "chunked":
            fields["Transfer-Encoding"] = "chunked"
        elif sent.body or sent.method not in ("GET", "HEAD"):
            fields["Content-Length"] = str(len(sent.body))
        if sent.body:
            fields["Content-Type"] = "application/json"
        lines = [f"{name}: {value}" for name, value in {**fields, **sent.headers}.items()]
        return "\r\n".join((f"{sent.method} {sent.target} HTTP/1.1", *lines, "\r\n")).encode()


class _Answer(NamedTuple):
    status: int
    stays: bool
    """Whether the connection stays open."""
    body: bytes = b""


async def _read(reader: asyncio.StreamReader, *, bodiless: bool) -> _Answer:
    """Read an answer to its end."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines if line)
    answer = _Answer(int(first.split(" ", 2)[1]), fields.get("connection") != "close")
    if "chunked" in fields.get("transfer-encoding", ""):
        await _read_chunks(reader)
    elif not bodiless and answer.status not in (204, 304):
        return answer._replace(body=await reader.readexactly(int(fields.get("content-length", 0))))
    return answer


async def _read_chunks(reader: asyncio.StreamReader) -> None:
    size = -1
    while size:
        size = int(await reader.readuntil(b"\r\n"), 16)
        await reader.readexactly(size + 2)
