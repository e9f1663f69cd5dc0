"""The engine killed while serving: told at once, started again, nothing acknowledged lost."""

from __future__ import annotations

import os
import signal
import time

import httpx

from tests.acceptance.conftest import Service


def kept(service: Service, citizen: str) -> httpx.Response:
    return service.http.get("/v1/memories/N1/kept", params={"citizen_id": citizen})


def test_a_killed_engine_is_told_started_again_and_has_lost_nothing(service: Service, citizen: str) -> None:
    service.remember(citizen, id="kept", name="acknowledged")
    os.kill(service.engine_pid(), signal.SIGKILL)
    first = kept(service, citizen)
    assert (first.status_code, first.json()["type"]) == (503, "/problems/unavailable")
    assert first.headers["content-type"] == "application/problem+json"
    assert int(first.headers["Retry-After"]) >= 1
    give_up = time.monotonic() + 5
    while (answer := kept(service, citizen)).status_code == 503 and time.monotonic() < give_up:
        time.sleep(0.05)
    assert (answer.status_code, answer.json()["name"]) == (200, "acknowledged")
    while (ready := service.http.get("/health/ready")).status_code == 503 and time.monotonic() < give_up + 15:
        time.sleep(0.05)
    assert ready.status_code == 200
    service.remember(citizen, name="and on it goes")


def test_a_question_to_a_killed_engine_is_answered_soon_after(service: Service, citizen: str) -> None:
    service.remember(citizen, name="acknowledged")
    asked = {"citizen_id": citizen, "query_text": "acknowledged"}
    os.kill(service.engine_pid(), signal.SIGKILL)
    assert service.http.post("/v1/retrieve", json=asked).status_code == 503
    give_up = time.monotonic() + 5
    while (answer := service.http.post("/v1/retrieve", json=asked)).status_code == 503:
        assert time.monotonic() < give_up
        time.sleep(0.05)
    assert answer.json()["activation_tiers"]["focus"][0]["name"] == "acknowledged"
    assert answer.json()["degraded"] == []
