"""A model on loopback that says "Noted." in the protocols that hosts speak, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "Noted."


class Model:
    """Where it listens, and the bodies that it was sent."""

    def __init__(self, url: str) -> None:
        self.url, self.asked = url, list[str]()

    def told(self, text: str) -> list[str]:
        """The requests in which this text stands."""
        return [body for body in self.asked if text in body]


def events(path: str) -> list[tuple[str, dict[str, Any]]]:
    """The answer to a request to this path: the names of its events, and their data."""
    if path.startswith("/v1/messages"):
        head: dict[str, Any] = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [],
            "stop_reason": None,
        }
        usage = {"input_tokens": 1, "output_tokens": 1}
        return [
            ("message_start", {"message": {**head, "usage": usage}}),
            ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
            ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": ANSWER}}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": usage}),
            ("message_stop", {}),
        ]
    if path.endswith("/responses"):
        item = {
            "type": "message",
            "id": "i1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
        }
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        done = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        return [
            ("response.created", {"response": {**done, "status": "in_progress", "output": []}}),
            ("response.output_item.added", {"output_index": 0, "item": {**item, "content": []}}),
            (
                "response.output_text.delta",
                {"item_id": "i1", "output_index": 0, "content_index": 0, "delta": ANSWER},
            ),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": done}),
        ]
    if "enerateContent" in path:
        content = {"role": "model", "parts": [{"text": ANSWER}]}
        counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return [("", {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": counts})]
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    said = {"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return [("", {**chunk, "choices": [said]}), ("", {**chunk, "choices": [end], "usage": usage})]


def whole(path: str) -> dict[str, Any]:
    """The same answer in one piece."""
    if path.startswith("/v1/messages"):
        usage = {"input_tokens": 1, "output_tokens": 1}
        content = [{"type": "text", "text": ANSWER}]
        head: dict[str, Any] = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "end_turn",
        }
        return {**head, "content": content, "usage": usage}
    if path.endswith("/responses"):
        response: dict[str, Any] = events(path)[-1][1]["response"]
        return response
    if "enerateContent" in path:
        return events(path)[0][1]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    said = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [said], "usage": usage}


@contextmanager
def served_model() -> Iterator[Model]:
    """The model while it listens."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("application/json", json.dumps({"object": "list", "data": [{"id": "m"}]}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            path = self.path.partition("?")[0]
            if "count" not in path:
                model.asked.append(json.dumps(json.loads(body or "{}"), ensure_ascii=False))
            if "count" in path:
                self._answer("application/json", '{"input_tokens": 1, "totalTokens": 1}')
            elif '"stream":true' in body.replace(" ", "") or "streamGenerate" in path:
                lines = [
                    (f"event: {name}\n" if name else "")
                    + "data: "
                    + json.dumps({"type": name, **data} if name else data)
                    for name, data in events(path)
                ]
                end = ["data: [DONE]"] if path.endswith("/chat/completions") else []
                self._answer("text/event-stream", "\n\n".join([*lines, *end]) + "\n\n")
            else:
                self._answer("application/json", json.dumps(whole(path)))

        def _answer(self, kind: str, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = Model(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
