"""`substrate mcp`: the Model Context Protocol over standard input and output."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Annotated

import typer
from mcp.server.stdio import stdio_server

from api.app import installed_version
from api.cli import edge
from api.client import AsyncSubstrate
from api.mcp.server import make_server

app = typer.Typer(add_completion=False)


@app.command()
def mcp(
    ctx: typer.Context,
    *,
    url: Annotated[
        str | None,
        typer.Option(
            help="A running service to ask, with the key of SUBSTRATE_API_KEY; unless told, the engine here."
        ),
    ] = None,
) -> None:
    """Serve agents over standard input and output, with the engine in the data directory or a service."""
    if url is not None:
        edge.run(_serve(AsyncSubstrate(url)))
        return
    settings = edge.settings_of(ctx)
    edge.run(_serve(AsyncSubstrate.opened(settings)))


async def _serve(opening: AbstractAsyncContextManager[AsyncSubstrate]) -> None:
    async with opening as client:
        server = make_server(lambda _: client, installed_version())
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
