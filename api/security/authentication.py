"""Authentication: turn a key or a JWT into a principal with its grants. Only the SHA-256 of a key is stored.

A key has 256 random bits, so a fast hash cannot be reversed by guessing, and a slow one would only cost time.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final, NamedTuple, Protocol

from schemas.errors import InvalidRequest, NotFound, SubstrateError, Unauthenticated
from schemas.keys import Grants, KeyChange, KeyInfo, KeyRecord, KeyRequest, NewKey, grants
from schemas.memory import Source
from schemas.temporal import Instant, to_datetime
from substrate.connection.pool import Connection
from substrate.store import api_keys

logger = logging.getLogger(__name__)

KEY_PREFIX: Final = "sk"
FIRST_KEY_ID: Final = "first"
"""The fixed id of the first key of an empty store, so that only one of several services makes it."""
_KEY_SHAPE: Final = re.compile(rf"({KEY_PREFIX}-(?:[0-9a-f]{{12}}|{FIRST_KEY_ID}))-.+")
REMEDY: Final = "Send `Authorization: Bearer KEY`; `substrate keys create` makes one."
LOOKUP_CACHE_SECONDS: Final = 1.0
"""How long a looked-up key is trusted: a revocation takes effect in every process after this time."""
USE_NOTE_SECONDS: Final = 60.0
MOST_KEYS: Final = 10_000
"""Of more keys, only those used within the last minute are remembered."""


class Principal(NamedTuple):
    """The caller. `key_id` appears in the audit log; `highest_source` is the highest source it may claim."""

    key_id: str
    grants: Grants
    highest_source: Source = Source.SYSTEM


OPEN_SERVICE: Final = Principal("open", Grants(admin=True))
"""Every caller of a service that needs no key."""


class TokenReader(Protocol):
    """Reads JWTs."""

    async def principal(self, token: str) -> Principal:
        """The principal in the token.

        Raises Unauthenticated for an invalid token, Unavailable when its signing key cannot be fetched.
        """


def make_key(request: KeyRequest, key_id: str, at: Instant) -> tuple[NewKey, KeyRecord]:
    """A new key: as it is shown once, and its record with the hash, as it is stored."""
    key = f"{KEY_PREFIX}-{key_id}-{secrets.token_urlsafe(32)}"
    shown = NewKey(
        id=key_id,
        name=request.name,
        scopes=request.scopes,
        highest_source=request.highest,
        created_at=to_datetime(at),
        expires_at=request.expires_at,
        key=key,
    )
    return shown, KeyRecord(**shown.model_dump(exclude={"key"}), hash=_digest(key))


async def create_key(connection: Connection, request: KeyRequest, at: Instant) -> NewKey:
    """Make a key and store its hash. Raises InvalidRequest when `expires_at` is in the past."""
    if request.expires_at is not None and request.expires_at <= to_datetime(at):
        raise InvalidRequest("expires_at: lies in the past: such a key is never valid")
    shown, record = make_key(request, secrets.token_hex(6), at)
    if not await api_keys.add(connection, record):
        return await create_key(connection, request, at)
    return shown


async def create_first_key(connection: Connection, at: Instant) -> NewKey | None:
    """Make the administrator's key of a store that never had a key; None if it had one."""
    if await api_keys.count(connection):
        return None
    shown, record = make_key(KeyRequest(name="first administrator", scopes=("admin",)), FIRST_KEY_ID, at)
    return shown if await api_keys.add(connection, record) else None


async def delete_first_key(connection: Connection) -> None:
    """Delete the first key, which could not be shown, so that the next start makes another."""
    await api_keys.remove(connection, FIRST_KEY_ID)


async def revoke_key(connection: Connection, key_id: str, at: Instant) -> KeyInfo:
    """Revoke the key. Raises NotFound for an unknown id."""
    revoked = {"revoked_at": to_datetime(at)}
    return await _change_or_raise(
        connection, key_id, lambda key: key if key.revoked_at is not None else key.model_copy(update=revoked)
    )


async def change_key(connection: Connection, key_id: str, to: KeyChange) -> KeyInfo:
    """Change the highest source that the key may claim. Raises NotFound for an unknown id."""
    return await _change_or_raise(connection, key_id, lambda key: key.model_copy(update=dict(to)))


async def _change_or_raise(
    connection: Connection, key_id: str, update: Callable[[KeyRecord], KeyRecord]
) -> KeyInfo:
    record = await api_keys.change(connection, key_id, update)
    if record is None:
        raise NotFound(f"there is no key {key_id}", remedy="`substrate keys list` shows the ids.")
    return record.info()


