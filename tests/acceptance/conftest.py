"""The service as its users meet it: a process of its own, over HTTP on loopback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from redis import Redis

from api.client import Substrate
from substrate.engine.unix_socket import socket_path
from substrate.inference.embeddings import Embedder
from tests.conftest import MEASURE
from tests.loopback import free_port

SERVE = """
import sys, uvicorn
from pathlib import Path
from api.service import create_service
from schemas.settings import AuthSettings, EmbeddingSettings, Settings, StoreSettings, UpkeepSettings
settings = Settings(
    upkeep=UpkeepSettings(upkeep="off"),
    store=StoreSettings(data=Path(sys.argv[2]), url=None, host=None),
    embedding=EmbeddingSettings(embedding=sys.argv[3]),
    auth=AuthSettings(
        admin_key=sys.argv[4] or None, open=not sys.argv[4], rate_limit="off", wrong_key_limit="off"
    ),
)
uvicorn.run(create_service(settings), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", ws="none")
"""
ADMIN_KEY = "sk-of-the-tests-0123456789abcdef"
START_LIMIT_S = 300.0


class Service:
    """A running service, its client with an administrator's key, and a direct look at its engine.

    With an empty `key` it is open. `before` is run in its process ahead of everything. With `measuring` it
    measures what of the code it runs.
    """

    before = ""

    def __init__(
        self, data: Path, embedding: str = "local", key: str = ADMIN_KEY, *, measuring: str | None = None
    ) -> None:
        self.data, self.embedding, self.key_given = data, embedding, key
        port = free_port()
        with pytest.MonkeyPatch.context() as environment:
            if measuring is not None:
                environment.setenv(MEASURE, measuring)
            self.process = subprocess.Popen(
                [sys.executable, "-c", self.before + SERVE, str(port), str(data), embedding, key],
                cwd=Path(__file__).parents[2],
            )
        self.url = f"http://127.0.0.1:{port}"
        self.http = self.client(ADMIN_KEY)
        self._wait()

    def client(self, key: str | None) -> httpx.Client:
        """A client with this key, or with none; the caller closes it."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.url, timeout=120, headers=headers)

    def key(self, *scopes: str, **fields: Any) -> str:
        """A new key with these scopes."""
        answer = self.http.post("/v1/keys", json={"name": "of a test", "scopes": scopes, **fields})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["key"])

    def _wait(self) -> None:
        give_up = time.monotonic() + START_LIMIT_S
        while time.monotonic() < give_up:
            assert self.process.poll() is None, "the service ended instead of starting"
            try:
                if self.http.get("/health/ready").status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.02)
        raise AssertionError("the service did not start")

    def stop(self) -> None:
        """End the service as Ctrl-C does."""
        self.http.close()
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(120) == 0

    def engine_pid(self) -> int:
        """The process of the embedded engine."""
        with Redis(unix_socket_path=str(socket_path(self.data))) as engine:
            return int(engine.info("server")["process_id"])

    def contents(self, *, notes: bool = False) -> dict[str, list[int]]:
        """How many nodes and links each graph has, asked of the engine.

        Notes of streams and what was inferred count only with `notes`: they are stored whenever a minute is over.
        """
        records = "MATCH (n) WHERE NOT n:StreamNote AND NOT n:LearningMoment AND NOT n:Event RETURN count(n)"
        nodes = "MATCH (n) RETURN count(n)" if notes else records
        with Redis(unix_socket_path=str(socket_path(self.data)), decode_responses=True) as engine:
            return {
                graph: [
                    int(engine.execute_command("GRAPH.RO_QUERY", graph, query)[1][0][0])
                    for query in (nodes, "MATCH ()-[e]->() RETURN count(e)")
                ]
                for graph in engine.execute_command("GRAPH.LIST")
            }

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """What happens inside changes nothing in any graph, and makes none."""
        before = self.contents()
        yield
        assert self.contents() == before

    def remember(self, citizen: str, **fields: Any) -> dict[str, Any]:
        """The receipt of a memory that must be stored."""
        answer = self.http.post("/v1/memories", json={"citizen_id": citizen, **fields})
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def relate(self, citizen: str, ends: tuple[str, str, str], **fields: Any) -> httpx.Response:
        """The answer to a link with all that is REQUIRED."""
        source, kind, target = ends
        felt = {
            "energy": 0.7,
            "confidence": 0.8,
            "emotion_vector": {"joy": 0.5},
            "goal": "g",
            "mindstate": "m",
        }
        body = {"citizen_id": citizen, "source_id": source, "target_id": target, "relation_type": kind}
        return self.http.post("/v1/links", json={**body, **felt, **fields})


def problem_in(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem of an answer, which must have this status and be small and complete."""
    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.content) < 4096
    said = dict(answer.json())
    assert said["status"] == status
    assert said["type"].startswith("/problems/")
    assert said["title"]
    assert said["detail"]
    return said


@pytest.fixture(scope="session", autouse=True)
def one_model(local_model: Embedder) -> None:
    """Commands that a test calls in this process share the model instead of loading one each."""


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory, measuring: str | None) -> Iterator[Service]:
    running = Service(tmp_path_factory.mktemp("store"), measuring=measuring)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def wordless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of the module's own, without a model: long texts made by chance would take it long."""
    running = Service(tmp_path_factory.mktemp("wordless"), "none")
    yield running
    running.stop()


@pytest.fixture
def client(service: Service) -> Iterator[Substrate]:
    """A client with the administrator's key."""
    with Substrate(service.url, ADMIN_KEY) as client:
        yield client


@pytest.fixture
def citizen() -> str:
    """A citizen whom nobody else has used."""
    return f"c{uuid4().hex[:12]}"
