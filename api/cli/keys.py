"""`substrate keys`: make, list, change and revoke keys of the service, for anyone who can open the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, Final

import orjson
import typer
from rich.table import Table
from rich.text import Text

from api.cli import formatting, support
from api.runtime.runtime import keep_revocations, open_store
from api.security import authentication
from schemas.keys import KeyChange, KeyInfo, KeyRequest, NewKey
from schemas.settings import StoreSettings
from schemas.temporal import to_datetime
from substrate.connection.pool import Connection
from substrate.store import api_keys

OPTIONS: Final = {"name": "NAME", "scopes": "--scope", "highest_source": "--source", "expires_at": "--days"}

app = typer.Typer(add_completion=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whom the key is for.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE",
            help="citizen:<ID>:read|write|erase, N2:read|write, N3:read|write, upkeep or admin; "
            "* stands for each. Give it several times for several.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="The highest source that it may claim: system, citizen, tool, ingestion or upkeep. Default: "
            "system with the scope admin, else citizen.",
        ),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=36500, help="Days until it expires. Default: never.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. It is shown only once; only its hash is stored."""

    async def create(connection: Connection) -> NewKey:
        at = await connection.now()
        until = None if days is None else to_datetime(at) + timedelta(days=days)
        request = support.validate(KeyRequest, {**fields, "expires_at": until}, OPTIONS)
        return await authentication.create_key(connection, request, at)

    fields = {"name": name, "scopes": scope or [], "highest_source": source}
    support.validate(KeyRequest, fields, OPTIONS)
    made = _with_store(ctx, create)
    if as_json:
        support.write_json(made.model_dump_json())
        return
    support.messages().print(
        f"Key {made.id} for {formatting.to_line(made.name)}. It is not shown again:", soft_wrap=True
    )
    typer.echo(made.key)


@app.command("list")
def listed(ctx: typer.Context, *, as_json: AsJson = False) -> None:
    """Show all keys, oldest first, including revoked and expired ones."""
    keys = _with_store(ctx, api_keys.list_keys)
    if as_json:
        support.write_json(orjson.dumps([key.model_dump(mode="json") for key in keys]).decode())
        return
    table = Table("id", "name", "scopes", "at most", "made", "valid until", "last used", box=None, pad_edge=False)
    for key in keys:
        table.add_row(*map(Text, _cells(key)))
    support.output().print(table if keys else "There is no key yet: `substrate keys create` makes one.")


@app.command()
def change(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the key, as `keys list` shows it.")],
    *,
    source: Annotated[
        str, typer.Option(metavar="SOURCE", help="The highest source that it may claim from now on.")
    ],
) -> None:
    """Change the highest source that a key may claim; it takes effect within a second."""
    change = support.validate(KeyChange, {"highest_source": source}, OPTIONS)

    async def change_now(connection: Connection) -> KeyInfo:
        return await authentication.change_key(connection, key_id, change)

    changed = _with_store(ctx, change_now)
    typer.echo(f"Key {changed.id} for {formatting.to_line(changed.name)} claims at most {changed.highest_source}.")


@app.command()
def revoke(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The id of the key, as `keys list` shows it.")],
) -> None:
    """Revoke a key; a running service refuses it within a second."""

    async def revoke_now(connection: Connection) -> KeyInfo:
        return await authentication.revoke_key(connection, key_id, await connection.now())

    revoked = _with_store(ctx, revoke_now)
    typer.echo(f"Key {revoked.id} for {formatting.to_line(revoked.name)} is revoked.")


def _cells(key: KeyInfo) -> tuple[str, ...]:
    until = formatting.format_time(key.expires_at) if key.expires_at else "no end"
    if key.revoked_at is not None:
        until = f"revoked {formatting.format_time(key.revoked_at)}"
    used = formatting.format_time(key.last_used_at) if key.last_used_at else "never"
    name = formatting.to_line(key.name)
    return (
        key.id,
        name,
        " ".join(key.scopes),
        key.highest_source,
        formatting.format_time(key.created_at),
        until,
        used,
    )


def _with_store[T](ctx: typer.Context, work: Callable[[Connection], Awaitable[T]]) -> T:
    async def open_and_work(store: StoreSettings) -> T:
        async with open_store(store, support.report_loading()) as (connection, engine):
            result = await work(connection)
            await keep_revocations(connection, engine)
            return result

    return support.run(open_and_work(support.read_settings(ctx).store))
