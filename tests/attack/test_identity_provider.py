"""JWTs while the identity provider is away or slow, and while somebody sends tokens that were never signed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, override

import pytest

from api.security.json_web_tokens import TRUSTED_SECONDS, JsonWebTokens
from schemas.errors import Unauthenticated, Unavailable
from tests.acceptance.conftest import Service
from tests.loopback import serving
from tests.unit.api.security.test_json_web_tokens import AUDIENCE, ISSUER, STRANGER, Answering, Keys, token

LIMIT_S = 60.0
TIMES = 20


class Provider(Keys):
    """An identity provider that can be away, or keep whoever asks waiting."""

    away = False

    def __init__(self, *words: Any) -> None:
        super().__init__(*words)
        self.goes_on = threading.Event()
        self.goes_on.set()


class Moody(Answering):
    @override
    def do_GET(self) -> None:
        assert isinstance(self.server, Provider)
        if self.server.away:
            self.server.asked += 1
            self.send_error(503)
            return
        self.server.goes_on.wait(LIMIT_S)
        super().do_GET()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving(Provider(("127.0.0.1", 0), Moody)) as running:
        yield running
        running.goes_on.set()


class Clock:
    """A clock that goes on when it is told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def reader(provider: Provider, clock: Clock) -> AsyncIterator[JsonWebTokens]:
    reading = JsonWebTokens(provider.url(), ISSUER, AUDIENCE, clock)
    yield reading
    await reading.close()


def unsigned(number: int) -> str:
    """A token that names a key which nobody has, with a signature of nothing."""
    return token(STRANGER, kid=f"nobody{number}").rpartition(".")[0] + ".AAAA"


async def test_tokens_count_through_an_outage_whatever_unsigned_ones_are_sent(
    reader: JsonWebTokens, provider: Provider, clock: Clock
) -> None:
    await reader.principal(token())
    provider.away = True
    clock.now += 60
    for number in range(TIMES):
        clock.now += 0.5
        with pytest.raises((Unauthenticated, Unavailable)):
            await reader.principal(unsigned(number))
        assert (await reader.principal(token())).key_id == "jwt:ada@example"
    assert provider.asked == 2


async def test_unsigned_tokens_make_us_ask_once_in_half_a_minute(
    reader: JsonWebTokens, provider: Provider, clock: Clock
) -> None:
    await reader.principal(token())
    provider.away = True
    for number in range(TIMES):
        clock.now += 10
        with pytest.raises((Unauthenticated, Unavailable)):
            await reader.principal(unsigned(number))
    assert provider.asked <= 2 + TIMES * 10 / 30


async def test_no_good_token_waits_while_the_keys_are_asked_for(
    reader: JsonWebTokens, provider: Provider, clock: Clock
) -> None:
    await reader.principal(token())
    provider.goes_on.clear()
    clock.now += 60
    waiting = asyncio.create_task(reader.principal(unsigned(1)))
    await asyncio.sleep(0)
    for _ in range(TIMES):
        await reader.principal(token())
    assert not waiting.done()
    provider.goes_on.set()
    with pytest.raises(Unauthenticated):
        await waiting


async def test_a_key_that_is_new_counts_as_soon_as_it_was_asked_for(
    reader: JsonWebTokens, provider: Provider, clock: Clock
) -> None:
    provider.away = True
    with pytest.raises(Unavailable):
        await reader.principal(token())
    provider.away = False
    clock.now += 60
    await reader.principal(token())


async def test_keys_are_trusted_for_a_day_without_an_answer_and_no_longer(
    reader: JsonWebTokens, provider: Provider, clock: Clock
) -> None:
    await reader.principal(token())
    provider.away = True
    clock.now += TRUSTED_SECONDS - 1
    await reader.principal(token())
    clock.now += 2
    with pytest.raises(Unavailable):
        await reader.principal(token())
    provider.away = False
    clock.now += 60
    await reader.principal(token())


def test_a_service_answers_good_tokens_while_its_provider_is_away(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBSTRATE_JWKS_URL", provider.url())
    monkeypatch.setenv("SUBSTRATE_JWT_ISSUER", ISSUER)
    monkeypatch.setenv("SUBSTRATE_JWT_AUDIENCE", AUDIENCE)
    service = Service(tmp_path, "none")
    try:
        with service.client(token(scope="N2:read")) as good, service.client(None) as other:
            assert good.post("/v1/validation/link", json={}).status_code == 200
            provider.away = True
            for number in range(TIMES):
                bad = other.get("/v1/keys", headers={"Authorization": f"Bearer {unsigned(number)}"})
                assert bad.status_code in (401, 503)
                assert good.post("/v1/validation/link", json={}).status_code == 200
            assert provider.asked <= 2
    finally:
        service.stop()