class Keyring:
    """Finds the caller of a request. Notes when each key was last used, at most once a minute."""

    def __init__(
        self, connection: Connection, admin_key: str | None = None, tokens: TokenReader | None = None
    ) -> None:
        self._connection = connection
        self._admin_hash = None if admin_key is None else _digest(admin_key)
        self._tokens = tokens
        self._lookups: dict[str, tuple[KeyRecord, float]] = {}
        self._used_at: dict[str, float] = {}
        self._pending_notes: set[asyncio.Task[None]] = set()

    async def principal(self, headers: Mapping[bytes, bytes], at: Instant) -> Principal:
        """The caller, from the headers of the request (names in lower case).

        Raises Unauthenticated without a valid key, Unavailable when the store or the server of the JWT's keys does
        not answer.
        """
        token = token_in(headers)
        if self._admin_hash is not None and hmac.compare_digest(_digest(token), self._admin_hash):
            return Principal("environment", Grants(admin=True))
        kind, _, rest = token.partition("-")
        if kind == KEY_PREFIX and rest.isascii():
            return await self._check_key(token, rest.partition("-")[0], at)
        if self._tokens is not None and token.count(".") == 2:
            return await self._tokens.principal(token)
        raise invalid_key()

    def forget(self, key_id: str) -> None:
        """Look the key up again at its next use: it was changed or revoked here."""
        self._lookups.pop(key_id, None)

    async def close(self) -> None:
        """Wait until the last uses are stored."""
        await asyncio.gather(*self._pending_notes, return_exceptions=True)

    async def _check_key(self, token: str, key_id: str, at: Instant) -> Principal:
        record = await self._record(key_id)
        stored_hash = "" if record is None else record.hash
        if not hmac.compare_digest(_digest(token), stored_hash) or record is None or record.revoked_at is not None:
            raise invalid_key()
        if record.expires_at is not None and record.expires_at <= to_datetime(at):
            raise invalid_key()
        self._note_use(key_id, at)
        return Principal(key_id, grants(record.scopes), record.highest_source)

    async def _record(self, key_id: str) -> KeyRecord | None:
        record, looked_up_at = self._lookups.get(key_id, (None, 0.0))
        moment = time.monotonic()
        if record is None or moment - looked_up_at > LOOKUP_CACHE_SECONDS:
            record = await api_keys.find(self._connection, key_id)
            self.forget(key_id)
            if record is not None:
                self._lookups[key_id] = (record, moment)
        return record

    def _note_use(self, key_id: str, at: Instant) -> None:
        """Store the time of use in the background: no request waits for it."""
        moment = time.monotonic()
        if moment - self._used_at.get(key_id, -USE_NOTE_SECONDS) < USE_NOTE_SECONDS:
            return
        self._used_at[key_id] = moment
        if len(self._used_at) > MOST_KEYS:
            self._used_at = {key: at for key, at in self._used_at.items() if moment - at < USE_NOTE_SECONDS}
            self._lookups = {key: self._lookups[key] for key in self._lookups.keys() & self._used_at.keys()}
        task = asyncio.create_task(api_keys.note_use(self._connection, key_id, to_datetime(at)))
        self._pending_notes.add(task)
        task.add_done_callback(self._was_noted)

    def _was_noted(self, task: asyncio.Task[None]) -> None:
        self._pending_notes.discard(task)
        failure = None if task.cancelled() else task.exception()
        if failure is not None:
            logger.warning("the last use of a key was not stored: %s", failure)


def token_in(headers: Mapping[bytes, bytes]) -> str:
    """The key or token in `Authorization: Bearer` or `X-API-Key`. Raises Unauthenticated when there is none."""
    authorization = headers.get(b"authorization")
    if authorization is not None:
        scheme, _, token = authorization.decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("the scheme of Authorization must be Bearer", remedy=REMEDY)
    else:
        token = headers.get(b"x-api-key", b"").decode("latin-1")
    if not token.strip():
        raise Unauthenticated("there is no key in the request", remedy=REMEDY)
    return token.strip()


def rejected_key_id(headers: Mapping[bytes, bytes]) -> str | None:
    """The id of a refused key, if it has the form of our keys; never the secret part."""
    key = headers.get(b"authorization", headers.get(b"x-api-key", b"")).rpartition(b" ")[2]
    match = _KEY_SHAPE.fullmatch(key.decode("latin-1"))
    return None if match is None else match[1]


def invalid_key() -> Unauthenticated:
    """The same error for every invalid key: a caller must not learn why it is invalid."""
    return Unauthenticated("the key is not valid here: unknown, expired or revoked", remedy=REMEDY)


def challenge_headers(error: SubstrateError, headers: Mapping[bytes, bytes]) -> dict[str, str]:
    """The header of a 401 (RFC 6750), with `invalid_token` when a key was sent; none for other errors."""
    if not isinstance(error, Unauthenticated):
        return {}
    sent = b"authorization" in headers or b"x-api-key" in headers
    return {"WWW-Authenticate": 'Bearer realm="substrate"' + (', error="invalid_token"' if sent else "")}


def _digest(key: str) -> str:
    return sha256(key.encode()).hexdigest()


type ShowKey = Callable[[NewKey], None]
"""Shows the first key to the person who started the service."""
