"""JWTs as an alternative to keys: RS256 and ES256, verified with the public keys of a JWKS address.

The keys are fetched again every five minutes. While their provider does not answer, the last keys stay trusted,
for a day at most: an outage of the provider locks nobody out, and a withdrawn key is not trusted for ever.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import httpx
import jwt
import orjson
from pydantic import TypeAdapter, ValidationError

from api.security.authentication import Principal, invalid_key
from schemas.errors import Unavailable
from schemas.keys import Grants, Scope, grants, usual_source
from schemas.memory import Source
from schemas.settings import AuthSettings

ALGORITHMS: Final = ["RS256", "ES256"]
"""Neither `none` nor HS256: with HS256 the public key would be the secret."""
MAX_TOKEN_LENGTH: Final = 8192

_SCOPE: Final[TypeAdapter[str]] = TypeAdapter(Scope)


class JsonWebTokens:
    """Reads JWTs. It fetches keys in the background, and waits for them only when a token names an unknown key."""

    def __init__(self, url: str, issuer: str, audience: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = SigningKeys(url, clock)
        self._issuer, self._audience = issuer, audience

    def start_refresh(self) -> None:
        """Fetch the keys in the background from now on."""
        self._keys.start_refresh()

    async def principal(self, token: str) -> Principal:
        """The principal; its id is `jwt:` and the `sub` of the token.

        Raises Unauthenticated for an invalid token, Unavailable when its signing key cannot be fetched.
        """
        if len(token) > MAX_TOKEN_LENGTH:
            raise invalid_key()
        try:
            key = await self._keys.find(_key_id_in(token))
            if key is None:
                raise invalid_key()
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._audience,
                issuer=self._issuer,
                leeway=10,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
            granted = grants(scopes_in(claims))
            highest = highest_source_in(claims, granted)
        except jwt.PyJWTError as error:
            raise invalid_key() from error
        subject = re.sub(r"[^\w.@:-]", "_", str(claims["sub"]))[:100]
        return Principal(f"jwt:{subject}", granted, highest)

    async def close(self) -> None:
        """Stop fetching the keys."""
        await self._keys.close()


def make_token_reader(settings: AuthSettings) -> JsonWebTokens | None:
    """The reader for the settings; None when they name no JWKS address."""
    if settings.jwks_url is None:
        return None
    return JsonWebTokens(settings.jwks_url, settings.jwt_issuer or "", settings.jwt_audience or "")


def scopes_in(claims: Mapping[str, Any]) -> Iterator[str]:
    """The known scopes in `scope` (a text with spaces, RFC 8693) and `scopes` (a list)."""
    text, many = claims.get("scope"), claims.get("scopes")
    scopes = [*(text.split() if isinstance(text, str) else ()), *(many if isinstance(many, list) else ())]
    for scope in scopes:
        try:
            yield _SCOPE.validate_python(scope)
        except ValidationError:
            continue


def highest_source_in(claims: Mapping[str, Any], granted: Grants) -> Source:
    """The highest source that the token may claim, from `highest_source`, else from its grants.

    Raises InvalidTokenError when `highest_source` is no source.
    """
    source = claims.get("highest_source")
    if source is None:
        return usual_source(granted)
    if source not in list(Source):
        raise jwt.InvalidTokenError("its highest_source is no source")
    return Source(source)


def _key_id_in(token: str) -> str:
    """The id of the signing key. Raises PyJWTError for a token that can never be valid."""
    header = jwt.get_unverified_header(token)
    if header.get("alg") not in ALGORITHMS:
        raise jwt.InvalidAlgorithmError("not an accepted algorithm")
    kid = header.get("kid")
    if not isinstance(kid, str) or not token.rpartition(".")[2]:
        raise jwt.InvalidTokenError("it names no key, or has no signature")
    return kid


logger = logging.getLogger(__name__)

REFRESH_SECONDS: Final = 300.0
TRUSTED_SECONDS: Final = 86_400.0
RETRY_SECONDS: Final = 30.0
"""The least pause between two fetches caused by unknown keys, and between two attempts in an outage."""
FIRST_RETRY_SECONDS: Final = 5.0
"""Pause between two attempts until the provider has answered once."""
FETCH_SECONDS: Final = 5.0
MAX_BYTES: Final = 1 << 20


class SigningKeys:
    """The keys behind one JWKS address. `clock` gives seconds and never goes back."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._http = httpx.AsyncClient(timeout=FETCH_SECONDS, headers={"Accept-Encoding": "identity"})
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._answered_at: float | None = None
        self._fetched_at = float("-inf")
        self._answers = False
        self._fetch: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None

    def start_refresh(self) -> None:
        """Fetch the keys now and then regularly, in the background."""
        if self._refreshing is None:
            self._refreshing = asyncio.create_task(self._refresh())

    async def find(self, kid: str) -> jwt.PyJWK | None:
        """The key with this id; None when the provider has none.

        Raises Unavailable when the key is not known here and the provider does not answer.
        """
        self.start_refresh()
        key = self._trusted(kid)
        may_fetch = self._fetch is not None or self._clock() - self._fetched_at >= RETRY_SECONDS
        if key is None and may_fetch:
            await asyncio.wait([self._current_fetch()])
            key = self._trusted(kid)
        if key is None and not self._answers:
            raise Unavailable("the server of the JWTs' keys does not answer", remedy="Try again in a moment.")
        return key

    async def close(self) -> None:
        """Stop all background work."""
        tasks = [task for task in (self._refreshing, self._fetch) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._http.aclose()

    def _trusted(self, kid: str) -> jwt.PyJWK | None:
        if self._answered_at is None or self._clock() - self._answered_at > TRUSTED_SECONDS:
            return None
        return self._keys.get(kid)

    def _current_fetch(self) -> asyncio.Task[None]:
        """The fetch that is under way; started now if there is none."""
        if self._fetch is None:
            self._fetched_at = self._clock()
            self._fetch = asyncio.create_task(self._fetch_keys())
        return self._fetch

    async def _refresh(self) -> None:
        while True:
            await asyncio.wait([self._current_fetch()])
            retry = FIRST_RETRY_SECONDS if self._answered_at is None else RETRY_SECONDS
            await asyncio.sleep(REFRESH_SECONDS if self._answers else retry)

    async def _fetch_keys(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                document = orjson.loads(await self._body())
                keys = document.get("keys") if isinstance(document, dict) else None
                if not isinstance(keys, list):
                    raise ValueError("the answer is no set of keys")
                parsed = jwt.PyJWKSet(keys) if keys else ()
                self._keys = {
                    key.key_id: key for key in parsed if key.key_id and key.public_key_use in ("sig", None)
                }
        except (httpx.HTTPError, TimeoutError, ValueError, jwt.PyJWTError) as error:
            self._answers = False
            logger.warning("the keys for JWTs could not be fetched: %s", error or type(error).__name__)
        else:
            self._answers, self._answered_at = True, self._clock()
        finally:
            self._fetch = None

    async def _body(self) -> bytes:
        body = bytearray()
        async with self._http.stream("GET", self._url) as answer:
            answer.raise_for_status()
            async for part in answer.aiter_raw():
                body += part
                if len(body) > MAX_BYTES:
                    raise ValueError(f"the answer has more than {MAX_BYTES >> 20} MiB")
        return bytes(body)
