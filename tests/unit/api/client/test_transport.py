"""What the client sends, and sends again: against a server that answers as it is told, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import pytest

from api.client import Substrate
from schemas.errors import Fault, Incorrect, InvalidRequest, NotFound, RateLimited, SubstrateError, Unavailable
from substrate_client.transport import read_connection


class Scripted:
    """A server on loopback that answers as it is told, one answer after another, and keeps what it was sent."""

    def __init__(self) -> None:
        self.script: list[tuple[int, dict[str, str], Any] | None] = []
        self.sent: list[tuple[str, Any]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Answering, self))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


class _Answering(BaseHTTPRequestHandler):
    def __init__(self, scripted: Scripted, *args: Any) -> None:
        self.scripted = scripted
        super().__init__(*args)

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.scripted.sent.append((f"{self.command} {self.path}", orjson.loads(body) if body else None))
        answer = self.scripted.script.pop(0)
        if answer is None:
            self.connection.close()  # the request arrived, its answer is lost
            return
        status, headers, said = answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(said if isinstance(said, bytes) else orjson.dumps(said))

    do_GET = do_POST = _answer  # noqa: N815  (the names that the server calls)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    server = Scripted()
    yield server
    server.server.shutdown()
    server.server.server_close()


BUSY = {"type": "/problems/unavailable", "detail": "busy"}
STORED = {"command_id": "c1", "command": "remember", "status": "stored", "duplicate": True}


def test_a_command_whose_answer_is_lost_is_sent_again_under_the_same_id(scripted: Scripted) -> None:
    scripted.script = [None, (503, {"Retry-After": "0"}, BUSY), (201, {}, STORED)]
    with Substrate(scripted.url) as client:
        assert client.remember(citizen_id="ada", name="x").duplicate
    assert len(scripted.sent) == 3
    assert len({body["command_id"] for _, body in scripted.sent}) == 1


@pytest.mark.parametrize("lost", [None, (503, {"Retry-After": "0"}, BUSY)])
def test_a_request_that_must_not_happen_twice_is_not_sent_again(scripted: Scripted, lost: Any) -> None:
    with Substrate(scripted.url) as client:
        for send in (
            partial(client.create_key, name="x", scopes=["admin"]),
            partial(client.retrieve, citizen_id="ada", query_text="x", apply_feedback=True),
        ):
            scripted.script = [lost]
            with pytest.raises(Unavailable):
                send()
    assert len(scripted.sent) == 2


def test_a_limit_is_waited_for_whatever_the_call_and_not_beyond_patience(scripted: Scripted) -> None:
    limited = {"type": "/problems/rate-limited", "detail": "slowly"}
    key = {"id": "k", "name": "x", "scopes": [], "created_at": "2026-01-01T00:00:00Z", "key": "sk-k-x"}
    scripted.script = [
        (429, {"Retry-After": "1"}, limited),
        (201, {}, key),
        (429, {"Retry-After": "900"}, limited),
    ]
    with Substrate(scripted.url) as client:
        assert client.create_key(name="x", scopes=["admin"]).key == "sk-k-x"
        with pytest.raises(RateLimited) as refused:
            client.live()
    assert refused.value.retry_after == 900
    assert not scripted.script


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, {"type": "/problems/bad-request", "detail": "d"}, Incorrect),
        (404, b"<html>", NotFound),
        (413, {"type": "/problems/too-large", "detail": "d"}, Incorrect),
        (418, b"", Incorrect),
        (500, {"type": "/problems/fault", "detail": "d"}, SubstrateError),
        (500, [1], Fault),
        (502, b"bad gateway", Unavailable),
    ],
)
def test_answers_of_others_become_errors_of_ours(
    scripted: Scripted, status: int, said: Any, kind: type[SubstrateError]
) -> None:
    scripted.script = [(status, {}, said)]
    with Substrate(scripted.url) as client, pytest.raises(kind) as error:
        client.live()
    assert type(error.value) is kind


def test_an_empty_key_is_none_and_a_broken_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBSTRATE_API_KEY", " \n")
    assert read_connection(None, None)["headers"] == {}
    assert read_connection(None, " sk_1\n")["headers"] == {"Authorization": "Bearer sk_1"}
    with pytest.raises(InvalidRequest, match="no key has"):
        read_connection(None, "sk_1\nsk_2")
