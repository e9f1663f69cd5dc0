"""Connections that hold on to the service without a key, keys that are guessed, and bodies that lie."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from api.asgi.connections import OpenConnections, connection_class
from tests.acceptance.conftest import ADMIN_KEY
from tests.attack.limited_service import FILES, Served, all_of, serving
from tests.loopback import free_port

KEYED = f"Authorization: Bearer {ADMIN_KEY}"
BURST = 10
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that may open few files, and hears few wrong keys."""
    with serving(tmp_path_factory.mktemp("served"), SUBSTRATE_WRONG_KEY_LIMIT=f"{BURST}/hour") as running:
        yield running


def test_connections_without_a_key_shut_nobody_out_and_are_ended(served: Served) -> None:
    with ExitStack() as held:
        waiting = [held.enter_context(served.connect()) for _ in range(FILES + 50)]
        for connection in waiting[::2]:
            with suppress(ConnectionError):
                connection.sendall(b"GET /v1/keys HTTP/1.1\r\nHost: loc")
        for _ in range(5):
            assert served.http.get("/v1/keys").status_code == 200
        ends = [all_of(connection)[:12] for connection in waiting]
        assert set(ends[1::2]) == {b""}
        assert set(ends[::2]) <= {b"", b"HTTP/1.1 408"}


TWICE = [
    [KEYED, "Authorization: Bearer sk-none-x"],
    ["Authorization: Bearer sk-none-x", KEYED],
    [KEYED, KEYED],
    [f"X-API-Key: {ADMIN_KEY}", "X-API-Key: sk-none-x"],
    [KEYED, "X-API-Key: sk-none-x"],
]


@pytest.mark.parametrize("lines", TWICE, ids=str)
def test_a_request_with_two_keys_is_refused(served: Served, lines: list[str]) -> None:
    for target in ("GET /v1/keys", "POST /mcp"):
        said = served.said(f"{target} HTTP/1.1", *lines, "Connection: close")
        assert said.startswith(b"HTTP/1.1 400"), said
        assert b"one key" in said


LIES = {
    "two lengths": (["Content-Length: 5", "Content-Length: 6"], b"{}"),
    "a length below nothing": (["Content-Length: -1"], b"{}"),
    "a length that is no number": (["Content-Length: 2x"], b"{}"),
    "a length beside chunks": (["Content-Length: 2", "Transfer-Encoding: chunked"], b"0\r\n\r\n"),
    "chunks of no length": (["Transfer-Encoding: chunked"], b"zz\r\n{}\r\n0\r\n\r\n"),
    "an unknown coding": (["Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n"),
}


@pytest.mark.parametrize("key", [KEYED, "X-None: x"], ids=["with a key", "without"])
@pytest.mark.parametrize(("lines", "body"), LIES.values(), ids=LIES.keys())
def test_a_body_that_lies_about_its_length_is_refused(
    served: Served, lines: list[str], body: bytes, key: str
) -> None:
    said = served.said("POST /v1/memories HTTP/1.1", key, "Content-Type: application/json", *lines, body=body)
    assert said.split(b" ")[1] in ((b"400", b"501") if key == KEYED else (b"400", b"401", b"501")), said
    assert said.count(b"HTTP/1.1") == 1


GET = b"GET /v1/keys HTTP/1.1\r\n"
CHUNKED = b"POST /v1/memories HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
TWO_WAYS = {
    "a bare LF behind each line": b"GET /v1/keys HTTP/1.1\nHost: x\n\n",
    "a bare LF in a head": GET + b"Host: x\nX-A: b\r\n\r\n",
    "a bare LF as the end of a head": GET + b"Host: x\r\n\n",
    "a folded line": GET + b"Host: x\r\nX-A: b\r\n c\r\n\r\n",
    "a folded host": GET + b"Host:\r\n\tx\r\n\r\n",
    "a bare CR": GET + b"Host: x\r\nX-A: b\rX-B: c\r\n\r\n",
    "two CR": GET + b"Host: x\r\r\n\r\n",
    "a NUL": GET + b"Host: x\r\nX-A: b\0c\r\n\r\n",
    "a space before the colon": GET + b"Host: x\r\nX-A : b\r\n\r\n",
    "the same length twice": GET + b"Host: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a list of lengths": GET + b"Host: x\r\nContent-Length: 2, 2\r\n\r\n{}",
    "a bare CR beside the size of a chunk": CHUNKED + b"2;a\rb\r\n{}\r\n0\r\n\r\n",
    "a NUL beside the size of a chunk": CHUNKED + b"2;a\0b\r\n{}\r\n0\r\n\r\n",
    "a bare LF behind the last chunk": CHUNKED + b"2\r\n{}\r\n0\r\n\n",
    "a bare LF in a trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-A: b\n\n",
    "a folded trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-A: b\r\n c\r\n\r\n",
}


async def read_whole(scope: Scope, receive: Receive, send: Send) -> None:
    """Read the body, then say that the request came through."""
    while (await receive()).get("more_body"):
        pass
    await answer(scope, receive, send)


@pytest.mark.parametrize("sent", TWO_WAYS.values(), ids=TWO_WAYS.keys())
async def test_a_request_that_a_proxy_may_read_otherwise_is_refused_and_ends_the_connection(sent: bytes) -> None:
    async with quick(application=read_whole) as port, asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent + GET + b"Host: x\r\n\r\n")
        said = await reader.read()
        assert said.startswith(b"HTTP/1.1 400 ")
        assert said.count(b"HTTP/1.1") == 1
        writer.close()


