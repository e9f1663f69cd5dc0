"""`substrate serve`: the REST API until it is stopped."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer
import uvicorn
from rich.text import Text
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.asgi.connections import connection_class, process_connections
from api.asgi.messages import is_loopback
from api.cli import support
from api.cli.program import EXIT_FAULT, exit_code, print_fault
from api.cli.workers import Workers
from api.service import create_service
from api.telemetry import logs
from schemas.errors import InvalidRequest, SubstrateError, Unavailable
from schemas.keys import NewKey
from schemas.settings import Settings
from substrate.engine.data_directory import write_private

LOG_LEVELS: Final = ("critical", "error", "warning", "info", "debug", "trace")
GRACE_SECONDS: Final = 10

app = typer.Typer(add_completion=False)


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


@app.command()
def serve(
    ctx: typer.Context,
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: loopback.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port. Default: 8000.")] = None,
    opened: Annotated[
        bool, typer.Option("--open", help="Let everybody on this machine in without a key; loopback only.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes that answer, for more than two cores. Default: 1.")
    ] = None,
) -> None:
    """Serve the REST API until it is stopped (Ctrl-C). Its documentation is at /docs.

    Every request needs a key. For a store without keys an administrator's key is made: on a terminal it is shown
    once, otherwise it is written to a file in the data directory.
    """
    settings = support.read_settings(ctx)
    settings = replace(settings, auth=settings.auth.model_copy(update={"open": opened or settings.auth.open}))
    address = (host or settings.server.host, port or settings.server.port)
    if settings.auth.open and not is_loopback(address[0]):
        raise InvalidRequest(
            f"--open is for this machine alone, and {address[0]} can be reached from others",
            remedy="Leave --open out, or listen on 127.0.0.1.",
        )
    level = _log_level(settings)
    logs.configure_logging(level)
    with _listening(*address) as listener:
        _announce(settings, *address)
        count = workers or settings.server.workers
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
    console = support.messages()
    shown = f"[{host}]" if ":" in host else host
    store = "a FalkorDB server" if settings.store.server_url() else f"the engine in {settings.store.data}"
    console.print(Text(f"Substrate at http://{shown}:{port}/docs, with {store}. Ctrl-C stops it."), soft_wrap=True)
    if settings.auth.open:
        console.print(Text("warning: open to everybody on this machine, without a key.", "bold yellow"))
    if not is_loopback(host):
        console.print(
            Text(
                f"warning: {host} can be reached from other machines, and keys and memories travel unencrypted: "
                "put a proxy with TLS in front of it.",
                "bold yellow",
            ),
            soft_wrap=True,
        )


def _log_level(settings: Settings) -> str:
    level = settings.server.log_level.lower()
    if level not in LOG_LEVELS:
        raise InvalidRequest(
            f"SUBSTRATE_LOG_LEVEL: there is no level {level!r}", remedy=f"Choose one of {', '.join(LOG_LEVELS)}."
        )
    return level


def _show_first_key(first: NewKey, directory: Path) -> None:
    """Print the key on a terminal, else write it to a private file in the directory. It never enters a log.

    Raises InvalidRequest when the file cannot be written.
    """
    console = support.messages()
    if sys.stderr.isatty():
        console.print(Text("The administrator's key, which is not shown again:", "bold"), soft_wrap=True)
        console.print(Text(f"  {first.key}", "bold green"), soft_wrap=True)
    else:
        console.print(
            Text(f"The administrator's key is in {_write_first_key(first.key, directory)}: move it from there."),
            soft_wrap=True,
        )
    console.print(Text("Send it as `Authorization: Bearer KEY`; `substrate keys` makes others."), soft_wrap=True)


def _write_first_key(key: str, directory: Path) -> Path:
    file = directory.expanduser().absolute() / "first-administrator.key"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(file, f"{key}\n")
    except OSError as error:
        raise InvalidRequest(
            f"the first key cannot be written to {file}: {error.strerror}",
            remedy="Set SUBSTRATE_DATA to a directory that can be written, or SUBSTRATE_ADMIN_KEY to a key.",
        ) from error
    return file
