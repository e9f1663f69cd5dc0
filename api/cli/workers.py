"""Several processes that serve one address: started together, replaced when one dies, ended together.

The parent listens and serves nothing itself; each worker is a whole service with a connection of its own to the
store. A worker that cannot serve ends all, with the error that it printed: another one would fail in the same way.
When the parent is killed, its workers end by themselves.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing import connection as waiting
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any, Final

logger = logging.getLogger(__name__)

POLL_S: Final = 0.2
REPLACE_AFTER_S: Final = 1.0
"""A worker is replaced at the earliest so long after it began, so that one that dies at once costs little."""

type Serve = Callable[..., int]
"""Called in each worker with its number, from 0, and the given values; returns the exit code of the worker."""


class Workers:
    """`count` processes, each of which calls `serve`; `values` are sent to them and must be picklable."""

    def __init__(self, count: int, serve: Serve, *values: Any) -> None:
        self._count = count
        self._serve = serve
        self._values = values
        self._processes: dict[int, SpawnProcess] = {}
        self._begun: dict[int, float] = {}
        self._stopping = False

    def run(self) -> int:
        """Run until SIGINT or SIGTERM; returns the exit code, which is not 0 when a worker could not serve."""
        for sign in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sign, self._stop)
        code = 0
        for number in range(self._count):
            self._start(number)
        while not self._stopping:
            waiting.wait([process.sentinel for process in self._processes.values() if process.is_alive()], POLL_S)
            code = self._replace_dead()
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join()
        return code

    def _stop(self, sign: int, frame: FrameType | None) -> None:
        self._stopping = True

    def _start(self, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_work, args=(self._serve, number, *self._values))
        process.start()
        self._processes[number] = process
        self._begun[number] = time.monotonic()

    def _replace_dead(self) -> int:
        """Start anew what was killed; returns the exit code of a worker that could not serve, else 0."""
        for number, process in list(self._processes.items()):
            if self._stopping or process.is_alive():
                continue
            if process.exitcode is not None and process.exitcode > 0:
                self._stopping = True
                return process.exitcode
            if time.monotonic() > self._begun[number] + REPLACE_AFTER_S:
                logger.warning("worker %d ended (%s); it is replaced", process.pid, process.exitcode)
                self._start(number)
        return 0


def _work(serve: Serve, number: int, *values: Any) -> None:
    """The whole life of a worker. Until it serves, Ctrl-C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    raise SystemExit(serve(number, *values))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        waiting.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
