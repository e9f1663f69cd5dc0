"""A line carries one command at a time, and never the reply to another one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import redis.asyncio as redis
from redis import exceptions as redis_errors

from substrate.connection import lines
from substrate.connection.lines import Lines

SLOW_S = 0.05


class Server:
    """Answers a command with its last word; `slow` after a while, `refuse` by an error, `leave` not at all."""

    def __init__(self) -> None:
        self.connections: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                count = int((await reader.readline())[1:] or 0)
                words = [await self._word(reader) for _ in range(count)]
                if not words or words[-1] == b"leave":
                    break
                await asyncio.sleep(SLOW_S if b"slow" in words else 0)
                if words[-1] == b"refuse":
                    writer.write(b"-ERR refused\r\n")
                else:
                    writer.write(b"$%d\r\n%s\r\n" % (len(words[-1]), words[-1]))
        writer.close()

    async def _word(self, reader: asyncio.StreamReader) -> bytes:
        size = int((await reader.readline())[1:])
        return (await reader.readexactly(size + 2))[:-2]


@asynccontextmanager
async def opened(path: Path, most: int = 2, answer_s: float = 5.0) -> AsyncIterator[tuple[Server, Lines]]:
    server = Server()
    async with await asyncio.start_unix_server(server.serve, path / "lines.sock"):
        client = redis.Redis(unix_socket_path=str(path / "lines.sock"), decode_responses=True, protocol=2)
        opened = Lines(client, most, answer_s)
        yield server, opened
        await opened.close()
        await client.aclose()


async def test_commands_one_after_another_share_a_line(tmp_path: Path) -> None:
    async with opened(tmp_path) as (server, own):
        assert [await own.send("ECHO", word) for word in ("a", "é", "c")] == ["a", "é", "c"]
        assert len(server.connections) == 1


async def test_commands_sent_at_once_have_each_its_own_reply_or_error(tmp_path: Path) -> None:
    async with opened(tmp_path) as (server, own):
        first, refused, last = await own.send_together(("ECHO", "a"), ("ECHO", "refuse"), ("ECHO", "c"))
        assert (first, last) == ("a", "c")
        assert isinstance(refused, redis_errors.ResponseError)
        with pytest.raises(redis_errors.ResponseError, match="refused"):
            await own.send("ECHO", "refuse")
        assert await own.send("ECHO", "d") == "d"
        assert len(server.connections) == 1


@pytest.mark.parametrize("answer_s", [SLOW_S / 2, 5.0])
async def test_of_commands_sent_at_once_no_reply_is_left_to_the_next(tmp_path: Path, answer_s: float) -> None:
    async with opened(tmp_path, most=1, answer_s=answer_s) as (_, own):
        sent = asyncio.create_task(own.send_together(("ECHO", "a"), ("ECHO", "slow", "b"), ("ECHO", "c")))
        if answer_s > SLOW_S:
            await asyncio.sleep(SLOW_S / 2)
            sent.cancel()
        with pytest.raises((asyncio.CancelledError, TimeoutError)):
            await sent
        assert await own.send("ECHO", "yours") == "yours"
        with pytest.raises(redis_errors.ConnectionError):
            await own.send_together(("ECHO", "a"), ("ECHO", "leave"))
        assert await own.send("ECHO", "yours too") == "yours too"


async def test_there_are_no_more_lines_than_allowed(tmp_path: Path) -> None:
    async with opened(tmp_path) as (server, own):
        sent = [own.send("ECHO", "slow", str(number)) for number in range(6)]
        assert await asyncio.gather(*sent) == [str(number) for number in range(6)]
        assert len(server.connections) == 2


async def test_a_cancelled_command_leaves_its_reply_to_nobody(tmp_path: Path) -> None:
    async with opened(tmp_path, most=1) as (_, own):
        cancelled = asyncio.create_task(own.send("ECHO", "slow", "mine"))
        await asyncio.sleep(SLOW_S / 5)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert await own.send("ECHO", "yours") == "yours"
        await asyncio.sleep(SLOW_S)
        assert await own.send("ECHO", "yours too") == "yours too"


async def test_an_answer_that_is_late_is_an_error_and_leaves_its_reply_to_nobody(tmp_path: Path) -> None:
    async with opened(tmp_path, most=1, answer_s=SLOW_S / 2) as (_, own):
        with pytest.raises(TimeoutError):
            await own.send("ECHO", "slow", "mine")
        assert await own.send("ECHO", "yours") == "yours"


async def test_a_line_that_the_server_closed_is_opened_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as (server, own):
        assert await own.send("ECHO", "a") == "a"
        server.connections[0].close()
        await asyncio.sleep(0.01)
        assert await own.send("ECHO", "b") == "b"
        with pytest.raises(redis_errors.ConnectionError):
            await own.send("ECHO", "leave")
        assert await own.send("ECHO", "c") == "c"


async def test_who_waits_too_long_for_a_line_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "WAIT_S", SLOW_S / 5)
    async with opened(tmp_path, most=1) as (_, own):
        first = asyncio.create_task(own.send("ECHO", "slow", "a"))
        await asyncio.sleep(0)
        with pytest.raises(redis_errors.ConnectionError, match="No connection available"):
            await own.send("ECHO", "b")
        assert await first == "a"
