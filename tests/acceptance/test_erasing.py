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


def test_an_id_that_erased_a_memory_does_not_say_that_another_is_gone(service: Service, citizen: str) -> None:
    for memory_id in ("a", "b"):
        service.remember(citizen, id=memory_id, name="A secret")
    sent = {"citizen_id": citizen, "command_id": f"e-{citizen}"}
    assert service.http.post("/v1/memories/N1/a/erase", json=sent).status_code == 200
    again = service.http.post("/v1/memories/N1/a/erase", json={**sent, "also": ["b"]})
    assert (again.status_code, "new command_id" in again.text) == (409, True)
    assert service.http.post("/v1/memories/N1/a/erase", json=sent).json()["duplicate"]


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


def chat(service: Service, citizen: str, *texts: str, episode: str = "talk") -> None:
    """A conversation: the user and the assistant take turns."""
    messages = [{"role": "assistant" if turn % 2 else "user", "content": text} for turn, text in enumerate(texts)]
    body = {"citizen_id": citizen, "episode_id": episode, "messages": messages}
    assert service.http.post("/v1/episodes", json=body).json()["refused"] == 0


CODE = "My alarm code is 73914, by the way."


def test_what_repeats_an_erased_memory_is_named_and_goes_along_on_request(service: Service, citizen: str) -> None:
    chat(
        service,
        citizen,
        CODE,
        "Noted: the alarm code is 73914.",
        "The dog barked at the alarm clock.",
        "Poor dog.",
    )
    service.remember(citizen, id="summary", name="Chat", description="Ada set her house alarm (73914).")
    where = "/v1/memories/N1/talk:D1:1/erase"
    with service.unchanged():
        tried = service.http.post(where, json={"citizen_id": citizen, "dry_run": True}).json()
        assert (tried["dry_run"], tried["removed"]["memories"]) == (True, 0)
        assert sorted(tried["repeats"]) == ["summary", "talk:D1:2"]
        unknown = {"citizen_id": citizen, "also": ["talk:D1:2", "nobody"]}
        assert service.http.post(where, json=unknown).status_code == 404
        missing = {"citizen_id": citizen, "dry_run": True}
        assert service.http.post("/v1/memories/N1/nobody/erase", json=missing).status_code == 404
    done = service.http.post(where, json={"citizen_id": citizen, "also": ["talk:D1:2"]}).json()
    assert (done["removed"]["memories"], done["repeats"]) == (2, ["summary"])
    left = service.http.get(f"/v1/citizens/{citizen}/export").text
    assert left.count("73914") == left.count("(73914)") > 0


def test_a_wish_to_forget_raises_an_offer_and_erases_nothing_by_itself(service: Service, citizen: str) -> None:
    chat(
        service, citizen, "My phone number is 0151 2345678.", "Fine, 0151 2345678 it is.", "I like tea.",
        "So do I.", "Please forget my phone number.", "I will not forget it by myself.",
    )  # fmt: skip
    [offer] = service.http.get("/v1/upkeep/offers", params={"citizen_id": citizen}).json()["offers"]
    assert (offer["kind"], offer["name"], offer["memory_id"]) == ("erase", "my phone number", "talk:D1:5")
    assert (offer["command"]["id"], offer["command"]["also"]) == ("talk:D1:1", ["talk:D1:2"])
    assert "2345678" in service.http.get(f"/v1/citizens/{citizen}/export").text
    where = f"/v1/upkeep/offers/{offer['id']}"
    with service.client(service.key(f"citizen:{citizen}:write")) as writer, service.unchanged():
        answer = writer.post(where, json={"citizen_id": citizen, "answer": "take"})
        assert answer.status_code == 403
    taken = service.http.post(where, json={"citizen_id": citizen, "answer": "take"}).json()
    assert (taken["erased"]["removed"]["memories"], taken["receipt"]) == (2, None)
    assert "2345678" not in service.http.get(f"/v1/citizens/{citizen}/export").text
    assert service.http.get("/v1/upkeep/offers", params={"citizen_id": citizen}).json()["offers"] == []
