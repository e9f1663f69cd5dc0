"""The public keys of an identity provider, fetched apart from every check of a token.

They are fetched again every five minutes. While the provider does not answer, those it last gave are trusted, for
a day at most: an outage there locks nobody out here, and a key that it withdrew does not count for ever.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Final

import httpx
import jwt
import orjson

from schemas.errors import Unavailable

logger = logging.getLogger(__name__)

REFRESH_SECONDS: Final = 300.0
TRUSTED_SECONDS: Final = 86_400.0
RETRY_SECONDS: Final = 30.0
"""Between two fetches that tokens with unknown keys may cause, however many there are, and in an outage."""
FIRST_RETRY_SECONDS: Final = 5.0
"""Between two fetches of our own as long as there was no answer at all."""
FETCH_SECONDS: Final = 5.0
MAX_BYTES: Final = 1 << 20


class SigningKeys:
    """The keys behind one JWKS address. `clock` tells seconds that never go back."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._http = httpx.AsyncClient(timeout=FETCH_SECONDS, headers={"Accept-Encoding": "identity"})
        self._held: Mapping[str, jwt.PyJWK] = {}
        self._answered_at: float | None = None
        self._asked_at = float("-inf")
        self._answers = False
        self._fetch: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None

    def keep(self) -> None:
        """Fetch the keys now, and from now on again and again, in the background."""
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())

    async def find(self, kid: str) -> jwt.PyJWK | None:
        """The key of this name; None when the provider has none.

        Raises Unavailable when that cannot be known: it is not held, and the provider does not answer.
        """
        self.keep()
        found = self._trusted(kid)
        if found is None and self._may_ask():
            await asyncio.wait([self._asked()])
            found = self._trusted(kid)
        if found is None and not self._answers:
            raise Unavailable("the server of the JWTs' keys does not answer", remedy="Try again in a moment.")
        return found

    async def close(self) -> None:
        """End what goes on in the background."""
        tasks = [task for task in (self._keeping, self._fetch) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._http.aclose()

    def _trusted(self, kid: str) -> jwt.PyJWK | None:
        if self._answered_at is None or self._clock() - self._answered_at > TRUSTED_SECONDS:
            return None
        return self._held.get(kid)

    def _may_ask(self) -> bool:
        return self._fetch is not None or self._clock() - self._asked_at >= RETRY_SECONDS

    def _asked(self) -> asyncio.Task[None]:
        """The one fetch that is under way; it begins now unless it has begun."""
        if self._fetch is None:
            self._asked_at = self._clock()
            self._fetch = asyncio.create_task(self._ask())
        return self._fetch

    async def _keep(self) -> None:
        while True:
            await asyncio.wait([self._asked()])
            without = FIRST_RETRY_SECONDS if self._answered_at is None else RETRY_SECONDS
            await asyncio.sleep(REFRESH_SECONDS if self._answers else without)

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                self._held = _parse_jwks(orjson.loads(await self._body()))
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


def _parse_jwks(said: object) -> dict[str, jwt.PyJWK]:
    """The keys that sign, by their names; of an answer without keys none. Raises ValueError or PyJWTError."""
    keys = said.get("keys") if isinstance(said, dict) else None
    if not isinstance(keys, list):
        raise ValueError("the answer is no set of keys")
    found = jwt.PyJWKSet(keys) if keys else ()
    return {key.key_id: key for key in found if key.key_id and key.public_key_use in ("sig", None)}
