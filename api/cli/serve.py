"""`substrate serve`: the REST API until it is stopped."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from multiprocessing import connection as waiting
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import Any, Final

import typer
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.asgi.connections import connection_class, process_connections
from api.asgi.messages import is_loopback
from api.cli import support
from api.cli.program import EXIT_FAULT, Command, exit_code, option, print_fault
from api.service import create_service
from api.telemetry import logs
from schemas.errors import InvalidRequest, SubstrateError, Unavailable
from schemas.keys import NewKey
from schemas.settings import Settings
from substrate.engine.data_directory import write_private

logger = logging.getLogger(__name__)

LOG_LEVELS: Final = ("critical", "error", "warning", "info", "debug", "trace")
GRACE_SECONDS: Final = 10
POLL_S: Final = 0.2
REPLACE_AFTER_S: Final = 1.0
"""A worker is replaced at the earliest so long after it began, so that one that dies at once costs little."""

type Serve = Callable[..., int]
"""Called in each worker with its number, from 0, and the given values; returns the exit code of the worker."""


class FailureRecorder:
    """Wraps the application and records the error that stopped its start, for the command line to print."""

    server: uvicorn.Server

    def __init__(self, inner: ASGIApp) -> None:
        self.inner = inner
        self.failure: SubstrateError | None = None

    def fail(self, error: SubstrateError) -> None:
        """Record why the store cannot be opened, and stop the server."""
        self.failure = error
        self.server.should_exit = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application; if its start fails, drop the traceback."""
        if scope["type"] != "lifespan":
            await self.inner(scope, receive, send)
            return

        async def send_without_traceback(message: Message) -> None:
            await send({**message, "message": ""} if "message" in message else message)

        try:
            await self.inner(scope, receive, send_without_traceback)
        except SubstrateError as error:
            self.failure = error
            raise


class _Server(uvicorn.Server):
    """A server that reads no more files once it is told to stop: they may take longer than its grace."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.config.app.inner.state.readers.stop()  # type: ignore[union-attr]  # a FailureRecorder of the service


class ServeCommand(Command, name="serve"):
    """Serve the REST API until it is stopped (Ctrl-C). Its documentation is at /docs.

    Every request needs a key. For a store without keys an administrator's key is made: on a terminal it is shown
    once, otherwise it is written to a file in the data directory.
    """

    host: str | None = option("--host", "Address to listen on. Default: loopback.")
    port: int | None = option("--port", "Port. Default: 8000.", min=1, max=65535)
    opened: bool = option("--open", "Let everybody on this machine in without a key; loopback only.", False)
    workers: int | None = option(
        "--workers", "Processes that answer, for more than two cores. Default: 1.", min=1, max=64
    )

    def run(self) -> None:
        settings = support.read_settings(self.ctx)
        is_open = self.opened or settings.auth.open
        settings = replace(settings, auth=settings.auth.model_copy(update={"open": is_open}))
        host, port = self.host or settings.server.host, self.port or settings.server.port
        if is_open and not is_loopback(host):
            raise InvalidRequest(
                f"--open is for this machine alone, and {host} can be reached from others",
                remedy="Leave --open out, or listen on 127.0.0.1.",
            )
        level = settings.server.log_level.lower()
        if level not in LOG_LEVELS:
            raise InvalidRequest(
                f"SUBSTRATE_LOG_LEVEL: there is no level {level!r}",
                remedy=f"Choose one of {', '.join(LOG_LEVELS)}.",
            )
        logs.configure_logging(level)
        with _listening(host, port) as listener:
            _announce(settings, host, port)
            count = self.workers or settings.server.workers
            if count == 1:
                _serve(settings, listener, level)
                return
            code = Workers(count, serve_worker, settings, listener, level).run()
            if code:
                raise typer.Exit(code)


def serve_worker(number: int, settings: Settings, listener: socket.socket, level: str) -> int:
    """Serve in a process of its own; returns its exit code. The first one shows the first key and does upkeep."""
    logs.configure_logging(level)
    if number > 0:
        settings = replace(settings, upkeep=settings.upkeep.model_copy(update={"upkeep": "off"}))
    try:
        _serve(settings, listener, level, shows_key=number == 0)
    except SubstrateError as error:
        print_fault(error)
        return exit_code(error)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _serve(settings: Settings, listener: socket.socket, level: str, *, shows_key: bool = True) -> None:
    """Serve until this process is stopped. Raises the error that keeps the store closed."""
    show = partial(_show_first_key, directory=settings.store.data) if shows_key else None
    recorder = FailureRecorder(create_service(settings, show, lambda error: recorder.fail(error)))
    config = uvicorn.Config(
        recorder,
        loop="uvloop",
        lifespan="on",
        ws="none",
        http=connection_class(process_connections()),
        proxy_headers=bool(settings.server.trusted_proxies),
        forwarded_allow_ips=settings.server.trusted_proxies,
        access_log=False,  # the audit log tells more, and repeats nothing that the caller sent
        server_header=False,
        log_config=None,
        log_level=level,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    recorder.server = _Server(config)
    try:
        recorder.server.run(sockets=[listener])
    except KeyboardInterrupt:
        return  # uvicorn has shut down properly, and raises the signal again
    except SystemExit as end:
        raise recorder.failure or typer.Exit(EXIT_FAULT) from end
    if recorder.failure is not None:
        raise recorder.failure


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise Unavailable(
            f"cannot listen on {host} port {port}: {reason}",
            remedy="Choose another --host or --port, or stop what listens there.",
        ) from error


def _announce(settings: Settings, host: str, port: int) -> None:
    page = support.messages()
    shown = f"[{host}]" if ":" in host else host
    store = "a FalkorDB server" if settings.store.server_url() else f"the engine in {settings.store.data}"
    page.say(f"Substrate at http://{shown}:{port}/docs, with {store}. Ctrl-C stops it.")
    if settings.auth.open:
        page.fold("warning: open to everybody on this machine, without a key.", "bold yellow")
    if not is_loopback(host):
        page.say(
            f"warning: {host} can be reached from other machines, and keys and memories travel unencrypted: "
            "put a proxy with TLS in front of it.",
            "bold yellow",
        )


def _show_first_key(first: NewKey, directory: Path) -> None:
    """Print the key on a terminal, else write it to a private file in the directory. It never enters a log.

    Raises InvalidRequest when the file cannot be written.
    """
    page = support.messages()
    if sys.stderr.isatty():
        page.say("The administrator's key, which is not shown again:", "bold")
        page.say(f"  {first.key}", "bold green")
    else:
        file = directory.expanduser().absolute() / "first-administrator.key"
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(file, f"{first.key}\n")
        except OSError as error:
            raise InvalidRequest(
                f"the first key cannot be written to {file}: {error.strerror}",
                remedy="Set SUBSTRATE_DATA to a directory that can be written, or SUBSTRATE_ADMIN_KEY to a key.",
            ) from error
        page.say(f"The administrator's key is in {file}: move it from there.")
    page.say("Send it as `Authorization: Bearer KEY`; `substrate keys` makes others.")


class Workers:
    """`count` processes that serve one address: started together, replaced when one dies, ended together.

    The parent listens and serves nothing itself; each worker is a whole service with a connection of its own to
    the store: it calls `serve` with its `values`, which are sent to it and must be picklable. One that cannot
    serve ends all, with the error that it printed: another one would fail in the same way. When the parent is
    killed, its workers end by themselves.
    """

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
