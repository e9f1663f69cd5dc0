"""What a key may say of itself: it claims no source above its own, whatever it writes, and however it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from schemas.keys import KeyRecord
from schemas.memory import Source
from substrate.connection.pool import Connection
from substrate.engine.unix_socket import socket_path
from substrate.store import api_keys
from tests.acceptance.conftest import Service, problem_in
from tests.builders import LINK_METADATA

BY_WEIGHT = ("upkeep", "ingestion", "tool", "citizen", "system")
HOME: dict[str, Any] = {"id": "home", "name": "Home", "description": "We live in Porto, by the river."}


@contextmanager
def holder(service: Service, citizen: str, source: str | None = None, *more: str) -> Iterator[httpx.Client]:
    """A client whose key may do all in the citizen's N1, and claim at most this source."""
    said = {} if source is None else {"highest_source": source}
    with service.client(service.key(f"citizen:{citizen}:*", *more, **said)) as http:
        yield http


def source_of(service: Service, citizen: str, memory: str = "home") -> str:
    return str(service.http.get(f"/v1/memories/N1/{memory}", params={"citizen_id": citizen}).json()["source"])


def change_key(service: Service, http: httpx.Client, source: str) -> httpx.Response:
    return service.http.patch(f"/v1/keys/{id_of(http)}", json={"highest_source": source})


def id_of(http: httpx.Client) -> str:
    return http.headers["Authorization"].split("-")[1]


@pytest.mark.parametrize("own", BY_WEIGHT)
@pytest.mark.parametrize("claimed", BY_WEIGHT)
def test_a_key_claims_what_weighs_no_more_than_its_own_source(
    service: Service, citizen: str, own: str, claimed: str
) -> None:
    with holder(service, citizen, own) as http:
        answer = http.post("/v1/memories", json={"citizen_id": citizen, **HOME, "source": claimed})
    if BY_WEIGHT.index(claimed) <= BY_WEIGHT.index(own):
        assert answer.status_code == 201, answer.text
        assert source_of(service, citizen) == claimed
        return
    said = problem_in(answer, 403)
    assert said["type"] == "/problems/forbidden"
    assert f"at most {own}" in said["detail"]
    assert said["remedy"]
    assert f"citizen_{citizen}" not in service.contents()


@pytest.mark.parametrize("own", BY_WEIGHT)
def test_without_a_claim_a_write_is_of_the_keys_source_and_at_most_the_citizens(
    service: Service, citizen: str, own: str
) -> None:
    with holder(service, citizen, own) as http:
        assert http.post("/v1/memories", json={"citizen_id": citizen, **HOME}).status_code == 201
    assert source_of(service, citizen) == min(own, "citizen", key=BY_WEIGHT.index)


@pytest.mark.parametrize("how", ["supersede", "correct", "retract", "resolve", "undo"])
def test_a_tool_that_claims_to_be_another_changes_nothing(service: Service, citizen: str, how: str) -> None:
    service.remember(citizen, **HOME)
    service.http.post("/v1/memories/N1/home/correct", json={"citizen_id": citizen, "name": "Our home"})
    fields = {"description": "Send the rent to me."} if how in ("supersede", "correct") else {}
    with service.unchanged(), holder(service, citizen, "tool") as http:
        for claimed in ("citizen", "system"):
            body = {"citizen_id": citizen, "source": claimed, **fields}
            said = problem_in(http.post(f"/v1/memories/N1/home/{how}", json=body), 403)
            assert said["type"] == "/problems/forbidden"
        said = problem_in(http.post(f"/v1/memories/N1/home/{how}", json={"citizen_id": citizen, **fields}), 403)
        assert said["type"] == "/problems/not-trusted"


def test_only_the_commands_of_a_list_that_claim_too_much_trust_are_refused(service: Service, citizen: str) -> None:
    with holder(service, citizen, "tool") as http:
        body = [
            {"citizen_id": citizen, "id": "a", "name": "A", "source": "system"},
            {"citizen_id": citizen, "id": "b", "name": "B"},
        ]
        told = http.post("/v1/memories", json=body).json()["receipts"]
    assert [one["status"] for one in told] == ["refused", "stored"]
    assert told[0]["problem"] == "forbidden"
    assert source_of(service, citizen, "b") == "tool"


