"""Keys: make, list, change and revoke them."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Path, Request

from api.dependencies import Now, OpenRuntime
from api.runtime.runtime import keep_revocations
from api.security import authentication
from api.security.middleware import get_keyring
from schemas.keys import KeyChange, KeyInfo, KeyList, KeyRequest, NewKey
from schemas.operation import ADMIN, Method, Operation, group
from substrate.store import api_keys

KeyId = Annotated[str, Path(pattern=r"^[a-z0-9]{1,32}$", examples=["4f1e2d3c5b6a"])]


async def create(request: KeyRequest, runtime: OpenRuntime, now: Now) -> NewKey:
    """Make a key. It is shown only once; only its hash is stored."""
    return await authentication.create_key(runtime.deps.connection, request, now)


async def list_keys(runtime: OpenRuntime) -> KeyList:
    """All keys, oldest first, including revoked and expired ones."""
    return KeyList(keys=tuple(await api_keys.list_keys(runtime.deps.connection)))


async def change(key_id: KeyId, request: KeyChange, http: Request, runtime: OpenRuntime) -> KeyInfo:
    """Change the highest source that the key may claim: here at once, in other processes within a second.

    Records that it wrote before keep their source.
    """
    changed = await authentication.change_key(runtime.deps.connection, key_id, request)
    get_keyring(http.scope).forget(key_id)
    await keep_revocations(runtime.deps.connection, runtime.engine)
    return changed


async def revoke(key_id: KeyId, http: Request, runtime: OpenRuntime, now: Now) -> KeyInfo:
    """Revoke the key: here at once, in other processes of the service within a second."""
    revoked = await authentication.revoke_key(runtime.deps.connection, key_id, now)
    get_keyring(http.scope).forget(key_id)
    await keep_revocations(runtime.deps.connection, runtime.engine)
    return revoked


OPERATIONS: Final = group(
    "keys",
    Operation("create_key", "POST /v1/keys", "Make a key", ADMIN, create, status=201,
              call=Method(says="Make a key. It is shown only once.", once=True)),
    Operation("list_keys", "GET /v1/keys", "List keys", ADMIN, list_keys),
    Operation("change_key", "PATCH /v1/keys/{key_id}", "Change what a key may claim", ADMIN, change,
              call=Method(says="Change the highest source that the key may claim.")),
    Operation("revoke_key", "DELETE /v1/keys/{key_id}", "Revoke a key", ADMIN, revoke,
              call=Method(says="Revoke the key: it is refused from now on.")),
)  # fmt: skip
