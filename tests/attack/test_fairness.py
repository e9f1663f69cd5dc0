"""One tenant asks and writes all it can: whose turn it is then, how much is under way, and who is refused."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from httpx import Response
from redis import Redis

from api.runtime.runtime import open_runtime
from orchestration.dependencies import Deps
from orchestration.features.identity.feature import read_identity
from orchestration.features.identity.values import WhoIs
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from substrate.connection.parameters import parameters
from substrate.connection.pool import READS_AT_ONCE
from substrate.connection.turns import TENANT, Tenant
from substrate.cypher.query import Query
from substrate.engine.unix_socket import socket_path
from substrate.store.writer import IN_COMPANY, NODES_PER_STATEMENT
from tests.acceptance.conftest import Service
from tests.integration.store import ASKED, ask, relate, remember, stored
from tests.waiting import wait_until, wait_until_async

ENDLESS = Query("endless", "UNWIND range(1, 10000) AS i UNWIND range(1, 10000) AS j RETURN count(i + j)")
SLOW_MS, MANY_READS = 100, 100
WAITED_S = 120.0
LONG_TEXT = "x" * 20_000
MANY = 600


# --- exports that nobody reads ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(wordless: Service) -> str:
    """A citizen whose export is larger than what a socket holds: it goes on as long as its reader."""
    many = [{"citizen_id": "large", "name": f"m{n}", "description": LONG_TEXT} for n in range(MANY)]
    for begun in range(0, MANY, 200):
        assert wordless.http.post("/v1/memories", json=many[begun : begun + 200]).json()["stored"] == 200
    return "large"


@contextmanager
def begun_export(service: Service, citizen: str, key: str) -> Iterator[socket.socket]:
    """A request for an export of which nothing is read yet; at the end its caller is gone."""
    address = urlsplit(service.url)
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect((address.hostname, address.port))
        asked = f"GET /v1/citizens/{citizen}/export HTTP/1.1\r\nHost: {address.netloc}\r\n"
        line.sendall(f"{asked}Authorization: Bearer {key}\r\n\r\n".encode())
        yield line


def questions(service: Service) -> int:
    """How many queries that only read the engine was ever sent."""
    with Redis(unix_socket_path=str(socket_path(service.data))) as engine:
        said = engine.info("commandstats")
    return int({name.lower(): of for name, of in said.items()}["cmdstat_graph.ro_query"]["calls"])


def at_rest(service: Service) -> bool:
    """Whether the service answers nothing but this."""
    said = service.http.get("/metrics").text.splitlines()
    return "substrate_http_requests_in_flight 1.0" in said and "substrate_engine_queries_in_flight 0.0" in said


def test_an_export_whose_caller_leaves_is_read_no_further(wordless: Service, large: str) -> None:
    before = questions(wordless)
    assert wordless.http.get(f"/v1/citizens/{large}/export").status_code == 200
    whole = questions(wordless) - before
    keys = [wordless.key(f"citizen:{large}:read") for _ in range(4)]
    before = questions(wordless)
    with ExitStack() as held:
        for key in keys:
            held.enter_context(begun_export(wordless, large, key))
        wait_until(lambda: questions(wordless) > before + 2)
    wait_until(lambda: at_rest(wordless))
    assert questions(wordless) - before < len(keys) * whole


def refused_beside_another(service: Service, citizen: str, key: str) -> Response:
    """The answer to a second export of a key; a busy engine may break the first one off, then both begin again."""
    with service.client(key) as http:
        for _ in range(3):
            with begun_export(service, citizen, key) as line:
                assert line.recv(12) == b"HTTP/1.1 200"
                answer = http.get(f"/v1/citizens/{citizen}/export")
                if answer.status_code != 200:
                    assert http.get(f"/v1/citizens/{citizen}/state").status_code == 200, "all else goes on"
                    return answer
    raise AssertionError("three times a second export was answered beside the first")


def test_a_key_has_one_export_at_a_time_and_another_key_its_own(wordless: Service, large: str) -> None:
    one, other = (wordless.key(f"citizen:{large}:read") for _ in range(2))
    path = f"/v1/citizens/{large}/export"
    refused = refused_beside_another(wordless, large, one)
    assert (refused.status_code, refused.json()["type"]) == (429, "/problems/rate-limited")
    assert int(refused.headers["Retry-After"]) == refused.json()["retry_after_s"] > 0
    assert "one at a time" in refused.json()["detail"]
    with wordless.client(other) as elsewhere, begun_export(wordless, large, one) as line:
        assert line.recv(12) == b"HTTP/1.1 200"
        assert elsewhere.get(path).status_code == 200
    with wordless.client(one) as http:
        wait_until(lambda: http.get(path).status_code == 200)


def test_a_request_whose_caller_disconnects_counts_as_499(wordless: Service, large: str) -> None:
    key = wordless.key(f"citizen:{large}:read")
    with begun_export(wordless, large, key) as line:
        assert line.recv(12) == b"HTTP/1.1 200"
    wait_until(lambda: at_rest(wordless))
    assert 'status="499"' in wordless.http.get("/metrics").text
    assert 'status="500"' not in wordless.http.get("/metrics").text


# --- turns at the engine ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
async def store(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deps]:
    data: Path = tmp_path_factory.mktemp("fair")
    settings = Settings(store=StoreSettings(data=data), embedding=EmbeddingSettings(embedding="none"))
    async with open_runtime(settings) as runtime:
        yield runtime.deps


class Log:
    """What is sent to the engine while it is open: who began which query, and how many of whose are under way."""

    def __init__(self, deps: Deps) -> None:
        self._connection = deps.connection
        self.begun: list[tuple[str, str]] = []
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    def __enter__(self) -> Log:
        self._before, self._connection.around = self._connection.around, self._around
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.around = self._before

    @contextmanager
    def _around(self, name: str) -> Iterator[None]:
        who = TENANT.get().citizen
        if name in ("TIME", "GRAPH.LIST"):
            yield
            return
        self.begun.append((who, name))
        self.under_way[who] += 1
        self.most[who] = max(self.most[who], self.under_way[who])
        self.most["all"] = max(self.most["all"], self.under_way.total())
        try:
            yield
        finally:
            self.under_way[who] -= 1


async def as_tenant[Answer](citizen: str, work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """What the work answers, for this citizen with a key of its own. It is to run as a task."""
    TENANT.set(Tenant(f"key of {citizen}", citizen))
    return await work()


async def hub(deps: Deps, citizen: str, links: int = 300) -> None:
    """A citizen who heard everything from one person."""
    await stored(deps, remember(citizen, "hub", name="Hub", node_type="Person"))
    await stored(deps, *(remember(citizen, f"m{n}", name=f"harbour {n}") for n in range(links)))
    await stored(deps, *(relate(citizen, f"m{n}", "hub") for n in range(links)))


async def test_reads_that_fill_the_engine_keep_no_write_waiting(store: Deps) -> None:
    await stored(store, remember("reader", "m"), remember("writer", "m"))

    def read() -> Coroutine[Any, Any, object]:
        return store.connection.read("citizen_reader", ENDLESS, parameters({}), SLOW_MS)

    slow = [asyncio.create_task(as_tenant("reader", read)) for _ in range(MANY_READS)]
    await asyncio.sleep(0)
    await asyncio.create_task(as_tenant("writer", lambda: stored(store, remember("writer", "n"))))
    left = sum(not task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    assert left > MANY_READS / 2, "the write waited for the reads"


async def test_eight_questions_of_one_tenant_take_one_share(store: Deps) -> None:
    await hub(store, "eager")
    await stored(store, *(remember("calm", f"m{n}", name=f"harbour {n}") for n in range(20)))
    with Log(store) as log:

        async def attack() -> None:
            for _ in range(3):
                await ask(store, "eager", "what did Hub say of the harbour", now=ASKED)
                await read_identity(WhoIs(citizen_id="eager"), store, ASKED)

        eager = [asyncio.create_task(as_tenant("eager", attack)) for _ in range(8)]
        for _ in range(5):
            stream = await asyncio.create_task(as_tenant("calm", lambda: ask(store, "calm", "harbour", now=ASKED)))
            assert stream.degraded == ()
            await asyncio.create_task(as_tenant("calm", lambda: stored(store, remember("calm"))))
        at_it = sum(not task.done() for task in eager)
        await asyncio.gather(*eager)
    assert at_it > 0, "the questions of the other were still under way"
    assert log.most["all"] <= READS_AT_ONCE + 1
    assert log.most["eager"] < READS_AT_ONCE


async def test_a_long_list_is_cut_while_another_tenant_writes_and_the_others_come_between(store: Deps) -> None:
    rows = 4 * NODES_PER_STATEMENT

    def listed(name: str) -> Coroutine[Any, Any, object]:
        return stored(store, *(remember("bulk", f"{name}{n}") for n in range(rows)))

    await stored(store, remember("bulk", "m"), remember("calm", "m"))

    async def when_alone() -> object:
        await wait_until_async(lambda: not store.connection.writes.others_active())
        return await listed("a")

    with Log(store) as alone:
        await asyncio.create_task(as_tenant("bulk", when_alone))
    assert alone.begun.count(("bulk", "remember")) == rows / NODES_PER_STATEMENT
    with Log(store) as log:
        bulk = asyncio.create_task(as_tenant("bulk", lambda: listed("b")))
        written = 0
        while not bulk.done():
            await asyncio.create_task(as_tenant("calm", lambda: stored(store, remember("calm"))))
            written += 1
        await bulk
    assert written > 1
    assert log.begun.count(("bulk", "remember")) > rows / NODES_PER_STATEMENT
    assert log.begun.count(("bulk", "remember")) <= IN_COMPANY * rows / NODES_PER_STATEMENT + IN_COMPANY
    assert log.most["bulk"] <= 2
