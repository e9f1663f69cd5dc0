"""Standard input and output of a server of the Model Context Protocol, as pipes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

import pytest

from api.mcp.stdio import CHUNK_BYTES, LineReader, TextWriter

type Pipe = tuple[int, int]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """A pipe whose reading end the test closes, or leaves to the thread that reads it."""
    reading, writing = os.pipe()
    yield reading, writing
    for end in (writing, reading):
        try:
            os.close(end)
        except OSError:
            continue


async def test_lines_are_read_whole_however_they_were_sent(pipe: Pipe) -> None:
    long = "x" * (2 * CHUNK_BYTES)

    def send() -> None:
        for part in (b"on", b"e\ntwo\n", b"\xff\n", long.encode() + b"\n", b"last"):
            os.write(pipe[1], part)
        os.close(pipe[1])

    sending = asyncio.create_task(asyncio.to_thread(send))
    assert [line async for line in LineReader(pipe[0])] == ["one", "two", "\ufffd", long, "last"]
    await sending


async def test_texts_are_written_in_order_however_slowly_they_are_read(pipe: Pipe) -> None:
    output = TextWriter(pipe[1], lambda: None)
    texts = [f"{number}{'x' * CHUNK_BYTES}\n" for number in range(8)]
    writing = asyncio.gather(*map(output.write, texts))
    await asyncio.sleep(0)
    read = b""
    while len(read) < sum(map(len, texts)):
        read += await asyncio.to_thread(os.read, pipe[0], 1000)
    await writing
    await output.flush()
    assert read.decode() == "".join(texts)


async def test_the_lines_end_when_the_reader_of_the_answers_is_gone(pipe: Pipe) -> None:
    reading, asking = os.pipe()
    lines = LineReader(reading)
    output = TextWriter(pipe[1], lines.end)
    os.write(asking, b"one\n")
    assert await anext(lines) == "one"
    os.close(pipe[0])
    await output.write("an answer\n")
    assert [line async for line in lines] == []
    os.close(asking)