async def test_chunks_with_extensions_and_trailers_are_read() -> None:
    async with quick(application=read_whole) as port, asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CHUNKED + b"2;a=b\r\n{}\r\n0\r\nX-A: b\r\n\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.close()


LARGE = 100 << 20


@pytest.mark.parametrize("closing", ["Connection: close", "X-None: x"])
@pytest.mark.parametrize(
    ("lines", "status"),
    [([KEYED], 413), (["X-None: x"], 401), ([KEYED, KEYED], 400)],
    ids=["keyed", "no key", "two"],
)
def test_a_client_that_sends_a_refused_body_to_its_end_sees_the_answer(
    served: Served, lines: list[str], status: int, closing: str
) -> None:
    head = ["POST /v1/memories HTTP/1.1", "Host: localhost", f"Content-Length: {LARGE}", closing, *lines, "", ""]
    with served.connect() as client:
        client.sendall("\r\n".join(head).encode())
        block = b"x" * (1 << 20)
        for _ in range(LARGE // len(block)):
            client.sendall(block)
        assert client.recv(65536).startswith(f"HTTP/1.1 {status} ".encode())


def test_chunks_that_end_wrongly_within_a_large_body_are_refused_as_such(served: Served) -> None:
    with served.connect() as client:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\n{KEYED}\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.sendall(f"{head}2\r\n".encode() + b"{" * LARGE)
        assert all_of(client).startswith(b"HTTP/1.1 400 ")


async def test_a_client_that_never_stops_sending_a_refused_body_is_disconnected() -> None:
    async with quick() as port, asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000000000\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
        with suppress(ConnectionError):
            while True:  # until the timeout, which fails the test
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)