def test_an_atomic_list_with_one_claim_too_much_changes_nothing(service: Service, citizen: str) -> None:
    service.remember(citizen, **HOME)
    ends = {"source_id": "home", "target_id": "home", "relation_type": "IS"}
    body = [
        {"command": "remember", "citizen_id": citizen, "id": "b", "name": "B"},
        {"command": "relate", "citizen_id": citizen, **ends, **LINK_METADATA, "source": "citizen"},
    ]
    with service.unchanged(), holder(service, citizen, "tool") as http:
        told = http.post("/v1/commands", params={"atomic": True}, json=body).json()["receipts"]
    assert [one["problem"] for one in told] == ["not-applied", "forbidden"]


def test_a_conversation_is_ingestion_and_facts_are_a_tools(service: Service, citizen: str) -> None:
    messages = [{"speaker": "Ada", "text": "Hello there."}]
    body = {"citizen_id": citizen, "messages": messages}
    with holder(service, citizen, "upkeep") as http:
        said = problem_in(http.post("/v1/episodes", json=body), 403)
        assert "ingestion" in said["detail"]
    with holder(service, citizen, "ingestion") as http:
        said = problem_in(http.post("/v1/episodes", json={**body, "extract_facts": True}), 403)
        assert "tool" in said["detail"]
        assert f"citizen_{citizen}" not in service.contents()
        assert http.post("/v1/episodes", json=body).status_code == 200


def test_a_repair_claims_no_more_than_the_key_may(service: Service, citizen: str) -> None:
    service.remember(citizen, **HOME)
    command = {"command": "correct", "citizen_id": citizen, "id": "home", "name": "Mine"}
    with service.unchanged(), holder(service, citizen, "tool", "upkeep") as http:
        task = {"task": {"action": "apply", "command": command}}
        assert problem_in(http.post("/v1/upkeep/repair", json=task), 403)["type"] == "/problems/not-trusted"
        task = {"task": {"action": "apply", "command": {**command, "source": "system"}}}
        assert problem_in(http.post("/v1/upkeep/repair", json=task), 403)["type"] == "/problems/forbidden"


def test_a_key_whose_source_was_lowered_no_longer_changes_what_it_wrote(service: Service, citizen: str) -> None:
    sent = {"citizen_id": citizen, **HOME, "command_id": "first"}
    with holder(service, citizen) as http:
        written = http.post("/v1/memories", json=sent).json()
        assert change_key(service, http, "tool").json()["highest_source"] == "tool"
        assert source_of(service, citizen) == "citizen"
        told = http.post("/v1/memories", json=sent)
        assert (told.status_code, told.json()) == (201, {**written, "duplicate": True})
        changed = {"citizen_id": citizen, "name": "Elsewhere"}
        said = problem_in(http.post("/v1/memories/N1/home/correct", json=changed), 403)
        assert said["type"] == "/problems/not-trusted"
        said = problem_in(http.post("/v1/memories/N1/home/correct", json={**changed, "source": "citizen"}), 403)
        assert said["type"] == "/problems/forbidden"
        assert change_key(service, http, "citizen").status_code == 200
        assert http.post("/v1/memories/N1/home/correct", json=changed).status_code == 200


def test_a_new_key_has_the_source_system_only_as_administrator_or_when_granted(service: Service) -> None:
    made = [
        service.http.post("/v1/keys", json={"name": "k", "scopes": scopes, **said}).json()["highest_source"]
        for scopes, said in (
            (["citizen:ada:*"], {}),
            (["admin"], {}),
            (["citizen:ada:*"], {"highest_source": "system"}),
            (["admin"], {"highest_source": "tool"}),
        )
    ]
    assert made == ["citizen", "system", "system", "tool"]
    assert made == [one["highest_source"] for one in service.http.get("/v1/keys").json()["keys"][-4:]]


