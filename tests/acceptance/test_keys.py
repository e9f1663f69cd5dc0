"""Keys over HTTP: what is refused and how, that a revoked key is refused at once, and what is written down."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from redis import Redis

from api.security.authentication import make_key
from schemas.keys import KeyRequest
from substrate.engine.unix_socket import socket_path
from substrate.store.api_keys import KEYS
from tests.acceptance.conftest import ADMIN_KEY, Service, problem_in
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]


def id_of(key: str) -> str:
    return key.split("-")[1]


def use(service: Service, key: str | None) -> httpx.Response:
    with service.client(key) as http:
        return http.post("/v1/validation/link", json={})


def expired(service: Service) -> str:
    """A key that counted until 1970."""
    request = KeyRequest(name="old", scopes=("admin",), expires_at=datetime(1970, 1, 1, tzinfo=UTC))
    shown, record = make_key(request, "old1", 0)
    with Redis(unix_socket_path=str(socket_path(service.data))) as engine:
        engine.hset(KEYS, record.id, record.model_dump_json())
    return shown.key


def test_every_key_that_does_not_count_gets_the_same_answer(service: Service) -> None:
    good = service.key("admin")
    revoked = service.key("admin")
    assert service.http.delete(f"/v1/keys/{id_of(revoked)}").status_code == 200
    bad = [
        "wrong", "sk-", "sk--", f"sk-{id_of(good)}-", good[:-1], f"{good}x", good.upper(), f"p{good}",
        f"sk-first-{good}", ADMIN_KEY[:-1], "a.b.c", "x" * 5000, f"sk-{'x' * 5000}-y", "sk-é-x",
        revoked, expired(service),
    ]  # fmt: skip
    with service.unchanged(), service.client(None) as http:
        answers = [
            http.post("/v1/memories", json={}, headers=[(b"Authorization", f"Bearer {key}".encode())])
            for key in bad
        ]
    assert use(service, good).status_code == 200
    for answer in answers:
        problem_in(answer, 401)
    assert len({answer.text for answer in answers}) == 1
    assert {answer.headers["WWW-Authenticate"] for answer in answers} == {
        'Bearer realm="substrate", error="invalid_token"'
    }


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, "there is no key"),
        ({"Authorization": "Basic YTpi"}, "must be Bearer"),
        ({"Authorization": f"Token {ADMIN_KEY}"}, "must be Bearer"),
        ({"Authorization": "Bearer"}, "there is no key"),
        ({"Cookie": f"key={ADMIN_KEY}"}, "there is no key"),
    ],
)
def test_a_key_elsewhere_or_of_another_scheme_is_none(
    service: Service, headers: dict[str, str], words: str
) -> None:
    with service.client(None) as http:
        said = problem_in(http.get(f"/v1/keys?api_key={ADMIN_KEY}", headers=headers), 401)
    assert words in said["detail"]
    assert said["remedy"]


def test_an_unknown_address_reveals_nothing_without_a_key(service: Service) -> None:
    with service.client(None) as http:
        said = problem_in(http.get("/v1/nothing"), 401)
        assert "/docs" not in said["detail"]
        assert http.get("/health/live").json() == {"status": "alive", "open": False}
        assert http.get("/health/ready").json()["graphs"] is None
    assert isinstance(service.http.get("/health/ready").json()["graphs"], int)


def test_a_key_is_shown_once_and_listed_without_itself(service: Service) -> None:
    until = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    body = {"name": "of Ada", "scopes": ["citizen:ada:read"], "expires_at": until}
    answer = service.http.post("/v1/keys", json=body)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    made = answer.json()
    assert use(service, made["key"]).status_code == 200
    listed = service.http.get("/v1/keys")
    secret = made["key"].rpartition(f"{made['id']}-")[2]
    assert secret not in listed.text
    assert "hash" not in listed.text
    [found] = [key for key in listed.json()["keys"] if key["id"] == made["id"]]
    assert (found["name"], found["scopes"], found["revoked_at"]) == ("of Ada", ["citizen:ada:read"], None)
    with Redis(unix_socket_path=str(socket_path(service.data)), decode_responses=True) as engine:
        assert secret not in str(engine.hgetall(KEYS))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"name": "n", "scopes": []}, "scopes: "),
        ({"name": "n"}, "scopes: "),
        ({"name": " ", "scopes": ["admin"]}, "name: "),
        ({"name": "n", "scopes": ["N1:read"]}, "a scope is citizen:ID"),
        ({"name": "n", "scopes": ["citizen:ada:read; admin"]}, "a scope is citizen:ID"),
        ({"name": "n", "scopes": ["admin"], "expires_at": "2020-01-01T00:00:00Z"}, "expires_at: lies in the past"),
        ({"name": "n", "scopes": ["admin"], "key": "sk-my-own"}, "key: Extra inputs"),
    ],
)
def test_a_key_that_makes_no_sense_is_not_made(service: Service, body: dict[str, object], words: str) -> None:
    before = service.http.get("/v1/keys").json()
    said = problem_in(service.http.post("/v1/keys", json=body), 422)
    assert any(words in fault for fault in (*said["faults"], said["detail"]))
    assert [key["id"] for key in service.http.get("/v1/keys").json()["keys"]] == [k["id"] for k in before["keys"]]


def test_a_revoked_key_is_refused_at_once_and_stays_listed(service: Service) -> None:
    key = service.key("admin")
    assert use(service, key).status_code == 200
    first = service.http.delete(f"/v1/keys/{id_of(key)}").json()
    assert use(service, key).status_code == 401
    assert service.http.delete(f"/v1/keys/{id_of(key)}").json()["revoked_at"] == first["revoked_at"]
    problem_in(service.http.delete("/v1/keys/nosuchkey"), 404)


def test_keys_made_and_revoked_on_the_command_line_count_in_a_running_service(service: Service) -> None:
    program = [sys.executable, "-m", "api.cli", "--data", str(service.data), "keys"]

    def keys(*words: str) -> str:
        return subprocess.run([*program, *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    key = keys("create", "of the command line", "--scope", "admin", "--days", "1").strip()
    assert use(service, key).status_code == 200
    assert key not in keys("list")
    keys("revoke", id_of(key))
    wait_until(lambda: use(service, key).status_code == 401)
    assert use(service, key).status_code == 401


def test_only_an_administrator_makes_keys(service: Service) -> None:
    with service.client(service.key("citizen:*:*", "N2:*", "N3:*", "upkeep")) as http:
        said = problem_in(http.post("/v1/keys", json={"name": "n", "scopes": ["admin"]}), 403)
        assert said["detail"] == "this needs the scope admin"
        problem_in(http.get("/v1/keys"), 403)
        problem_in(http.delete("/v1/keys/first"), 403)


def test_upkeep_needs_its_scope_and_that_of_the_graph(service: Service, citizen: str) -> None:
    service.remember(citizen, id="m", name="n")
    body = {"citizen_id": citizen}
    with service.client(service.key(f"citizen:{citizen}:*")) as http:
        assert problem_in(http.post("/v1/upkeep/sweep", json=body), 403)["detail"].endswith("upkeep")
    with service.client(service.key("upkeep")) as http:
        problem_in(http.post("/v1/upkeep/sweep", json=body), 404)
        problem_in(http.post("/v1/upkeep/sweep", json={}), 403)
    with service.client(service.key("upkeep", f"citizen:{citizen}:read")) as http:
        reports = http.post("/v1/upkeep/sweep", json=body).json()["reports"]
        assert [report["level"] for report in reports] == ["N1"]


def test_an_answer_carries_an_id_and_what_protects_a_page(service: Service) -> None:
    answer = service.http.get("/v1/keys", headers={"X-Request-Id": "of-the-test.1"})
    assert answer.headers["X-Request-Id"] == "of-the-test.1"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    forged = service.http.get("/v1/keys", headers={"X-Request-Id": 'a"b {}'})
    assert len(forged.headers["X-Request-Id"]) == 32
