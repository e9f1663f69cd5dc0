"""What HTTP itself offers: tags and conditions, compression, timing, limits, origins, once-only sending."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.security.rate_limits import RateLimits, request_cost
from schemas.errors import RateLimited, Unavailable
from schemas.settings import AuthSettings, Settings
from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.test_rest import revise, seen
from tests.builders import LINK_METADATA


def test_a_memory_that_is_had_already_is_not_sent_again(service: Service, citizen: str) -> None:
    service.remember(citizen, id="m", name="n")
    first = seen(service, citizen, "m")
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "private, no-cache"
    address = f"/v1/memories/N1/m?citizen_id={citizen}"
    for said in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = service.http.get(address, headers={"If-None-Match": said})
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", tag)
    assert service.http.get(address, headers={"If-None-Match": '"other"'}).status_code == 200
    revise(service, citizen, "m", "supersede", description="changed")
    changed = service.http.get(address, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["description"]) == (200, "changed")


def test_one_memory_and_one_link_tell_what_time_has_left_of_their_energy(service: Service, citizen: str) -> None:
    for name in ("m", "n"):
        service.remember(citizen, id=name, name=name, energy=0.8, valid_at="2026-01-01T00:00:00Z")
    link = {"source_id": "m", "target_id": "n", "relation": "NEXT", **LINK_METADATA}
    sent = {"citizen_id": citizen, **link, "energy": 0.8, "valid_at": "2026-01-01T00:00:00Z"}
    service.http.post("/v1/links", json=sent).raise_for_status()
    for kind, name in (("memories", "m"), ("links", "m|NEXT|n")):
        listed = service.http.get(f"/v1/{kind}", params={"citizen_id": citizen}).json()[kind]
        answer = service.http.get(f"/v1/{kind}/N1/{name}", params={"citizen_id": citizen})
        assert 0 < answer.json()["effective_energy"] < 0.8
        assert answer.json()["effective_energy"] == pytest.approx(listed[0]["effective_energy"], abs=0.001)
        moment = {"as_of_time": "2026-01-01T00:00:00Z", "known_at": datetime.now(UTC).isoformat()}
        then = service.http.get(f"/v1/{kind}/N1/{name}", params={"citizen_id": citizen, **moment})
        assert then.json()["effective_energy"] == 0.8


@pytest.mark.parametrize("how", ["supersede", "correct", "retract"])
def test_a_revision_under_if_match_undoes_no_change_unseen(service: Service, citizen: str, how: str) -> None:
    service.remember(citizen, id="m", name="n")
    service.remember(citizen, id="other", name="n")
    tag, other = (seen(service, citizen, one).headers["ETag"] for one in ("m", "other"))
    body: dict[str, Any] = {"citizen_id": citizen, "command_id": "once"} | (
        {} if how == "retract" else {"name": "new"}
    )

    def send(if_match: str) -> httpx.Response:
        return service.http.post(f"/v1/memories/N1/m/{how}", json=body, headers={"If-Match": if_match})

    for wrong in (other, f"W/{tag}", '"1"', "nonsense", f"{tag}, {other}"):
        assert problem_in(send(wrong), 412)["type"] == "/problems/precondition-failed"
    assert send(tag).status_code == 200
    assert send(tag).json()["duplicate"] is True
    body["command_id"] = "twice"
    problem_in(send(tag), 412)


def test_a_tag_just_read_is_met_by_a_command_that_leaves_its_level_out(service: Service, citizen: str) -> None:
    service.remember(citizen, id="m", name="n")
    condition = {"If-Match": seen(service, citizen, "m").headers["ETag"]}
    command = {"command": "correct", "citizen_id": citizen, "id": "m", "name": "new"}
    answer = service.http.post("/v1/commands", json=command, headers=condition)
    assert answer.status_code == 201, answer.text
    assert service.http.post("/v1/commands", json=command, headers=condition).status_code == 412


@pytest.mark.parametrize("reader_is_named", [True, False])
def test_a_tag_of_a_shared_memory_is_the_same_for_everybody(
    service: Service, citizen: str, reader_is_named: bool
) -> None:
    shared = f"shared_{citizen}_{reader_is_named}"
    told = service.http.post("/v1/memories", json={"level": "N3", "id": shared, "name": "n"})
    assert told.status_code == 201, told.text
    reader, writer = ({"citizen_id": citizen}, {}) if reader_is_named else ({}, {"citizen_id": citizen})
    address = f"/v1/memories/N3/{shared}"
    condition = {"If-Match": service.http.get(address, params=reader).headers["ETag"]}
    answer = service.http.post(f"{address}/correct", json={"name": "new", **writer}, headers=condition)
    assert answer.status_code == 200, answer.text


def test_an_idempotency_key_is_applied_once_for_one_and_for_each_of_a_list(service: Service, citizen: str) -> None:
    body = {"citizen_id": citizen, "id": "m", "name": "n"}
    headers = {"Idempotency-Key": f"key of {citizen}"}
    first, again = (service.http.post("/v1/memories", json=body, headers=headers).json() for _ in range(2))
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert {**again, "duplicate": False} == first
    other = service.http.post("/v1/memories", json={**body, "name": "other"}, headers=headers)
    assert problem_in(other, 409)["type"] == "/problems/conflict"
    many = [{"citizen_id": citizen, "id": f"m{n}", "name": "n"} for n in range(3)]
    sent = [service.http.post("/v1/memories", json=many, headers=headers).json()["receipts"] for _ in range(2)]
    assert [[one["duplicate"] for one in receipts] for receipts in sent] == [[False] * 3, [True] * 3]


def test_a_stream_says_how_long_each_stage_took_and_is_compressed(service: Service, citizen: str) -> None:
    service.remember(citizen, id="m", name="n")
    answer = service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": "n"})
    timing = dict(part.split(";dur=") for part in answer.headers["Server-Timing"].split(", "))
    stages = {stage: f"{spent:g}" for stage, spent in answer.json()["stage_ms"].items()}
    assert timing == {**stages, "total": f"{answer.json()['retrieval_latency_ms']:g}"}
    assert answer.headers["Content-Encoding"] == "gzip"
    plain = service.http.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert "Content-Encoding" not in service.http.get("/health/live").headers


@asynccontextmanager
async def app_with(auth: AuthSettings) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application whose store is not open."""
    transport = httpx.ASGITransport(create_app(Settings(auth=auth)), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def test_pages_of_other_origins_may_call_only_when_they_are_named() -> None:
    asked = {"Origin": "https://mine.example", "Access-Control-Request-Method": "POST"}
    async with app_with(AuthSettings()) as client:
        refused = await client.options("/v1/retrieve", headers=asked)
        assert "access-control-allow-origin" not in refused.headers
    async with app_with(AuthSettings(cors_origins=("https://mine.example",))) as client:
        allowed = await client.options("/v1/retrieve", headers=asked)
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, asked["Origin"])
        other = await client.options("/v1/retrieve", headers={**asked, "Origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers
        called = await client.get("/health/live", headers={"Origin": "https://mine.example"})
        assert "credentials" not in str(called.headers).lower()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 422),
        ("localhost:8000", 422),
        ("127.0.0.1:1", 422),
        ("[::1]:8000", 422),
        ("evil.example", 403),
    ],
)
async def test_an_open_service_answers_only_to_names_of_this_machine(host: str, status: int) -> None:
    async with app_with(AuthSettings(open=True)) as client:
        answer = await client.post("/v1/validation/link", json=[], headers={"Host": host})
        assert answer.status_code == status
        assert (await client.get("/health/live")).json()["open"] is True


