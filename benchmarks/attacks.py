"""The attacks of `benchmarks.attack`: harmful requests of one tenant, for a limited time, to loopback only."""

from __future__ import annotations

import asyncio
import base64
import io
import time
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from multiprocessing.synchronize import Event
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import orjson

ATTACKER: Final = "attacker"
BODY_BYTES: Final = 7_900_000
LEVELS: Final = 250
EXPORTS, DROPPED_AFTER_S, EXPORTS_EVERY_S = 20, 0.01, 2.0
QUESTIONS_AT_ONCE: Final = 8
BULK, BULK_AT_ONCE = 1000, 2
DIGITS: Final = 100_000
LONG: Final = 100_000
PHRASES: Final = (
    "um 5 Uhr ",
    "Anna Maria ",
    "ﷺ",
    "# A Heading With Words\n",
    "I met my sister Anna. ",
    "안녕하세요 ",
)
SMALL_FILES: Final = 500
TIMEOUT_S: Final = 120.0


class Target(NamedTuple):
    """The service under attack, and the keys of the attacker, of a reader of N3 only, and of the second tenant."""

    url: str
    key: str
    reader_key: str
    victim_key: str


type Attack = Callable[[Target, Callable[[], bool]], Awaitable[None]]


def _client(target: Target, key: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    return httpx.AsyncClient(base_url=target.url, timeout=TIMEOUT_S, headers=headers)


async def _again_and_again(
    http: httpx.AsyncClient, going: Callable[[], bool], path: str, body: Callable[[int], bytes]
) -> None:
    number = 0
    while going():
        number += 1
        try:
            answer = await http.post(path, content=body(number))
            if answer.status_code == 429:
                await asyncio.sleep(min(1.0, float(answer.headers.get("Retry-After", 1))))
        except httpx.TransportError:
            await asyncio.sleep(0.1)


async def large_body(target: Target, going: Callable[[], bool]) -> None:
    """Send invalid bodies of nearly the largest size, with a key that may not write there."""
    tags = b",".join([b"1"] * (BODY_BYTES // 2))
    body = b'{"citizen_id":"victim","tags":[' + tags + b"]}"
    async with _client(target, target.reader_key) as http:
        await _again_and_again(http, going, "/v1/memories", lambda _: body)


async def deep_nesting(target: Target, going: Callable[[], bool]) -> None:
    """Send memories whose `extra` is nested deeply, and questions that find them."""
    nested = b'{"a":' * LEVELS + b"1" + b"}" * LEVELS

    def body(number: int) -> bytes:
        return b'{"citizen_id":"%s","name":"deep %d","extra":%s}' % (ATTACKER.encode(), number, nested)

    question = orjson.dumps({"citizen_id": ATTACKER, "query_text": "deep"})
    async with _client(target, target.key) as http:
        await asyncio.gather(
            _again_and_again(http, going, "/v1/memories", body),
            _again_and_again(http, going, "/v1/retrieve", lambda _: question),
        )


async def dropped_exports(target: Target, going: Callable[[], bool]) -> None:
    """Start many exports at once and drop the connections at once."""
    while going():
        await asyncio.gather(*(_dropped(target) for _ in range(EXPORTS)))
        await asyncio.sleep(EXPORTS_EVERY_S)


async def _dropped(target: Target) -> None:
    address = urlsplit(target.url)
    try:
        _, writer = await asyncio.open_connection(address.hostname, address.port)
        head = f"GET /v1/citizens/{ATTACKER}/export?embeddings=true HTTP/1.1\r\nHost: {address.netloc}\r\n"
        writer.write(f"{head}Authorization: Bearer {target.key}\r\n\r\n".encode())
        await writer.drain()
        await asyncio.sleep(DROPPED_AFTER_S)
        writer.transport.abort()
    except OSError:
        await asyncio.sleep(DROPPED_AFTER_S)


async def hub_questions(target: Target, going: Callable[[], bool]) -> None:
    """Ask about the hubs, to which every memory links, eight questions at once."""

    def body(number: int) -> bytes:
        text = (
            f"what did Hub0, Hub1 and Hub2 say of the harbour, the boat, the rope and the anchor at dusk {number}"
        )
        return orjson.dumps({"citizen_id": ATTACKER, "query_text": text, "max_results_per_level": 100})

    async with _client(target, target.key) as http:
        every = (_again_and_again(http, going, "/v1/retrieve", body) for _ in range(QUESTIONS_AT_ONCE))
        await asyncio.gather(*every)


async def hub_identity(target: Target, going: Callable[[], bool]) -> None:
    """Ask for the identity of a citizen with such hubs, eight times at once."""

    async def ask(http: httpx.AsyncClient) -> None:
        while going():
            try:
                await http.get(f"/v1/citizens/{ATTACKER}/identity", params={"limit": 100})
            except httpx.TransportError:
                await asyncio.sleep(0.1)

    async with _client(target, target.key) as http:
        await asyncio.gather(*(ask(http) for _ in range(QUESTIONS_AT_ONCE)))


async def bulk_writes(target: Target, going: Callable[[], bool]) -> None:
    """Send the longest lists of new memories, two at once."""
    begun = time.time_ns()

    def body(number: int) -> bytes:
        commands: list[dict[str, Any]] = [
            {"citizen_id": ATTACKER, "name": f"{begun} {number} {place}", "emotion_vector": {"joy": 0.5}}
            for place in range(BULK)
        ]
        return orjson.dumps(commands)

    async with _client(target, target.key) as http:
        every = (_again_and_again(http, going, "/v1/memories", body) for _ in range(BULK_AT_ONCE))
        await asyncio.gather(*every)


async def long_timestamp(target: Target, going: Callable[[], bool]) -> None:
    """Send a time with far too many digits."""
    body = orjson.dumps({"citizen_id": ATTACKER, "name": "late", "valid_at": "1." * DIGITS})
    async with _client(target, target.key) as http:
        await _again_and_again(http, going, "/v1/memories", lambda _: body)


async def long_texts(target: Target, going: Callable[[], bool]) -> None:
    """Store long texts of ordinary words, in which names, times and signs stand again and again, two at once."""

    def body(number: int) -> bytes:
        phrase = PHRASES[number % len(PHRASES)]
        text = f"{number} {phrase * (LONG // len(phrase))} and that was all of {number}."
        return orjson.dumps({"citizen_id": ATTACKER, "name": f"long {time.time_ns()}", "description": text})

    async with _client(target, target.key) as http:
        every = (_again_and_again(http, going, "/v1/memories", body) for _ in range(BULK_AT_ONCE))
        await asyncio.gather(*every)


async def dear_files(target: Target, going: Callable[[], bool]) -> None:
    """Send files that are dear to read: tags without an end, nested quotations, headers, many small chats."""
    chats = io.BytesIO()
    with zipfile.ZipFile(chats, "w") as packed:
        for place in range(SMALL_FILES):
            packed.writestr(f"{place}.json", orjson.dumps([{"speaker": "Ada", "text": f"note {place}"}]))
    files = (
        ("page.html", b"<p>" + b"<a " * 3_000),
        ("page.html", b"<p>" + b"<!--" * 100_000),
        ("mail.eml", b"Subject: " + b"=?utf-8?q?x?= " * 4_000 + b"\n\nHello"),
        ("mail.eml", b"Content-Type: text/html\n\n" + b"<blockquote>" * 50_000),
        ("notes.zip", chats.getvalue()),
    )

    def body(number: int) -> bytes:
        name, content = files[number % len(files)]
        sent = {"citizen_id": ATTACKER, "name": f"{number} {name}", "content": base64.b64encode(content).decode()}
        return orjson.dumps(sent)

    async with _client(target, target.key) as http:
        every = (_again_and_again(http, going, "/v1/files", body) for _ in range(BULK_AT_ONCE))
        await asyncio.gather(*every)


ATTACKS: Final[Mapping[str, Attack]] = {
    "large_body": large_body,
    "deep_nesting": deep_nesting,
    "dropped_exports": dropped_exports,
    "hub_questions": hub_questions,
    "hub_identity": hub_identity,
    "bulk_writes": bulk_writes,
    "long_timestamp": long_timestamp,
    "long_texts": long_texts,
    "dear_files": dear_files,
}


def run_attack(name: str, target: Target, seconds: float, begun: Event) -> None:
    """Run one attack for `seconds`; sets `begun` at its start."""
    ends = time.monotonic() + seconds
    begun.set()

    async def attack() -> None:
        await ATTACKS[name](target, lambda: time.monotonic() < ends)

    asyncio.run(attack())
