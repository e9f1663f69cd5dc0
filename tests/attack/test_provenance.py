"""Provenance: each record names its key and its command, and no caller can take the name of another."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.telemetry.logs import command_digest
from tests.acceptance.conftest import Service, problem_in
from tests.builders import LINK_METADATA

ROOT = Path(__file__).parents[2]


def id_of(http: httpx.Client) -> str:
    return http.headers["Authorization"].split("-")[1]


def holder(service: Service, citizen: str, *more: str, **said: Any) -> httpx.Client:
    return service.client(service.key(f"citizen:{citizen}:*", *more, **said))


def tell(http: httpx.Client, citizen: str, memory: str, **fields: Any) -> dict[str, Any]:
    body = {"citizen_id": citizen, "id": memory, "name": memory.title(), **fields}
    answer = http.post("/v1/memories", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def change(http: httpx.Client, citizen: str, path: str, **fields: Any) -> dict[str, Any]:
    answer = http.post(f"/v1/{path}", json={"citizen_id": citizen, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def records(service: Service, citizen: str, path: str) -> list[dict[str, Any]]:
    answer = service.http.get(f"/v1/{path}/history", params={"citizen_id": citizen})
    return list(answer.json()["records"])


@pytest.mark.parametrize("atomic", [False, True])
def test_each_record_names_the_keys_and_commands_that_opened_and_closed_it(
    service: Service, citizen: str, *, atomic: bool
) -> None:
    with holder(service, citizen) as one, holder(service, citizen) as other:
        body = [{"citizen_id": citizen, "id": "home", "name": "Home", "command_id": "first"}]
        assert one.post("/v1/memories", params={"atomic": atomic}, json=body).json()["stored"] == 1
        change(other, citizen, "memories/N1/home/supersede", name="House", command_id="second")
        told = records(service, citizen, "memories/N1/home")
        assert [(at["key_id"], at["command_id"]) for at in told] == [
            (id_of(one), "first"), (id_of(other), "second"), (id_of(other), "second")
        ]  # fmt: skip
        assert (told[0]["closed_key"], told[0]["closed_by"]) == (id_of(other), "second")
        assert [at["closed_key"] for at in told[1:]] == [None, None]


def test_links_and_repairs_are_no_exception(service: Service, citizen: str) -> None:
    with holder(service, citizen, "upkeep") as http:
        tell(http, citizen, "a")
        ends = {"source_id": "a", "target_id": "a", "relation_type": "IS"}
        http.post("/v1/links", json={"citizen_id": citizen, "id": "loop", **ends, **LINK_METADATA})
        change(service.http, citizen, "links/N1/loop/correct", goal="h")
        told = records(service, citizen, "links/N1/loop")
        assert [(at["key_id"], at["closed_key"]) for at in told] == [
            (id_of(http), "environment"), ("environment", None)
        ]  # fmt: skip
        command = {"command": "correct", "citizen_id": citizen, "id": "a", "name": "A again"}
        task = {"action": "apply", "command": command}
        assert http.post("/v1/upkeep/repair", json={"task": task}).status_code == 200
        assert {at["key_id"] for at in records(service, citizen, "memories/N1/a")} == {id_of(http)}


def test_a_conversation_names_its_key(service: Service, citizen: str) -> None:
    body = {"citizen_id": citizen, "episode_id": "talk", "messages": [{"speaker": "Ada", "text": "Hello there."}]}
    with holder(service, citizen) as http:
        assert http.post("/v1/episodes", json=body).json()["refused"] == 0
        found = http.get("/v1/memories", params={"citizen_id": citizen, "key_id": id_of(http)}).json()["memories"]
        links = http.get("/v1/links", params={"citizen_id": citizen, "key_id": id_of(http)}).json()["links"]
    assert sorted(one["node_type"] for one in found) == ["Person", "Session", "Turn"]
    assert len(links) == 2


def test_a_stream_names_no_key(service: Service, citizen: str) -> None:
    with holder(service, citizen) as http:
        tell(http, citizen, "home", description="We live in Porto, by the river.")
        question = {"citizen_id": citizen, "query_text": "Where do we live?", "form": "compact"}
        answer = http.post("/v1/retrieve", json=question)
        assert "Porto" in answer.json()["text"]
        assert id_of(http) not in answer.text


def test_listings_keep_to_one_source_and_one_key(service: Service, citizen: str) -> None:
    with holder(service, citizen) as one, holder(service, citizen) as other:
        tell(one, citizen, "a")
        tell(one, citizen, "b", source="tool")
        tell(other, citizen, "c", source="tool")
        asked = [
            {"source": "tool"},
            {"key_id": id_of(one)},
            {"source": "tool", "key_id": id_of(one)},
            {"key_id": "x"},
        ]
        found = [
            [
                at["node_id"]
                for at in one.get("/v1/memories", params={"citizen_id": citizen, **said}).json()["memories"]
            ]
            for said in asked
        ]
        assert found == [["b", "c"], ["a", "b"], ["b"], []]
        problem_in(one.get("/v1/memories", params={"citizen_id": citizen, "source": "god"}), 422)


@pytest.mark.parametrize(("named", "wrong"), [("undoes_source", "citizen"), ("undoes_key", "another")])
def test_an_undo_keeps_to_the_change_of_one_source_or_key(
    service: Service, citizen: str, named: str, wrong: str
) -> None:
    with holder(service, citizen) as tool:
        tell(tool, citizen, "home", source="tool", description="By the river.")
        change(tool, citizen, "memories/N1/home/supersede", source="tool", description="By the sea.")
        right = {"undoes_source": "tool", "undoes_key": id_of(tool)}[named]
    path = "/v1/memories/N1/home/undo"
    with service.unchanged():
        said = problem_in(service.http.post(path, json={"citizen_id": citizen, named: wrong}), 409)
        assert wrong in said["detail"]
    assert service.http.post(path, json={"citizen_id": citizen, named: right}).status_code == 200
    said = problem_in(service.http.post(path, json={"citizen_id": citizen, named: right}), 409)


def test_a_shared_memory_keeps_its_author(service: Service, citizen: str) -> None:
    with holder(service, citizen, "N2:*") as http, holder(service, f"{citizen}x", "N2:*") as other:
        answer = http.post("/v1/memories", json={"level": "N2", "id": f"of-{citizen}", "name": "Ours"})
        assert answer.status_code == 201
        path = f"memories/N2/of-{citizen}"
        refused = problem_in(other.post(f"/v1/{path}/correct", json={"name": "Theirs"}), 403)
        assert (refused["type"], refused["remedy"][:10]) == ("/problems/not-author", "Contest it")
        with holder(service, f"{citizen}x", "N2:*", "N2:steward") as steward:
            assert steward.post(f"/v1/{path}/correct", json={"name": "Better"}).status_code == 200
        assert http.post(f"/v1/{path}/correct", json={"name": "Ours again"}).status_code == 200
        told = service.http.get(f"/v1/{path}/history").json()["records"]
        assert [(at["name"], at["author"]) for at in told] == [
            (name, citizen) for name in ("Ours", "Better", "Ours again")
        ]
        own = http.post("/v1/memories", json={"citizen_id": citizen, "id": "own", "name": "Own"})
        assert own.status_code == 201
        assert records(service, citizen, "memories/N1/own")[0]["author"] is None


def test_nobody_shares_in_the_name_of_a_citizen_whose_word_it_may_not_write(
    service: Service, citizen: str
) -> None:
    with service.client(service.key(f"citizen:{citizen}:read", "citizen:mallory:*", "N2:*")) as http:
        body = {"level": "N2", "citizen_id": citizen, "id": f"by-{citizen}", "name": "Mine"}
        assert http.post("/v1/memories", json=body).status_code == 201
    assert service.http.get(f"/v1/memories/N2/by-{citizen}").json()["author"] is None


@pytest.mark.parametrize("name", ["key_id", "closed_key", "author"])
def test_no_field_of_a_memory_passes_for_its_provenance(service: Service, citizen: str, name: str) -> None:
    with holder(service, citizen) as http:
        tell(http, citizen, "home", **{name: "somebody"})
        told = records(service, citizen, "memories/N1/home")[0]
        assert told["extra"] == {name: "somebody"}
        assert (told["key_id"], told["closed_key"], told["author"]) == (id_of(http), None, None)


def test_a_copy_keeps_who_wrote_what(service: Service, citizen: str, tmp_path: Path) -> None:
    with holder(service, citizen) as http:
        tell(http, citizen, "home")
        change(http, citizen, "memories/N1/home/correct", name="House")
        exported = http.get(f"/v1/citizens/{citizen}/export").text
        kept = [json.loads(line)["properties"] for line in exported.splitlines() if '"home"' in line]
        assert {one["key_id"] for one in kept if "key_id" in one} == {id_of(http)}
        first = records(service, citizen, "memories/N1/home")[0]["created_at"]
        then = http.get(f"/v1/citizens/{citizen}/export", params={"known_at": first}).text
        assert "closed_key" in exported
        assert "closed_key" not in then
        lines = tmp_path / "copy.jsonl"
        lines.write_text(exported, "utf-8")
        program = [sys.executable, "-m", "api.cli", "--data", str(tmp_path / "store")]
        options: dict[str, Any] = {"cwd": ROOT, "check": True, "capture_output": True, "text": True}
        environment = {"PYTHONPATH": str(ROOT), "SUBSTRATE_EMBEDDING": "none"}
        subprocess.run([*program, "import", str(lines)], **options, env=environment)
        told = subprocess.run(
            [*program, "history", "home", "--citizen", citizen, "--json"], **options, env=environment
        )
        assert [at["key_id"] for at in json.loads(told.stdout)] == [id_of(http)] * 2


class Written(Service):
    """A service whose standard error goes to a file."""

    def __init__(self, directory: Path) -> None:
        self.log = directory / "audit.log"
        self.before = (
            f"import sys; sys.stderr = open({str(self.log)!r}, 'w', buffering=1); "
            "from api.telemetry import logs; logs.configure_logging()\n"
        )
        super().__init__(directory / "store", "none")


def test_the_audit_log_names_the_key_and_the_commands_that_were_carried_out(tmp_path: Path) -> None:
    running = Written(tmp_path)
    try:
        with holder(running, "ada") as http:
            tell(http, "ada", "home", command_id="told")
            body = [{"citizen_id": "ada", "id": "b", "name": "B", "command_id": "listed"}, {"citizen_id": "bo"}]
            http.post("/v1/memories", json=body)
            change(http, "ada", "memories/N1/home/erase", command_id="erased")
            key = id_of(http)
    finally:
        running.stop()
    told = [json.loads(line) for line in running.log.read_text("utf-8").splitlines()]
    named = [[command_digest(each)] for each in ("told", "listed", "erased")]
    assert [one["commands"] for one in told if one.get("key") == key] == named


def test_the_name_of_an_erased_conversation_or_file_stays_nowhere(tmp_path: Path) -> None:
    running = Written(tmp_path)
    talk, file = "divorce of the mayor", "the-mayors-divorce.md"
    try:
        with holder(running, "ada") as http:
            said = {"speaker": "Ann", "text": "We met at noon."}
            for name in (talk, "another talk"):
                body = {"citizen_id": "ada", "episode_id": name, "messages": [said]}
                assert http.post("/v1/episodes", json=body).json()["refused"] == 0
            content = base64.b64encode(b"# Notes\n\nWe met at noon.\n").decode()
            sent = http.post("/v1/files", json={"citizen_id": "ada", "name": file, "content": content})
            assert sent.status_code == 200, sent.text
            found = http.get("/v1/memories", params={"citizen_id": "ada"}).json()["memories"]
            for episode in {each["episode_id"] for each in found} - {None, "another talk"}:
                gone = http.delete(f"/v1/episodes/{episode}", params={"citizen_id": "ada"})
                assert gone.status_code == 200, gone.text
            left = http.get("/v1/citizens/ada/export").text
    finally:
        running.stop()
    kept = [path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()]
    for name in (talk, file, file.removesuffix(".md")):
        assert name not in running.log.read_text("utf-8")
        assert name not in left
        assert not any(name.encode() in each for each in kept)
    assert "Ann" in left
