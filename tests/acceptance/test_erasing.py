"""Erasing as its users meet it: over HTTP, and from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from api.cli import program
from tests.acceptance.conftest import Service


def test_a_memory_is_erased_over_http(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a/b", name="A secret")
    service.remember(citizen, id="c", name="Another")
    service.relate(citizen, ("a/b", "NEXT", "c"))
    with service.unchanged():
        assert service.http.post("/v1/memories/N1/a/b/erase", json={}).status_code == 422
        assert service.http.post("/v1/memories/N1/none/erase", json={"citizen_id": citizen}).status_code == 404
        assert (
            service.http.post("/v1/memories/N1/c/erase", json={"citizen_id": citizen, "id": "c"}).status_code
            == 422
        )

    answer = service.http.post(
        "/v1/memories/N1/a/b/erase", json={"citizen_id": citizen}, headers={"Idempotency-Key": f"e-{citizen}"}
    )

    assert answer.status_code == 200, answer.text
    report = answer.json()
    assert (report["removed"]["memories"], report["removed"]["links"], report["log_rewritten"]) == (1, 1, True)
    assert service.http.get("/v1/memories/N1/a/b", params={"citizen_id": citizen}).status_code == 404
    late = service.http.post("/v1/memories/N1/a/b/correct", json={"citizen_id": citizen, "goal": "late"})
    assert late.status_code == 404
    again = service.http.post(
        "/v1/memories/N1/a/b/erase", json={"citizen_id": citizen, "command_id": f"e-{citizen}"}
    )
    assert again.json()["duplicate"]
    reused = service.http.post(
        "/v1/memories/N1/c/erase", json={"citizen_id": citizen, "command_id": f"e-{citizen}"}
    )
    assert reused.status_code == 409


def test_an_erasure_has_a_receipt_that_says_nothing_of_what_is_gone(service: Service, citizen: str) -> None:
    def receipt(command_id: str) -> Any:
        return service.http.get(f"/v1/receipts/{command_id}", params={"citizen_id": citizen})

    service.remember(citizen, id="a", name="A secret")
    assert receipt("gone").status_code == 404
    report = service.http.post(
        "/v1/memories/N1/a/erase", json={"citizen_id": citizen, "command_id": "gone"}
    ).json()
    told = receipt("gone").json()
    assert (told["command"], told["status"], told["id"], told["warnings"]) == ("erase", "stored", None, [])
    assert (told["created_at"], told["level"]) == (report["erased_at"], "N1")
    asked = {"command_id": "all gone"}
    assert service.http.delete(f"/v1/citizens/{citizen}", params=asked).status_code == 200
    assert receipt("all gone").json()["command"] == "erase"
    assert receipt("other").status_code == 404


def test_an_episode_and_then_the_citizen_are_erased_over_http(service: Service, citizen: str) -> None:
    talk = {"citizen_id": citizen, "episode_id": "a talk", "messages": [{"role": "ann", "content": "Hello."}]}
    assert service.http.post("/v1/episodes", json=talk).status_code == 200
    assert service.http.delete("/v1/episodes/a talk").status_code == 422
    gone = service.http.delete("/v1/episodes/a talk", params={"citizen_id": citizen}).json()
    assert gone["removed"]["memories"] == 3
    assert service.http.delete("/v1/episodes/a talk", params={"citizen_id": citizen}).status_code == 404

    service.remember(citizen, id="m", name="What is left")
    assert service.http.delete(f"/v1/citizens/{citizen}").json()["erased"] == "citizen"
    assert f"citizen_{citizen}" not in service.contents()
    assert service.http.delete(f"/v1/citizens/{citizen}").status_code == 404
    assert service.remember(citizen, id="m", name="A new life")["version"] == 1


def test_the_command_line_asks_before_it_erases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def substrate(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            program.main(["--data", str(tmp_path / "data"), *words])
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err

    substrate("remember", "A thing", "--citizen", "ada")
    asked: list[str] = []

    def no(said: str, **_: object) -> bool:
        asked.append(said)
        raise typer.Abort

    monkeypatch.setattr(typer, "confirm", no)
    assert substrate("erase", "--citizen", "ada") == (130, "")
    assert asked == ["Remove everything that ada remembers for good?"]
    assert substrate("erase", "-c", "ada", "--memory", "none", "--yes")[0] == 4
    assert substrate("erase", "-c", "ada", "--memory", "m", "--episode", "e", "--yes")[0] == 2
    assert substrate("erase", "--yes")[0] == 2
    code, said = substrate("erase", "--citizen", "ada", "--yes")
    assert (code, said) == (0, "removed 1 memory, 1 trace, 1 receipt; the log was rewritten\n")
    assert substrate("erase", "--citizen", "ada", "--yes")[0] == 4
