"""JWTs as an alternative to keys: RS256 and ES256, with the public keys of a JWKS address."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import jwt
from pydantic import TypeAdapter, ValidationError

from api.auth import Principal, refused
from schemas.errors import Unavailable
from schemas.keys import Scope, grants
from schemas.settings import AuthSettings

ALGORITHMS: Final = ["RS256", "ES256"]
"""Only these: neither `none` nor HS256, whose secret would be the public key."""
REQUIRED: Final = ["exp", "iss", "aud", "sub"]
LEEWAY_SECONDS: Final = 10
FETCH_SECONDS: Final = 5.0
REST_SECONDS: Final = 5.0
"""For how long a server of keys that did not answer is left alone."""
MAX_LENGTH: Final = 8192

_SCOPE: Final[TypeAdapter[str]] = TypeAdapter(Scope)


class JsonWebTokens:
    """Reads JWTs. The keys are fetched when they are needed, and again at most every half minute."""

    def __init__(self, url: str, issuer: str, audience: str) -> None:
        self._keys = jwt.PyJWKClient(url, timeout=FETCH_SECONDS)
        self._issuer, self._audience = issuer, audience
        self._thread = ThreadPoolExecutor(1, "jwks")
        self._failed = -REST_SECONDS

    async def principal(self, token: str) -> Principal:
        """Who the token says calls: `jwt:` and its `sub`. Raises Unauthenticated or Unavailable."""
        if len(token) > MAX_LENGTH or time.monotonic() - self._failed < REST_SECONDS:
            raise refused() if len(token) > MAX_LENGTH else _away()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._read, token)
        except jwt.PyJWKClientConnectionError as error:
            self._failed = time.monotonic()
            raise _away() from error
        except jwt.PyJWTError as error:
            raise refused() from error

    def _read(self, token: str) -> Principal:
        if jwt.get_unverified_header(token).get("alg") not in ALGORITHMS:
            raise jwt.InvalidAlgorithmError("not an algorithm that counts here")
        claims = jwt.decode(
            token,
            self._keys.get_signing_key_from_jwt(token),
            algorithms=ALGORITHMS,
            audience=self._audience,
            issuer=self._issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": REQUIRED},
        )
        subject = re.sub(r"[^\w.@:-]", "_", str(claims["sub"]))[:100]
        return Principal(f"jwt:{subject}", grants(scopes_in(claims)))

    def close(self) -> None:
        """End the thread that reads."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def reader_of(settings: AuthSettings) -> JsonWebTokens | None:
    """What reads the JWTs that the settings speak of; None when they speak of none."""
    if settings.jwks_url is None:
        return None
    return JsonWebTokens(settings.jwks_url, settings.jwt_issuer or "", settings.jwt_audience or "")


def scopes_in(claims: Mapping[str, Any]) -> Iterator[str]:
    """Our scopes among those of `scope` (a text with spaces, RFC 8693) and `scopes` (a list)."""
    text, many = claims.get("scope"), claims.get("scopes")
    said = [*(text.split() if isinstance(text, str) else ()), *(many if isinstance(many, list) else ())]
    for scope in said:
        try:
            yield _SCOPE.validate_python(scope)
        except ValidationError:
            continue


def _away() -> Unavailable:
    return Unavailable("the server of the JWTs' keys does not answer", remedy="Try again in a moment.")
