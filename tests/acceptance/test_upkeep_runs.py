"""Runs of upkeep over REST and the command line: who may order them, what they show, how they are taken back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import orjson
import pytest

from api.cli import program
from api.cli import upkeep as command
from api.client import Substrate
from api.routes import upkeep as upkeep_runs
from api.runtime import idle_upkeep
from orchestration.upkeep.job import JobContext
from schemas.commands import Command, Remember
from schemas.upkeep.runs import RunsAnswer
from tests.acceptance.conftest import Service
from tests.engine_processes import held_engine
from tests.upkeep_jobs import PagedJob


def make_one(context: JobContext) -> list[Command]:
    return [Remember(citizen_id=context.citizen_id, id="made", name="What was made")]


@pytest.fixture
def one_job(monkeypatch: pytest.MonkeyPatch) -> PagedJob:
    job = PagedJob([make_one])
    for module in (idle_upkeep, upkeep_runs, command):
        monkeypatch.setattr(module, "JOBS", (job,))
    return job


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Substrate]:
    with Substrate.embedded(tmp_path_factory.mktemp("embedded"), embedding="none") as client:
        yield client


def test_a_run_is_shown_first_then_done_seen_in_history_and_taken_back(
    embedded: Substrate, one_job: PagedJob
) -> None:
    embedded.remember(citizen_id="ada", id="a", name="Ada")
    [shown] = embedded.run_upkeep(citizen_id="ada", dry_run=True).runs
    assert (shown.dry_run, shown.changed, shown.shown) == (True, 1, ("remember made",))
    assert embedded.upkeep_runs().runs == ()
    [done] = embedded.run_upkeep(citizen_id="ada").runs
    assert (done.job, done.status, done.changed) == (one_job.name, "done", 1)
    [record] = embedded.history("made", citizen_id="ada").records
    assert (record.source, record.run, record.closed_run) == ("upkeep", done.id, None)
    [own] = embedded.history("a", citizen_id="ada").records
    assert own.run is None
    undone = embedded.undo_upkeep(done.id)
    assert (undone.status, undone.undone) == ("undone", 1)
    [record] = embedded.history("made", citizen_id="ada").records
    assert (record.run, record.closed_run) == (done.id, done.id)
    assert "made" not in {memory.node_id for memory in embedded.list_memories(citizen_id="ada").memories}
    answer = embedded.upkeep_runs(citizen_id="ada")
    assert [run.status for run in answer.runs] == ["undone"]
    assert [(job.name, job.runs, job.undoable) for job in answer.jobs] == [(one_job.name, True, True)]


def substrate(directory: Path, *arguments: str) -> int:
    return program._run(["--data", str(directory), *arguments])


def test_the_command_line_shows_runs_and_takes_back(
    tmp_path: Path, one_job: PagedJob, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUBSTRATE_EMBEDDING", "none")
    with held_engine(tmp_path):
        _run_and_take_back(tmp_path, capsys)


def _run_and_take_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert substrate(tmp_path, "remember", "Ada", "-c", "ada") == 0
    assert substrate(tmp_path, "upkeep", "run", "-c", "ada", "--dry-run") == 0
    assert "remember made" in capsys.readouterr().out
    assert substrate(tmp_path, "upkeep", "run", "-c", "ada", "--json") == 0
    answer = RunsAnswer.model_validate(orjson.loads(capsys.readouterr().out))
    run_id = answer.runs[0].id
    assert substrate(tmp_path, "history", "made", "-c", "ada", "--json") == 0
    assert [record["run"] for record in orjson.loads(capsys.readouterr().out)] == [run_id]
    assert substrate(tmp_path, "upkeep", "undo", run_id) == 0
    assert "1 change of" in capsys.readouterr().out
    assert substrate(tmp_path, "upkeep", "status") == 0
    assert "undone" in capsys.readouterr().out
    assert substrate(tmp_path, "upkeep", "undo", "run-none") == program.EXIT_NOT_FOUND
    assert substrate(tmp_path, "upkeep", "run", "--job", "mirror") == program.EXIT_USAGE
    assert substrate(tmp_path, "upkeep", "set", "-c", "ada", "--mode", "off") == 0
    assert capsys.readouterr().out.endswith("ada: off\n")


def status_of(http: httpx.Client, method: str, path: str, **sent: Any) -> int:
    return http.request(method, path, **sent).status_code


def test_a_key_of_a_citizen_reaches_the_upkeep_of_this_citizen_alone(service: Service) -> None:
    ada, bob = (f"t{uuid4().hex}" for _ in range(2))
    for citizen in (ada, bob):
        service.http.post("/v1/memories", json={"citizen_id": citizen, "name": "x"}).raise_for_status()
    scopes = [f"citizen:{ada}:read", f"citizen:{ada}:write"]
    with service.client(service.key(*scopes)) as both, service.client(service.key(scopes[0])) as reading:
        assert status_of(reading, "GET", "/v1/upkeep/runs") == 403
        assert status_of(reading, "GET", "/v1/upkeep/runs", params={"citizen_id": ada, "limit": 5}) == 200
        assert status_of(reading, "GET", "/v1/upkeep/runs", params={"citizen_id": bob}) == 404
        assert status_of(reading, "GET", f"/v1/upkeep/runs/run-{'0' * 12}-{'0' * 12}") == 404
        assert status_of(reading, "POST", "/v1/upkeep/run", json={"citizen_id": ada, "dry_run": True}) == 403
        assert status_of(both, "POST", "/v1/upkeep/run", json={"citizen_id": ada, "dry_run": True}) == 200
        assert status_of(both, "POST", "/v1/upkeep/run", json={"citizen_id": bob, "dry_run": True}) == 404
        assert status_of(both, "POST", "/v1/upkeep/run", json={"citizen_id": ada, "levels": ["N2"]}) == 403
        assert status_of(both, "POST", "/v1/upkeep/run", json={}) == 403
        assert status_of(both, "POST", "/v1/upkeep/run", json={"citizen_id": ada, "jobs": ["erasure"]}) == 403
        assert status_of(both, "PUT", f"/v1/citizens/{ada}/upkeep", json={"jobs": ["erasure"]}) == 403
        assert status_of(both, "PUT", f"/v1/citizens/{ada}/upkeep", json={"mode": "off"}) == 200
        assert status_of(reading, "PUT", f"/v1/citizens/{ada}/upkeep", json={"mode": "off"}) == 403
        assert status_of(both, "PUT", f"/v1/citizens/{bob}/upkeep", json={"mode": "off"}) == 404
