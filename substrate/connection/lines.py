"""Connections to one server: each carries one command at a time, or some sent at once.

The library's own client takes locks, a condition and several timers for each command: most of what a short query
costs this process. A connection here has one timer. Connecting, packing and parsing are the library's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import hiredis
import redis.asyncio as redis
from redis import exceptions as redis_errors

type Command = Sequence[str | int | bytes]

WAIT_S: Final = 5.0
"""How long a command waits for a free connection."""


class NotConnected(ConnectionError):
    """The server could not be reached: nothing was sent."""


class Lines:
    """At most `most` connections of their own to the server of a client; an answer may take `answer_s` seconds."""

    def __init__(self, client: redis.Redis, most: int, answer_s: float) -> None:
        self._pool = client.connection_pool
        self._read_as = client.response_callbacks
        self._answer_s = answer_s
        self._free_places = asyncio.Semaphore(most)
        self._free: list[Any] = []
        self._all: list[Any] = []

    async def send(self, *words: str | int | bytes) -> Any:
        """The reply to a command. Raises as the library does: RedisError, OSError."""
        [reply] = await self.send_together(words)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def send_together(self, *commands: Command) -> list[Any]:
        """The replies to commands that are sent at once; an error of the server stands in the place of a reply.
        The answer to all may take as long as that to one. Raises RedisError or OSError when no answer came. What
        was cancelled, or came too late, costs the connection: its reply would be taken for the next one's."""
        if self._free_places.locked():
            await self._wait()
        else:
            await self._free_places.acquire()
        line = self._free.pop() if self._free else self._new()
        try:
            async with asyncio.timeout(self._answer_s):
                if line.is_connected and await _is_spent(line):
                    await line.disconnect()
                if not line.is_connected:
                    try:
                        await line.connect()
                    except redis_errors.AuthenticationError:
                        raise
                    except (redis_errors.ConnectionError, redis_errors.TimeoutError) as error:
                        raise NotConnected(str(error)) from error
                await line.send_packed_command(list(map(_pack, commands)), check_health=False)
                replies: list[Any] = []
                for _ in commands:
                    try:
                        replies.append(await line.read_response())
                    except redis_errors.ResponseError as error:
                        replies.append(error)
        finally:
            self._free.append(line)
            self._free_places.release()
        return [self._read(words[0], reply) for words, reply in zip(commands, replies, strict=True)]

    def _read(self, name: Any, reply: Any) -> Any:
        read = self._read_as.get(name)
        return reply if read is None or isinstance(reply, Exception) else read(reply)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                await self._free_places.acquire()
        except TimeoutError as error:
            raise redis_errors.ConnectionError("No connection available.") from error

    def _new(self) -> Any:
        line = self._pool.make_connection()
        line.socket_timeout = None  # one timer is for all that a command waits for
        self._all.append(line)
        return line

    async def close(self) -> None:
        """Close all connections; a later command opens one again."""
        for line in self._all:
            await line.disconnect()


def _pack(words: Command) -> bytes:
    """The bytes of a command; its name may have several words."""
    name, *others = words
    packed: bytes = hiredis.pack_command((*str(name).split(), *others))  # type: ignore[arg-type]
    return packed


async def _is_spent(line: Any) -> bool:
    """True for a connection that the server closed, or on which something came that nobody asked for."""
    try:
        return bool(await line.can_read())
    except (redis_errors.RedisError, OSError):
        return True
