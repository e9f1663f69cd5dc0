"""`substrate keys`: make, list, change and revoke keys of the service, for anyone who can open the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import orjson
import typer
from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import argument, option
from api.runtime.runtime import keep_revocations, open_store
from api.security import authentication
from schemas.keys import KeyChange, KeyInfo, KeyRequest, NewKey
from schemas.temporal import to_datetime
from substrate.connection.pool import Connection
from substrate.store import api_keys

KEY_ID: Final = argument("ID", "The id of the key, as `keys list` shows it.")


class _KeysCommand(options.StoreCommand):
    also_called = ("expires_at", "--days")

    def in_store[T](self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """What the work returns; what it revoked is kept before the store is closed."""

        async def open_and_work() -> T:
            async with open_store(self.settings.store, support.report_loading()) as (connection, engine):
                result = await work(connection)
                await keep_revocations(connection, engine)
                return result

        return support.run(open_and_work())


class _Create(_KeysCommand, name="keys create"):
    """Make a key. It is shown only once; only its hash is stored."""

    name: str = argument("NAME", "Whom the key is for.")
    scopes: list[str] | None = option(
        "--scope SCOPE",
        "citizen:<ID>:read|write|erase, N2:read|write, N3:read|write, upkeep or admin; * stands for each. "
        "Give it several times for several.",
    )
    highest_source: str | None = option(
        "--source SOURCE",
        "The highest source that it may claim: system, citizen, tool, ingestion or upkeep. Default: "
        "system with the scope admin, else citizen.",
    )
    days: int | None = option("--days", "Days until it expires. Default: never.", min=1, max=36500)
    as_json: bool = options.AS_JSON

    def run(self) -> None:
        scopes = self.scopes or []
        self.request(KeyRequest, scopes=scopes)

        async def create(connection: Connection) -> NewKey:
            at = await connection.now()
            until = None if self.days is None else to_datetime(at) + timedelta(days=self.days)
            request = self.request(KeyRequest, scopes=scopes, expires_at=until)
            return await authentication.create_key(connection, request, at)

        made = self.in_store(create)
        if self.as_json:
            support.write_json(made.model_dump_json())
            return
        named = f"Key {made.id} for {formatting.to_line(made.name)}. It is not shown again:"
        support.messages().print(named, soft_wrap=True)
        typer.echo(made.key)


class _List(_KeysCommand, name="keys list"):
    """Show all keys, oldest first, including revoked and expired ones."""

    as_json: bool = options.AS_JSON

    def run(self) -> None:
        keys = self.in_store(api_keys.list_keys)
        if self.as_json:
            support.write_json(orjson.dumps([key.model_dump(mode="json") for key in keys]).decode())
            return
        titles = ("id", "name", "scopes", "at most", "made", "valid until", "last used")
        table = Table(*titles, box=None, pad_edge=False)
        for key in keys:
            until = formatting.format_time(key.expires_at) if key.expires_at else "no end"
            if key.revoked_at is not None:
                until = f"revoked {formatting.format_time(key.revoked_at)}"
            used = formatting.format_time(key.last_used_at) if key.last_used_at else "never"
            made, name = formatting.format_time(key.created_at), formatting.to_line(key.name)
            cells = (key.id, name, " ".join(key.scopes), key.highest_source, made, until, used)
            table.add_row(*map(Text, cells))
        support.output().print(table if keys else "There is no key yet: `substrate keys create` makes one.")


class _Change(_KeysCommand, name="keys change"):
    """Change the highest source that a key may claim; it takes effect within a second."""

    key_id: str = KEY_ID
    highest_source: str = option("--source SOURCE", "The highest source that it may claim from now on.", ...)

    def run(self) -> None:
        change = self.request(KeyChange)
        changed = self.in_store(lambda connection: authentication.change_key(connection, self.key_id, change))
        name, source = formatting.to_line(changed.name), changed.highest_source
        typer.echo(f"Key {changed.id} for {name} claims at most {source}.")


class _Revoke(_KeysCommand, name="keys revoke"):
    """Revoke a key; a running service refuses it within a second."""

    key_id: str = KEY_ID

    def run(self) -> None:
        async def revoke(connection: Connection) -> KeyInfo:
            return await authentication.revoke_key(connection, self.key_id, await connection.now())

        revoked = self.in_store(revoke)
        typer.echo(f"Key {revoked.id} for {formatting.to_line(revoked.name)} is revoked.")
