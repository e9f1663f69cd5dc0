"""`substrate mcp`: the Model Context Protocol over standard input and output.

Hosts wait only seconds for the first answer, so the modules of the store are imported after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import typer
from anyio import BrokenResourceError

from api import installed_version
from api.cli.program import Command, exit_code, option, print_fault, run_until_stopped
from api.client import AsyncSubstrate
from api.mcp.server import Context, make_server
from api.mcp.stdio import BackgroundStore, SetStatus, standard_streams
from api.mcp.tool import CitizenScope, Tool, single_citizen_scope
from api.mcp.tools import choose_tools, split_names
from schemas.errors import SubstrateError
from schemas.settings import ClientSettings


class McpCommand(Command, name="mcp"):
    """Serve agents over standard input and output, with the engine in the data directory or a service."""

    url: str | None = option(
        "--url",
        "Address of a running service, called with SUBSTRATE_API_KEY. Default: SUBSTRATE_BASE_URL, "
        "else the engine here.",
    )
    citizen: str | None = option(
        "--citizen ID", "The only citizen to serve: no tool then takes another citizen's id."
    )
    tools: str = option(
        "--tools NAMES", "More tools than the usual eight: their names, with commas between them; or all.", ""
    )

    def run(self) -> None:
        owner = CitizenScope() if self.citizen is None else single_citizen_scope(self.citizen, "--citizen")
        chosen, url = choose_tools(split_names(self.tools)), self.url
        if url is None and self.ctx.find_root().obj is None:
            url = import_module("api.cli.support").read_group(ClientSettings).named
        fault = run_until_stopped(_serve(self.ctx, url, owner, chosen))
        if fault is not None:
            raise typer.Exit(exit_code(fault))


async def _serve(
    ctx: typer.Context, url: str | None, owner: CitizenScope, tools: Sequence[Tool]
) -> SubstrateError | None:
    """Serve until stopped. Returns the error, already printed, if the store could not be opened."""

    @asynccontextmanager
    async def open_client(set_status: SetStatus) -> AsyncIterator[AsyncSubstrate]:
        if url is not None:
            async with AsyncSubstrate(url) as client:
                yield client
            return
        support = await asyncio.to_thread(import_module, "api.cli.support")
        await asyncio.to_thread(import_module, "api.app")
        print_loading = support.report_loading()

        def report_loading(loading: Any) -> None:
            set_status(loading.describe())
            print_loading(loading)

        async with AsyncSubstrate.opened(support.read_settings(ctx), report_loading) as client:
            yield client

    store = BackgroundStore(open_client, print_fault)

    async def get_client(context: Context) -> AsyncSubstrate:
        async def report(seconds: float, message: str) -> None:
            await context.session.report_progress(seconds, message=message)

        return await store.client(report)

    async with store.open_in_background():
        server = make_server(get_client, installed_version(), tools, lambda _: owner)
        try:
            async with standard_streams() as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
        except ExceptionGroup as broken:
            task = asyncio.current_task()
            if task is None or not task.cancelling() or broken.split(BrokenResourceError)[1] is not None:
                raise
            # A signal ended it while it still read lines: the streams between broke before they heard of that.
            raise asyncio.CancelledError from broken
    return store.fault
