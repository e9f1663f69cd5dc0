"""Keys: make one, list them, change what one may claim, revoke one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from api.dependencies import Now, Opened
from api.request_parsing.strict_json import StrictRoute
from api.runtime.runtime import keep_revocations
from api.security import authentication
from api.security.middleware import keyring_of
from api.security.permissions import ADMIN, needs
from schemas.keys import KeyChange, KeyInfo, KeyList, KeyRequest, NewKey
from substrate.store import api_keys

router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=StrictRoute)

KeyId = Annotated[str, Path(pattern=r"^[a-z0-9]{1,32}$", examples=["4f1e2d3c5b6a"])]


@router.post("", status_code=201, operation_id="create_key")
@needs(ADMIN)
async def create(request: KeyRequest, runtime: Opened, now: Now) -> NewKey:
    """Make a key. It is shown this once; only its hash is kept."""
    return await authentication.create(runtime.deps.connection, request, now)


@router.get("", operation_id="list_keys")
@needs(ADMIN)
async def listed(runtime: Opened) -> KeyList:
    """All keys, oldest first, those revoked or expired included."""
    return KeyList(keys=tuple(await api_keys.listed(runtime.deps.connection)))


@router.patch("/{key_id}", operation_id="change_key")
@needs(ADMIN)
async def change(key_id: KeyId, request: KeyChange, http: Request, runtime: Opened) -> KeyInfo:
    """Raise or lower the highest source that the key may claim: here at once, elsewhere within a second.

    What it wrote before keeps the source that it had.
    """
    changed = await authentication.change(runtime.deps.connection, key_id, request)
    keyring_of(http.scope).forget(key_id)
    return changed


@router.delete("/{key_id}", operation_id="revoke_key")
@needs(ADMIN)
async def revoke(key_id: KeyId, http: Request, runtime: Opened, now: Now) -> KeyInfo:
    """The key counts no longer: here at once, in other processes of the service within a second."""
    revoked = await authentication.revoke(runtime.deps.connection, key_id, now)
    keyring_of(http.scope).forget(key_id)
    await keep_revocations(runtime.deps.connection, runtime.engine)
    return revoked
