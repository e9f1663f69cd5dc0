from __future__ import annotations

import base64
import json
import struct
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.errors import Fault, SubstrateError, Unavailable
from schemas.settings import EmbeddingSettings
from substrate.inference.embeddings import Embedder, open_embedder
from tests.loopback import serving

KEY = "sk-only-for-this-test"


class Service(ThreadingHTTPServer):
    """An OpenAI-compatible embedding server. `script` holds (status, body) answers that come first."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, bytes]] = []
        self.requests: list[dict[str, Any]] = []
        self.dimension = 1536
        self.missing = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/proxy/v1"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked |= {"path": self.path, "authorization": self.headers["Authorization"]}
        self.server.requests.append(asked)
        status, body = self.server.script.pop(0) if self.server.script else (200, self.answer(asked))
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)

    def answer(self, asked: dict[str, Any]) -> bytes:
        texts = asked["input"]
        rows = [
            {"object": "embedding", "index": i, "embedding": self.vector(text, asked)}
            for i, text in enumerate(texts[: len(texts) - self.server.missing])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return json.dumps({"object": "list", "data": rows, "model": asked["model"], "usage": usage}).encode()

    def vector(self, text: str, asked: dict[str, Any]) -> list[float] | str:
        numbers = [0.0] * self.server.dimension
        numbers[len(text)] = 2.0
        if asked.get("encoding_format") == "base64":
            return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
        return numbers

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(Service()) as server:
        yield server


def settings(address: str, choice: str | None = None) -> EmbeddingSettings:
    return EmbeddingSettings(
        embedding=choice, openai_api_key=SecretStr(KEY), openai_base_url=address, cache=Path("unused")
    )


@pytest.fixture
async def embedder(service: Service) -> AsyncIterator[Embedder]:
    opened = open_embedder(settings(service.address))
    yield opened
    await opened.aclose()


async def test_a_key_alone_chooses_the_small_model_of_1536_numbers(service: Service, embedder: Embedder) -> None:
    assert (embedder.model, embedder.dimension) == ("text-embedding-3-small", 1536)
    assert service.requests == []
    vector = await embedder.embed_query("four")
    assert (vector[4], sum(vector), len(vector)) == (1.0, 1.0, 1536)


async def test_a_single_failed_request_is_repeated_unnoticed(service: Service, embedder: Embedder) -> None:
    service.script = [(500, b"{}")]
    assert (await embedder.embed_query("four"))[4] == 1.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
async def test_an_error_of_the_server_is_unavailable_with_its_status(
    status: int, service: Service, embedder: Embedder
) -> None:
    refusal = json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}).encode()
    service.script = [(status, refusal)] * 8
    with pytest.raises(Unavailable, match=rf"OpenAI at 127\.0\.0\.1 failed .status {status}") as error:
        await embedder.embed_query("four")
    assert KEY not in error.value.detail + error.value.remedy
    with pytest.raises(Unavailable):
        await embedder.embed_texts(["four"])


@pytest.mark.parametrize(
    "body",
    [
        b"<html>not json</html>",
        b"{",
        b"{}",
        b"[]",
        b'{"data": []}',
        b'{"data": [{}]}',
        b'{"data": [{"embedding": null}]}',
        b'{"data": [{"embedding": [null, 1]}]}',
        b'{"data": [{"embedding": ["a"]}]}',
        b'{"data": [{"embedding": [0, 0]}]}',
    ],
)
async def test_garbage_from_the_server_is_refused(body: bytes, service: Service, embedder: Embedder) -> None:
    service.script = [(200, body)] * 8
    with pytest.raises(SubstrateError) as error:
        await embedder.embed_query("four")
    assert isinstance(error.value, Unavailable | Fault)
    assert "127.0.0.1" in error.value.detail


async def test_a_refused_connection_is_unavailable(service: Service) -> None:
    closed = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    address = f"http://user:{KEY}@127.0.0.1:{closed.server_port}/v1"
    closed.server_close()
    embedder = open_embedder(settings(address))
    with pytest.raises(Unavailable, match="APIConnectionError") as error:
        await embedder.embed_query("four")
    assert KEY not in error.value.detail
    await embedder.aclose()