def test_a_body_that_is_longer_than_it_said_brings_no_second_request_of_its_own_key(served: Served) -> None:
    within = (
        b'{"level":"N3","name":"x"}'
        + b"DELETE /v1/keys/first HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    length = f"Content-Length: {within.index(b'DELETE')}"
    said = served.said("POST /v1/memories HTTP/1.1", KEYED, "Content-Type: application/json", length, body=within)
    assert re.findall(rb"HTTP/1\.1 (\d+)", said) == [b"201", b"401"]


def test_a_body_that_is_shorter_than_it_said_changes_nothing(served: Served) -> None:
    before = served.http.get("/v1/memories", params={"level": "N3"}).json()
    with served.connect() as client:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\n{KEYED}\r\nContent-Type: application/json\r\n"
        client.sendall(f'{head}Content-Length: 1000\r\n\r\n{{"level":"N3","name":"y"}}'.encode())
        client.shutdown(socket.SHUT_WR)
        assert not all_of(client).startswith(b"HTTP/1.1 2")
    assert served.http.get("/v1/memories", params={"level": "N3"}).json() == before


def test_wrong_keys_are_limited_by_address_and_good_ones_still_pass(served: Served) -> None:
    with served.client("sk-guessed-0123456789") as guessing:
        statuses = [guessing.get("/v1/keys").status_code for _ in range(2 * BURST)]
        last = guessing.get("/v1/keys")
    assert statuses[0] in (401, 429)
    assert 401 not in statuses[BURST:]
    assert (last.status_code, last.json()["type"]) == (429, "/problems/rate-limited")
    assert 1 <= int(last.headers["Retry-After"]) <= 3600
    assert served.http.get("/v1/keys").status_code == 200


def test_no_forwarded_address_is_believed_unless_its_proxy_is_named(served: Served) -> None:
    with served.client("sk-guessed-0123456789") as guessing:
        statuses = [
            guessing.get("/v1/keys", headers={"X-Forwarded-For": f"10.0.0.{number}"}).status_code
            for number in range(2 * BURST)
        ]
    assert statuses[BURST:] == [429] * BURST
    assert {line["address"] for line in served.audited()} <= {"127.0.0.1", None}


@pytest.mark.parametrize(
    ("key", "tried"),
    [
        ("sk-0a1b2c3d4e5f-TheSecretPart", "sk-0a1b2c3d4e5f"),
        ("sk-first-TheSecretPart", "sk-first"),
        ("sk-TheSecretPartWithoutAnyIdBeforeItTheSecretPart", None),
        ("sk-TheSecretPart WithSpaces-x", None),
        ("TheSecretPartAlone", None),
        ("eyTheSecretPart.eyTheSecretPart.TheSecretPart", None),
    ],
)
def test_the_audit_has_the_address_and_the_id_that_was_tried_and_never_a_secret(
    served: Served, key: str, tried: str | None
) -> None:
    request_id = f"tried-{abs(hash(key))}"
    with served.client(key) as other:
        assert other.get("/v1/keys", headers={"X-Request-Id": request_id}).status_code in (401, 429)
    line = served.audit_of(request_id)
    assert (line["address"], line["tried"], line["key"]) == ("127.0.0.1", tried, None)
    assert "TheSecret" not in served.log.read_text("utf-8")


def test_a_good_request_is_audited_with_its_address_and_nothing_tried(served: Served) -> None:
    served.http.get("/v1/keys", headers={"X-Request-Id": "a-good-one"})
    line = served.audit_of("a-good-one")
    assert (line["address"], line["key"]) == ("127.0.0.1", "environment")
    assert "tried" not in line


@pytest.mark.parametrize("key", [KEYED, "X-None: x"], ids=["with a key", "without"])
def test_a_long_method_or_path_is_cut_in_the_log_and_the_answer(served: Served, key: str) -> None:
    for number, line in enumerate((f"{'M' * 40_000} /v1/keys HTTP/1.1", f"GET /{'p' * 40_000} HTTP/1.1")):
        request_id = f"long-{number}-{key[0]}"
        said = served.said(line, key, f"X-Request-Id: {request_id}", "Connection: close")
        assert said.split(b" ")[1] in (b"401", b"404", b"405", b"414")
        assert len(said) < 4000
        assert len(json.dumps(served.audit_of(request_id))) < 1000


def test_a_public_path_is_answered_before_the_body_arrives(served: Served) -> None:
    with served.connect() as client:
        client.settimeout(LIMIT_S)
        client.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")


def test_a_question_whose_body_does_not_come_is_given_up(served: Served) -> None:
    with served.connect() as client:
        client.settimeout(LIMIT_S)
        head = f"GET /v1/citizens/nobody/state HTTP/1.1\r\nHost: localhost\r\n{KEYED}\r\nContent-Length: 9\r\n\r\n"
        client.sendall(head.encode())
        assert client.recv(65536).startswith(b"HTTP/1.1 ")


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Say who called; whoever says nothing of a key is nobody."""
    scope["state"]["caller"] = dict(scope["headers"]).get(b"x-api-key")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


class Announced(uvicorn.Server):
    """A server that says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


@asynccontextmanager
async def quick(
    connections: OpenConnections | None = None, application: ASGIApp | None = None
) -> AsyncIterator[int]:
    """The port of a server in this process, with a short limit for heads unless `connections` are tested."""
    head_seconds = 2 * LIMIT_S if connections else 0.2
    protocol = connection_class(connections or OpenConnections(100, 100), head_seconds)
    config = uvicorn.Config(
        application or answer,
        port=free_port(),
        http=protocol,
        log_config=None,
        lifespan="off",
        timeout_keep_alive=int(2 * LIMIT_S),
    )
    server = Announced(config)
    serves = asyncio.create_task(server.serve())
    try:
        await server.up.wait()
        yield config.port
    finally:
        server.should_exit = True
        await serves


async def heard_out(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """What the server says until it ends the connection, on which one byte after another is sent."""
    received = bytearray()

    async def read_all() -> None:
        with suppress(ConnectionResetError):  # bytes that were on their way when the server closed
            while chunk := await reader.read(1000):
                received.extend(chunk)

    reading = asyncio.create_task(read_all())
    while not reading.done():
        writer.write(b"x")
        await asyncio.wait([reading], timeout=0.02)
    return bytes(received)


async def test_a_head_that_comes_byte_by_byte_is_ended() -> None:
    async with quick() as port, asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nX-Long: ")
        assert (await heard_out(reader, writer)).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_a_second_head_that_comes_byte_by_byte_is_ended_too() -> None:
    async with quick() as port, asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\n\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HTTP/1.1\r\nX-Long: ")
        assert (await heard_out(reader, writer)).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_an_unwanted_body_is_not_read_to_its_end() -> None:
    async with quick() as port, asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
        assert (await heard_out(reader, writer)).startswith(b"HTTP/1.1 ")
        writer.close()


async def test_an_authenticated_connection_stays_while_the_oldest_without_a_key_are_closed() -> None:
    async with quick(OpenConnections(3, 100)) as port, asyncio.timeout(LIMIT_S):
        known, talk = await asyncio.open_connection("127.0.0.1", port)
        talk.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\n\r\n")
        await known.readuntil(b"ok")
        others = [await asyncio.open_connection("127.0.0.1", port) for _ in range(10)]
        assert await others[0][0].read() == b""
        talk.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\n\r\n")
        await known.readuntil(b"ok")
        for _, writer in (*others, (known, talk)):
            writer.close()


async def test_when_all_places_are_taken_the_one_that_idles_longest_makes_way() -> None:
    async with quick(OpenConnections(3, 5)) as port, asyncio.timeout(LIMIT_S):
        kept = []
        for _ in range(8):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\n\r\n")
            await reader.readuntil(b"ok")
            kept.append((reader, writer))
        assert await kept[0][0].read() == b""
        for _, writer in kept:
            writer.close()


@pytest.mark.parametrize(
    ("sent", "status", "kind"),
    [
        (b"GARBAGE\r\n\r\n", 400, "bad-request"),
        (b"GET /v1/keys HTTP/1.1\r\n\r\n", 400, "bad-request"),  # without a Host
        (b"GET /" + b"a" * 70_000, 414, "address-too-long"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 70_000, 431, "http"),
    ],
)
def test_bytes_that_are_no_request_are_answered_with_a_problem(
    served: Served, sent: bytes, status: int, kind: str
) -> None:
    with served.connect() as connection:
        connection.sendall(sent)
        head, _, body = all_of(connection).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert json.loads(body)["type"] == f"/problems/{kind}"
