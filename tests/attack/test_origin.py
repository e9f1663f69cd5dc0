"""Pages of other origins: a browser sends their requests, whatever key they have, and says whose they are."""

from __future__ import annotations

import pytest

from schemas.settings import AuthSettings
from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_rest_conditions import app_with

FOREIGN = [
    "https://evil.example", "null", "http://localhost", "http://localhost:1", "file://", "", "x",
    "http://127.0.0.1.evil.example", "http://evil.example@127.0.0.1",
]  # fmt: skip
ASKED = [
    ("GET", "/v1/keys"),
    ("POST", "/v1/memories"),
    ("DELETE", "/v1/keys/x"),
    ("POST", "/mcp"),
    ("GET", "/metrics"),
]


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize(("method", "path"), ASKED)
def test_a_page_of_another_origin_is_refused(service: Service, origin: str, method: str, path: str) -> None:
    with service.unchanged():
        body = {"level": "N3", "name": "planted"} if method == "POST" else None
        said = problem_in(service.http.request(method, path, headers={"Origin": origin}, json=body), 403)
    assert said["type"] == "/problems/foreign-origin"
    assert "SUBSTRATE_CORS_ORIGINS" in said["remedy"]


def test_two_origins_are_one_too_many(service: Service) -> None:
    headers = [("Origin", service.url), ("Origin", "https://evil.example")]
    problem_in(service.http.get("/v1/keys", headers=headers), 403)


def test_our_own_pages_and_programs_without_an_origin_may_call(service: Service) -> None:
    for headers in ({}, {"Origin": service.url}, {"Origin": service.url.upper()}):
        assert service.http.get("/v1/keys", headers=headers).status_code == 200
        assert service.http.post("/mcp", json={}, headers=headers).status_code == 400


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("memory.example.org", "https://memory.example.org"),
        ("memory.example.org:443", "https://memory.example.org"),
        ("memory.example.org:80", "http://memory.example.org"),
        ("[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_behind_a_proxy_the_name_that_was_called_is_our_own(service: Service, host: str, origin: str) -> None:
    assert service.http.get("/v1/keys", headers={"Host": host, "Origin": origin}).status_code == 200


@pytest.mark.parametrize("opened", [True, False])
async def test_a_page_whose_origin_is_set_may_call_and_no_other(opened: bool) -> None:
    async with app_with(AuthSettings(cors_origins=("https://mine.example",), open=opened)) as client:
        mine = await client.get("/v1/keys", headers={"Origin": "https://mine.example"})
        assert mine.status_code == 503
        other = await client.get("/v1/keys", headers={"Origin": "https://other.example"})
        assert other.status_code == 403
    async with app_with(AuthSettings(cors_origins=("*",), open=opened)) as client:
        anybody = await client.get("/v1/keys", headers={"Origin": "https://other.example"})
        assert anybody.status_code == 503


async def test_public_paths_may_be_called_from_any_origin(service: Service) -> None:
    for path in ("/health/live", "/openapi.json", "/docs"):
        assert service.http.get(path, headers={"Origin": "https://evil.example"}).status_code == 200
