"""An OpenAI-compatible language model on loopback that says what a test has written for it, or misbehaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any

from pydantic import SecretStr

from schemas.settings import LanguageModelSettings
from tests.loopback import serving

KEY = "sk-only-for-this-test"
SENT, ANSWERED = 120, 8
"""The tokens that every answer reports."""


class ScriptedModel(ThreadingHTTPServer):
    """Answers come from `script` first, then from `otherwise`; each is a text, or a status with its body.

    `silent` answers never until it is stopped.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[str | tuple[int, bytes]] = []
        self.otherwise: Callable[[dict[str, Any]], str] = lambda asked: "{}"
        self.requests: list[dict[str, Any]] = []
        self.headers: dict[str, str] = {"retry-after-ms": "1"}
        self.silent = False
        self.ended = Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/proxy/v1"

    def settings(self, **fields: Any) -> LanguageModelSettings:
        """Settings that choose this model."""
        address = {"openai_api_key": SecretStr(KEY), "openai_base_url": self.address}
        return LanguageModelSettings(**{"llm": "openai:scripted", **address, **fields})

    def says(self, value: Any) -> None:
        """From now on the answer is this value as JSON."""
        self.otherwise = lambda asked: json.dumps(value)


def document(asked: dict[str, Any]) -> Any:
    """The JSON document of the last user's message of a request."""
    return json.loads([one["content"] for one in asked["messages"] if one["role"] == "user"][-1])


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({**asked, "path": self.path, "authorization": self.headers["Authorization"]})
        if self.server.silent:
            self.server.ended.wait()
            return
        said = self.server.script.pop(0) if self.server.script else self.server.otherwise(asked)
        status, body = said if isinstance(said, tuple) else (200, _completion(asked, said))
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **self.server.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def _completion(asked: dict[str, Any], text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": SENT, "completion_tokens": ANSWERED, "total_tokens": SENT + ANSWERED}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    said = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"], "usage": usage}
    return json.dumps({**said, "choices": choices}).encode()


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """The model, for as long as it is needed."""
    with serving(ScriptedModel()) as server:
        try:
            yield server
        finally:
            server.ended.set()