async def test_before_the_store_is_open_no_key_can_be_checked() -> None:
    async with app_with(AuthSettings()) as client:
        answer = await client.get("/v1/keys", headers={"X-API-Key": "sk-a-b"})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")


async def test_a_key_over_its_rate_limit_is_refused_with_the_time_to_wait() -> None:
    rates = RateLimits(AuthSettings(rate_limit="3/hour"))
    left = [await rates.count("a") for _ in range(3)]
    assert [one["RateLimit"].split(";")[1] for one in left] == ["r=2", "r=1", "r=0"]
    assert left[0]["RateLimit-Policy"] == '"key";q=3;w=3600'
    with pytest.raises(RateLimited) as refused:
        await rates.count("a")
    assert 3590 <= refused.value.retry_after <= 3600
    assert await rates.count("b")
    assert await RateLimits(AuthSettings(rate_limit="off")).count("a") == {}


async def test_a_dear_request_counts_as_several() -> None:
    costs = {
        ("POST", "/v1/retrieve"): 4,
        ("POST", "/v1/wake"): 4,
        ("GET", "/v1/citizens/ada/identity"): 4,
        ("GET", "/v1/citizens/ada/export"): 40,
        ("GET", "/v1/citizens/ada/state"): 1,
        ("GET", "/v1/memories/N1/export"): 1,
        ("POST", "/v1/memories"): 1,
    }
    assert {asked: request_cost(*asked) for asked in costs} == costs
    rates = RateLimits(AuthSettings(rate_limit="9/hour"))
    left = [(await rates.count("a", 4))["RateLimit"].split(";")[1] for _ in range(2)]
    assert left == ["r=5", "r=1"]
    with pytest.raises(RateLimited):
        await rates.count("a", 4)
    assert (await rates.count("a", 1))["RateLimit"].split(";")[1] == "r=0", "a cheap one still goes"
    assert (await rates.count("b", 40))["RateLimit"].split(";")[1] == "r=0", "no request is dearer than the limit"


async def test_without_the_redis_that_counts_nothing_is_let_through() -> None:
    with pytest.raises(Unavailable):
        await RateLimits(AuthSettings.model_validate({"rate_limit_url": "redis://127.0.0.1:1"})).count("a")


@pytest.mark.parametrize("condition", ["*", '"1-00000000-0000000000000000"', "nonsense"])
def test_a_condition_on_what_no_version_guards_is_refused_and_nothing_is_done(
    service: Service, citizen: str, condition: str
) -> None:
    service.remember(citizen, id="m", name="n")
    memory = {"citizen_id": citizen, "id": "new", "name": "new"}
    link: dict[str, Any] = {
        "citizen_id": citizen,
        "source_id": "m",
        "target_id": "m",
        "relation_type": "NEXT",
        "goal": "g",
    }
    link |= {"mindstate": "m", "energy": 0.5, "confidence": 0.5, "emotion_vector": {}}
    for path, body in (
        ("memories", memory),
        ("links", link),
        ("commands", {**memory, "command": "remember"}),
        ("memories/N1/m/erase", {"citizen_id": citizen}),
    ):
        answer = service.http.post(f"/v1/{path}", json=body, headers={"If-Match": condition})
        problem = problem_in(answer, 422)
        assert "If-Match" in problem["faults"][0]
    listed = service.http.get("/v1/memories", params={"citizen_id": citizen}).json()["memories"]
    assert [one["node_id"] for one in listed] == ["m"]
    assert service.http.get("/v1/links", params={"citizen_id": citizen}).json()["links"] == []
