"""The gate before every route: who calls, how often, with which id; and what each answer must carry.

It answers before a body is read: whoever has no key sends none in vain.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable
from typing import Final
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.asgi.disconnects import CLIENT_CLOSED_REQUEST
from api.asgi.messages import (
    ResponseHeaders,
    check_origin,
    client_address,
    is_loopback,
    is_public,
    rate_limit_address,
    without_body,
)
from api.problems import error_response, http_error_response
from api.runtime.opening import StoreHolder
from api.runtime.runtime import now
from api.security.authentication import OPEN_SERVICE, Keyring, challenge_headers, rejected_key_id
from api.security.permissions import Caller
from api.security.rate_limits import RateLimits, request_cost
from api.telemetry import logs, metrics
from schemas.errors import Forbidden, Incorrect, SubstrateError, Unauthenticated
from substrate.connection.turns import ASKER, NOBODY, Asker

_CONTENT_SECURITY_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page of ours may bring in: files of ours alone."""
_SECURITY_HEADERS: Final = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class SecurityMiddleware:
    """Middleware. The application's state has the keyring once the store is open; `rates` counts requests.

    Pages of `origins` may call, beside our own.
    """

    def __init__(self, app: ASGIApp, rates: RateLimits, origins: Collection[str] = (), *, opened: bool) -> None:
        self.app = app
        self.rates = rates
        self.origins = origins
        self.opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through with its caller, or answer it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "there is no WebSocket here"})
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        else:
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        headers = dict(scope["headers"])
        request_id = _request_id(headers.get(b"x-request-id", b""))
        scope.setdefault("state", {})
        scope["state"].update(request_id=request_id, caller=None)
        answered = ResponseHeaders(send, {"X-Request-Id": request_id, **_fixed_headers(scope["path"])})
        token = logs.REQUEST_STATE.set(scope["state"])
        asker = ASKER.set(NOBODY)
        try:
            with metrics.in_flight():
                refusal = await self._refusal(scope, headers, answered)
                heard = without_body(receive) if is_public(scope["path"]) else receive
                await (refusal or self.app)(scope, heard, answered)
        finally:
            seconds = time.perf_counter() - begun
            status = CLIENT_CLOSED_REQUEST if scope["state"].get("left") else answered.status
            metrics.record_request(scope["method"], logs.route_template(scope), status, seconds)
            if not is_public(scope["path"]):
                logs.log_request(scope, status, seconds * 1000)
            ASKER.reset(asker)
            logs.REQUEST_STATE.reset(token)

    async def _refusal(
        self, scope: Scope, headers: dict[bytes, bytes], answered: ResponseHeaders
    ) -> Response | None:
        """The answer to a request that may not pass; to one that may, None, and its caller in the state."""
        if is_target_too_long(scope):
            words = f"an address has at most {MAX_TARGET_BYTES:,} bytes; send what is long in a body"
            return http_error_response(414, scope["path"], words)
        try:
            check_duplicate_headers(scope["headers"])
        except SubstrateError as error:
            return error_response(error, scope["path"], {"Connection": "close"})
        try:
            if not is_public(scope["path"]):
                check_origin(scope["headers"], self.origins)
            if self.opened:
                self._open_to(scope, headers)
            elif not is_public(scope["path"]):
                answered.headers |= await self._let_in(scope, headers)
        except Unauthenticated as error:
            return await self._unknown(error, scope, headers)
        except SubstrateError as error:
            return error_response(error, scope["path"])
        return None

    async def _let_in(self, scope: Scope, headers: dict[bytes, bytes]) -> dict[str, str]:
        """Look at the key; what is left of its rate, as headers."""
        principal = await get_keyring(scope).principal(headers, now())
        scope["state"]["caller"] = Caller(principal)
        ASKER.set(Asker(principal.key_id))
        return await self.rates.count(principal.key_id, request_cost(scope["method"], scope["path"]))

    async def _unknown(self, error: Unauthenticated, scope: Scope, headers: dict[bytes, bytes]) -> Response:
        """401; 429 when the address sent too many wrong keys. A good one is let in all the same."""
        if has_key_header(headers):
            scope["state"]["tried"] = rejected_key_id(headers)
            try:
                await self.rates.count_wrong(rate_limit_address(client_address(scope)))
            except SubstrateError as limited:
                return error_response(limited, scope["path"])
        return error_response(error, scope["path"], challenge_headers(error, headers))

    def _open_to(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """All on this machine; but no page of the web that has its own name point here (DNS rebinding)."""
        host = headers.get(b"host", b"localhost").decode("latin-1")
        if not is_loopback(re.sub(r":\d*$", "", host)):
            raise Forbidden("an open service answers on a loopback address alone", remedy="Call localhost.")
        scope["state"]["caller"] = Caller(OPEN_SERVICE)
        if not is_public(scope["path"]):
            _get_store(scope).check()


def get_keyring(scope: Scope) -> Keyring:
    """The keyring of the open store. Raises Unavailable while it is not open."""
    return _get_store(scope).store()[1]


def _get_store(scope: Scope) -> StoreHolder[Keyring]:
    """What holds the store of the application open."""
    opening: StoreHolder[Keyring] = scope["app"].state.opening
    return opening


async def find_caller(request: Request) -> Caller | None:
    """The caller of a public route: None without a key, and with one that does not count."""
    scope = request.scope
    headers = dict(scope["headers"])
    caller: Caller | None = scope["state"]["caller"]
    if caller is not None or not has_key_header(headers):
        return caller
    try:
        check_duplicate_headers(scope["headers"])
        return Caller(await get_keyring(scope).principal(headers, now()))
    except SubstrateError:
        return None


def _fixed_headers(path: str) -> dict[str, str]:
    """What an answer has for its address; what it says of memories no cache keeps, unless the route allows it.

    What is public is asked for again by its ETag, so that no page of one version runs scripts of another.
    """
    if is_public(path):
        return {**_SECURITY_HEADERS, "Cache-Control": "no-cache"}
    return {**_SECURITY_HEADERS, "Cache-Control": "no-store", "Vary": "Authorization, X-API-Key"}


def _request_id(said: bytes) -> str:
    return said.decode() if _REQUEST_ID.fullmatch(said) else uuid4().hex


MAX_TARGET_BYTES: Final = 16_384
"""Bytes of a path and its query; a cursor has 8,000, an id 200."""
_KEY_HEADERS: Final = frozenset((b"authorization", b"x-api-key"))
_LENGTH_HEADERS: Final = frozenset((b"content-length", b"transfer-encoding"))


def check_duplicate_headers(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raises Incorrect unless there is at most one key and one length of the body."""
    names = [name for name, _ in headers]
    if sum(name in _KEY_HEADERS for name in names) > 1:
        raise Incorrect("a request has one key", remedy="Send Authorization or X-API-Key, once.")
    if sum(name in _LENGTH_HEADERS for name in names) > 1:
        raise Incorrect("a body has one length", remedy="Send Content-Length or Transfer-Encoding, once.")


def is_target_too_long(scope: Scope) -> bool:
    """Whether the address of a request has more than `LONGEST_TARGET` bytes."""
    return len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > MAX_TARGET_BYTES


def has_key_header(headers: Iterable[bytes]) -> bool:
    """Whether a key is among these headers, good or not."""
    return not _KEY_HEADERS.isdisjoint(headers)
