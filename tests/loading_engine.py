"""An engine that loads for as long as a test likes: it waits at each of its keys until it is told not to."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from substrate.connection.pool import Connection
from substrate.engine.append_log import rewrite
from substrate.engine.embedded import EmbeddedEngine
from substrate.engine.unix_socket import socket_path
from tests.docs_pages import ROOT
from tests.waiting import LIMIT_S, PAUSE_S

KEYS: Final = 10_000
SLOW: Final = "key-load-delay 5000\nloading-process-events-interval-bytes 1024\n"
"""A minute for all keys, with an ear for commands between them."""
MUTE: Final = "key-load-delay 600\nloading-process-events-interval-bytes 2147483647\n"
"""Some seconds for all keys, and no answer to anything meanwhile."""
PROGRAM: Final = """
import sys
from substrate.engine import process
process.CONFIGURATION += sys.argv[1]
from api.cli.program import (main)
main(sys.argv[2:])
"""


async def filled(directory: Path) -> None:
    """A directory whose engine has keys to load, and does not run."""
    engine = EmbeddedEngine(directory)
    await engine.start()
    connection = Connection(f"unix://{engine.socket}", timeout_ms=1000)
    filler = [word for number in range(KEYS) for word in (f"filler:{number}", "x" * 100)]
    await connection.command("MSET", *filler)
    await rewrite(connection)
    await connection.close()
    await engine.stop()


async def release(directory: Path) -> None:
    """Let the engine load the rest at once; returns when it has heard."""
    for _ in range(round(LIMIT_S / PAUSE_S)):
        if await _without_delay(directory):
            return
        await asyncio.sleep(PAUSE_S)
    raise AssertionError("the engine does not hear that it is to load at once")


async def _without_delay(directory: Path) -> bool:
    """Whether the engine has heard that it is to load without a delay."""
    with contextlib.suppress(RedisError, OSError):
        async with Redis(unix_socket_path=str(socket_path(directory)), retry=None, socket_timeout=5) as client:
            await client.execute_command("CONFIG", "SET", "key-load-delay", 0)
            return True
    return False


def command(directory: Path, *words: str, settings: str = SLOW, **options: Any) -> subprocess.Popen[str]:
    """The command line in a process of its own, whose engine has these settings more, if it starts one."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, settings, "--data", str(directory), *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