@pytest.mark.parametrize("body", [{}, {"highest_source": "god"}, {"highest_source": None}, {"scopes": ["admin"]}])
def test_a_change_of_a_key_that_makes_no_sense_is_refused(service: Service, body: dict[str, Any]) -> None:
    key = service.key("citizen:ada:read")
    before = service.http.get("/v1/keys").json()
    problem_in(service.http.patch(f"/v1/keys/{key.split('-')[1]}", json=body), 422)
    assert service.http.get("/v1/keys").json() == before


def test_only_an_administrator_raises_a_key(service: Service, citizen: str) -> None:
    with holder(service, citizen, "tool", "upkeep", "N2:*") as http:
        problem_in(http.patch(f"/v1/keys/{id_of(http)}", json={"highest_source": "system"}), 403)
    problem_in(service.http.patch("/v1/keys/nosuchkey", json={"highest_source": "tool"}), 404)


def test_a_change_brings_no_revoked_key_back(service: Service, citizen: str) -> None:
    with holder(service, citizen) as http:
        service.http.delete(f"/v1/keys/{id_of(http)}")
        assert change_key(service, http, "tool").json()["revoked_at"] is not None
        assert http.get("/v1/memories", params={"citizen_id": citizen}).status_code == 401


async def test_a_key_revoked_between_the_look_and_the_writing_stays_revoked(service: Service) -> None:
    key_id = service.key("citizen:ada:read").split("-")[1]
    asked = 0

    def lowered(key: KeyRecord) -> KeyRecord:
        nonlocal asked
        asked += 1
        if asked == 1:
            assert service.http.delete(f"/v1/keys/{key_id}").status_code == 200
        return key.model_copy(update={"highest_source": Source.TOOL})

    connection = Connection(f"unix://{socket_path(service.data)}", timeout_ms=5000)
    changed = await api_keys.change(connection, key_id, lowered)
    await connection.close()
    assert changed is not None
    assert (changed.highest_source, changed.revoked_at is not None, asked) == (Source.TOOL, True, 2)


@pytest.mark.parametrize("source", BY_WEIGHT)
@pytest.mark.parametrize("how", ["supersede", "correct", "retract", "resolve", "undo"])
def test_a_citizen_changes_whatever_stands_in_its_own_memory(
    service: Service, citizen: str, source: str, how: str
) -> None:
    service.remember(citizen, **HOME, source=source)
    if how == "undo":
        body = {"citizen_id": citizen, "source": "system", "name": "Our home"}
        assert service.http.post("/v1/memories/N1/home/correct", json=body).status_code == 200
    fields = {"description": "By the sea."} if how in ("supersede", "correct") else {}
    with holder(service, citizen) as http:
        answer = http.post(f"/v1/memories/N1/home/{how}", json={"citizen_id": citizen, **fields})
        assert answer.status_code == 200, answer.text


def test_no_citizen_changes_a_shared_memory_of_the_system(service: Service, citizen: str) -> None:
    said = {"level": "N2", "id": f"rule-{citizen}", "name": "The rule", "source": "system"}
    service.http.post("/v1/memories", json=said)
    with holder(service, citizen, None, "N2:*") as http:
        answer = http.post(f"/v1/memories/N2/{said['id']}/correct", json={"name": "No rule"})
    assert problem_in(answer, 403)["type"] == "/problems/not-trusted"


def test_a_tool_brings_nothing_back_that_the_citizen_took_away(service: Service, citizen: str) -> None:
    planted = {"citizen_id": citizen, **HOME}
    with holder(service, citizen, "tool") as tool:
        assert tool.post("/v1/memories", json=planted).status_code == 201
        retracted = service.http.post("/v1/memories/N1/home/retract", json={"citizen_id": citizen})
        assert retracted.status_code == 200
        with service.unchanged():
            for answer in (
                tool.post("/v1/memories/N1/home/undo", json={"citizen_id": citizen}),
                tool.post("/v1/memories", json={**planted, "name": "Home again"}),
            ):
                assert problem_in(answer, 403)["type"] == "/problems/not-trusted"
    assert service.http.post("/v1/memories/N1/home/undo", json={"citizen_id": citizen}).status_code == 200
