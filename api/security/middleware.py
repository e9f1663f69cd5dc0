"""The middleware before every route: it authenticates the caller, limits its rate, and sets response headers.

It refuses a request before its body is read.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
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
    replay,
)
from api.problems import error_response, http_error_response
from api.runtime.idle_upkeep import Traffic
from api.runtime.opening import StoreHolder
from api.runtime.runtime import now
from api.security.authentication import OPEN_SERVICE, Keyring, challenge_headers, rejected_key_id
from api.security.permissions import Caller
from api.security.rate_limits import RateLimits, request_cost
from api.telemetry import logs, metrics
from schemas.errors import Forbidden, Incorrect, SubstrateError, Unauthenticated
from substrate.connection.turns import NO_TENANT, TENANT, Tenant

_SECURITY_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_INLINE_STYLES: Final = {
    **_SECURITY_HEADERS,
    "Content-Security-Policy": f"{_SECURITY_HEADERS['Content-Security-Policy']}; style-src 'self' 'unsafe-inline'",
}
"""The page of the API alone has styles in its markup: its library writes them."""
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class SecurityMiddleware:
    """Finds the caller of each request, or refuses it. The keyring is in the open store of the application.

    `rates` counts requests. Web pages of `origins` may call, besides our own. With `open_to_all` no key is needed.
    """

    def __init__(
        self, app: ASGIApp, rates: RateLimits, origins: Collection[str] = (), *, open_to_all: bool
    ) -> None:
        self.app = app
        self.rates = rates
        self.origins = origins
        self.open_to_all = open_to_all

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "there is no WebSocket here"})
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        else:
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})
        scope["state"].update(request_id=request_id, caller=None)
        response = ResponseHeaders(send, {"X-Request-Id": request_id, **_fixed_headers(scope["path"])})
        token = logs.REQUEST_STATE.set(scope["state"])
        tenant = TENANT.set(NO_TENANT)
        try:
            with metrics.in_flight(), _counted(scope):
                refusal = await self._refusal(scope, headers, response)
                if is_public(scope["path"]):  # so that nobody without a key can fill our memory
                    receive = replay({"type": "http.request", "body": b"", "more_body": False}, receive)
                await (refusal or self.app)(scope, receive, response)
        finally:
            seconds = time.perf_counter() - started
            status = CLIENT_CLOSED_REQUEST if scope["state"].get("left") else response.status
            if not is_public(scope["path"]):
                logs.log_request(scope, status, seconds)
            metrics.record_request(scope["method"], logs.route_template(scope), status, seconds)
            TENANT.reset(tenant)
            logs.REQUEST_STATE.reset(token)

    async def _refusal(
        self, scope: Scope, headers: dict[bytes, bytes], response: ResponseHeaders
    ) -> Response | None:
        """The response that refuses the request; None when it may pass. Then the state has its caller."""
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > MAX_TARGET_BYTES:
            detail = f"an address has at most {MAX_TARGET_BYTES:,} bytes; send long values in a body"
            return http_error_response(414, scope["path"], detail)
        try:
            check_duplicate_headers(scope["headers"])
        except SubstrateError as error:
            return error_response(error, scope["path"], {"Connection": "close"})
        try:
            if not is_public(scope["path"]):
                check_origin(scope["headers"], self.origins)
            if self.open_to_all:
                self._admit_local(scope, headers)
            elif not is_public(scope["path"]):
                response.headers |= await self._authenticate(scope, headers)
        except Unauthenticated as error:
            return await self._unauthenticated(error, scope, headers)
        except SubstrateError as error:
            return error_response(error, scope["path"])
        return None

    async def _authenticate(self, scope: Scope, headers: dict[bytes, bytes]) -> dict[str, str]:
        """Set the caller, and return the headers that tell how much of its rate limit is left.

        Raises Unauthenticated without a valid key, RateLimited over the limit, Unavailable without an open store.
        """
        principal = await get_keyring(scope).principal(headers, now())
        scope["state"]["caller"] = Caller(principal)
        TENANT.set(Tenant(principal.key_id))
        return await self.rates.count(principal.key_id, request_cost(scope["method"], scope["path"]))

    async def _unauthenticated(
        self, error: Unauthenticated, scope: Scope, headers: dict[bytes, bytes]
    ) -> Response:
        """401, or 429 when the address sent too many wrong keys. A valid key from there is accepted even then."""
        if has_key_header(headers):
            scope["state"]["tried"] = rejected_key_id(headers)
            try:
                await self.rates.count_wrong(rate_limit_address(client_address(scope)))
            except SubstrateError as limited:
                return error_response(limited, scope["path"])
        return error_response(error, scope["path"], challenge_headers(error, headers))

    def _admit_local(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Admit the caller of an open service.

        Raises Forbidden when `Host` is not loopback, because a web page can let its own name resolve to this
        machine (DNS rebinding). Also raises the error that keeps the store closed.
        """
        host = headers.get(b"host", b"localhost").decode("latin-1")
        if not is_loopback(re.sub(r":\d*$", "", host)):
            raise Forbidden("an open service answers on a loopback address only", remedy="Call localhost.")
        scope["state"]["caller"] = Caller(OPEN_SERVICE)
        if not is_public(scope["path"]):
            _get_store(scope).check()


def _counted(scope: Scope) -> AbstractContextManager[None]:
    """Has upkeep wait for the request, unless it is about upkeep itself or reads nothing."""
    if is_public(scope["path"]) or scope["path"].startswith("/v1/upkeep/run"):
        return nullcontext()
    traffic: Traffic = scope["app"].state.traffic
    return traffic.request(scope["state"])


def get_keyring(scope: Scope) -> Keyring:
    """The keyring of the open store. Raises Unavailable while the store is not open."""
    return _get_store(scope).get()[1]


def _get_store(scope: Scope) -> StoreHolder[Keyring]:
    store: StoreHolder[Keyring] = scope["app"].state.store
    return store


async def find_caller(request: Request) -> Caller | None:
    """The caller of a public route; None without a key, or with an invalid one."""
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
    """The headers of every response at this path. No cache keeps memories, unless the route allows it.

    Public files are revalidated by their ETag each time, so that no page runs scripts of another version.
    """
    if is_public(path):
        fixed = _INLINE_STYLES if path == "/docs" else _SECURITY_HEADERS
        return {**fixed, "Cache-Control": "no-cache"}
    return {**_SECURITY_HEADERS, "Cache-Control": "no-store", "Vary": "Authorization, X-API-Key"}


MAX_TARGET_BYTES: Final = 16_384
"""Bytes of a path and its query; a cursor has 8,000, an id 200."""
_KEY_HEADERS: Final = frozenset((b"authorization", b"x-api-key"))
_LENGTH_HEADERS: Final = frozenset((b"content-length", b"transfer-encoding"))


def check_duplicate_headers(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raises Incorrect for two keys or two body lengths: a proxy in front of us may have used the other one."""
    names = [name for name, _ in headers]
    if sum(name in _KEY_HEADERS for name in names) > 1:
        raise Incorrect("a request has one key", remedy="Send Authorization or X-API-Key, once.")
    if sum(name in _LENGTH_HEADERS for name in names) > 1:
        raise Incorrect("a body has one length", remedy="Send Content-Length or Transfer-Encoding, once.")


def has_key_header(headers: Iterable[bytes]) -> bool:
    """True when a key is sent, valid or not."""
    return not _KEY_HEADERS.isdisjoint(headers)
