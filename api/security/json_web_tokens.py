"""JWTs as an alternative to keys: RS256 and ES256, verified with the public keys of a JWKS address."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import jwt
from pydantic import TypeAdapter, ValidationError

from api.security.authentication import Principal, invalid_key
from api.security.signing_keys import SigningKeys
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
