"""A walk over every route of the OpenAPI document: what a key is not for, it neither sees nor changes."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from api.asgi.messages import is_public
from api.routes.operations import OPERATIONS
from schemas.memory import Level
from schemas.operation import Operation as Declared
from scripts.reference.document import openapi
from substrate.graphs.names import graph_name
from tests.acceptance.conftest import Service
from tests.acceptance.requests import Aim, Operation, operations

SECRET = "The blue teapot holds the spare key"
DOCUMENT = openapi()
ALL = list(operations(DOCUMENT))
CLOSED = [one for one in ALL if not is_public(one.path)]
ASKING = {
    "POST /v1/retrieve",
    "POST /v1/wake",
    "POST /v1/memory_tool",
    "POST /v1/resonate",
    "POST /v1/perspectives",
    "POST /v1/associate",
    "POST /v1/imagine",
    "POST /v1/rules/check",
    "POST /v1/streams/{stream_id}/replay",
    "POST /v1/citizens/{citizen_id}/intend",
    "POST /v1/citizens/{citizen_id}/situation",
    "POST /v1/validation/link",
}
"""The routes other than GET that a key may use that only reads."""
PERSONAL = [one for one in CLOSED if "citizen:" in (one.needs or "")]


@pytest.fixture(scope="module")
def stranger(service: Service) -> Iterator[httpx.Client]:
    """A client of another citizen, who may do everything with its own memory, upkeep, and what is shared."""
    with service.client(service.key("citizen:stranger:*", "N2:*", "N3:*", "upkeep")) as http:
        yield http


@pytest.fixture(scope="module")
def victim(service: Service) -> Aim:
    """A citizen with a memory, a link and a run of upkeep, who stays as it is."""
    return with_a_memory(service, f"v{uuid4().hex[:12]}")


def with_a_memory(service: Service, citizen: str) -> Aim:
    for memory_id in (f"{citizen}-m", f"{citizen}-n"):
        service.remember(citizen, id=memory_id, name=SECRET)
    service.relate(citizen, (f"{citizen}-m", "NEXT", f"{citizen}-n"))
    swept = service.http.post("/v1/upkeep/run", json={"citizen_id": citizen, "jobs": ["sweep"]})
    [run] = swept.json()["runs"]
    service.http.post("/v1/retrieve", json={"citizen_id": citizen, "query_text": SECRET})
    [stream] = service.http.get(f"/v1/citizens/{citizen}/streams").json()["streams"]
    _, _, own = stream["stream_id"].partition("~")
    return Aim(DOCUMENT, citizen, f"{citizen}-m", run["id"], stream=own)


@pytest.mark.parametrize("operation", ALL, ids=str)
def test_every_route_declares_what_its_caller_needs(operation: Operation) -> None:
    assert operation.needs, (
        f"{operation} does not say what its caller needs: declare it as an `Operation` with `may` "
        "(docs/architecture.md); until then it is for administrators alone."
    )
    assert (operation.needs == "nothing") is is_public(operation.path)
    assert bool(operation.said["security"]) is not is_public(operation.path)


@pytest.mark.parametrize("declared", OPERATIONS, ids=lambda one: one.name)
def test_every_declared_operation_is_walked_with_what_it_says(declared: Declared) -> None:
    [walked] = [one for one in ALL if one.said["operationId"] == declared.name]
    assert (walked.needs, walked.said["summary"]) == (declared.may.says, declared.summary)


def test_without_a_key_every_route_is_closed(service: Service, citizen: str) -> None:
    aim = Aim(DOCUMENT, citizen, "m")
    with service.client(None) as http, service.unchanged():
        said = {str(one): aim.send(http, one) for one in CLOSED}
    assert {name: answer.status_code for name, answer in said.items() if answer.status_code != 401} == {}
    assert all(answer.headers["WWW-Authenticate"].startswith("Bearer") for answer in said.values())


@pytest.mark.parametrize("operation", PERSONAL, ids=str)
def test_another_citizen_is_out_of_reach_whether_it_exists_or_not(
    service: Service, stranger: httpx.Client, victim: Aim, operation: Operation
) -> None:
    nobody = Aim(DOCUMENT, f"x{victim.citizen[1:]}", f"x{victim.memory[1:]}", stream=victim.stream)
    with service.unchanged():
        there, nowhere = (aim.send(stranger, operation) for aim in (victim, nobody))
    assert there.status_code == 404, there.text
    assert there.headers["content-type"] == "application/problem+json"
    assert there.text == nowhere.text.replace(nobody.citizen, victim.citizen).replace(nobody.run, victim.run)
    differing = {"date", "x-request-id", "ratelimit", "ratelimit-policy"}
    assert there.headers.keys() == nowhere.headers.keys()
    assert [there.headers[one] for one in there.headers if one not in differing] == [
        nowhere.headers[one] for one in nowhere.headers if one not in differing
    ]


@pytest.mark.parametrize("operation", PERSONAL, ids=str)
def test_the_key_of_the_citizen_is_accepted_where_a_foreign_key_was_refused(
    service: Service, stranger: httpx.Client, citizen: str, operation: Operation
) -> None:
    aim = with_a_memory(service, citizen)
    refused = aim.send(stranger, operation)
    with service.client(service.key(f"citizen:{citizen}:*", "N2:*", "N3:*", "upkeep")) as own:
        answer = aim.send(own, operation)
    assert answer.status_code not in (401, 403, 405, 422, 500), answer.text
    assert answer.text != refused.text


@pytest.mark.parametrize("operation", CLOSED, ids=str)
def test_nothing_of_another_citizen_comes_back(
    service: Service, stranger: httpx.Client, victim: Aim, operation: Operation
) -> None:
    with service.unchanged():
        answer = victim.send(stranger, operation)
    assert SECRET not in answer.text
    if (operation.needs or "").startswith("admin"):
        assert answer.status_code == 403


def test_a_key_that_may_only_read_changes_nothing(service: Service, victim: Aim) -> None:
    reading = service.key(f"citizen:{victim.citizen}:read", "N2:read", "N3:read")
    with service.client(reading) as http, service.unchanged():
        said = {str(one): (one, victim.send(http, one)) for one in CLOSED}
    assert {name: answer.status_code for name, (_, answer) in said.items() if answer.status_code >= 500} == {}
    done = {name for name, (one, answer) in said.items() if one.method != "get" and answer.status_code < 300}
    assert {name for name in done if _receipts_of(said[name][1]) != {"refused"}} == ASKING


def test_a_key_without_a_shared_level_neither_sees_nor_changes_it(service: Service) -> None:
    memory = f"s{uuid4().hex[:12]}"
    sent = {"citizen_id": "sharer", "id": memory, "level": "N2"}
    assert service.http.post("/v1/memories", json={**sent, "name": f"NEXT {memory}"}).status_code == 201
    reason = {**sent, "citizen_id": "contester", "reason": f"{SECRET} no more"}
    assert service.http.post("/v1/contests", json=reason).status_code == 200
    service.remember("outsider", name="NEXT")
    aim = Aim(DOCUMENT, "outsider", memory, level="N2")
    before = _shared(service)
    with service.client(service.key("citizen:outsider:*", "N3:*", "upkeep")) as http:
        closed = {str(one): aim.send(http, one).text for one in CLOSED if one.path != "/v1/citizens/{citizen_id}"}
    assert _shared(service) == before
    shown = {name for name, text in closed.items() if SECRET in text or f"NEXT {memory}" in text}
    assert shown == set()
    with service.client(service.key("citizen:outsider:read", "N2:read")) as http:
        seen = {str(one) for one in CLOSED if one.method == "get" and SECRET in aim.send(http, one).text}
    assert {"GET /v1/memories", "GET /v1/contested"} <= seen


def _shared(service: Service) -> list[int]:
    """How many nodes and links level N2 has."""
    return service.contents()[graph_name(Level.N2, None)]


def _receipts_of(answer: httpx.Response) -> set[str]:
    """The ways in which the commands of an answer ended; none for an answer without receipts."""
    return {each["status"] for each in answer.json().get("receipts", ())}


def test_a_command_for_another_citizen_in_a_list_is_refused_like_one_for_an_unknown_citizen(
    service: Service, stranger: httpx.Client, victim: Aim
) -> None:
    service.remember("stranger", id="mine", name="n")
    sent = [
        {"citizen_id": "stranger", "id": f"of-{victim.citizen}", "name": "n"},
        {"citizen_id": victim.citizen, "id": victim.memory, "name": "n"},
        {"citizen_id": f"x{victim.citizen[1:]}", "id": victim.memory, "name": "n"},
    ]
    before = service.contents()
    mine, there, nowhere = stranger.post("/v1/memories", json=sent).json()["receipts"]
    assert (mine["status"], there["status"], nowhere["status"]) == ("stored", "refused", "refused")
    assert (there["problem"], there["version"]) == ("not-found", None)
    assert [fault.replace(sent[2]["citizen_id"], victim.citizen) for fault in nowhere["faults"]] == there["faults"]
    after = service.contents()
    assert before.keys() == after.keys()
    assert after[f"citizen_{victim.citizen}"] == before[f"citizen_{victim.citizen}"]


def test_a_level_that_the_key_may_not_read_is_left_out_with_a_note(service: Service, victim: Aim) -> None:
    shared = {"level": "N2", "id": f"shared-{victim.citizen}", "name": f"{SECRET}, all agree"}
    assert service.http.post("/v1/memories", json=shared).status_code == 201
    body = {"citizen_id": victim.citizen, "query_text": SECRET}
    with service.client(service.key(f"citizen:{victim.citizen}:read", "N3:read")) as http:
        stream = http.post("/v1/retrieve", json=body).json()
        explicit = http.post("/v1/retrieve", json={**body, "query_levels": ["N1", "N2"]})
        feedback = http.post("/v1/retrieve", json={**body, "apply_feedback": True})
    assert "all agree" not in str(stream)
    assert "N2 was left out: the key may not read it" in stream["notes"]
    assert stream["activation_tiers"]["focus"]
    assert (explicit.status_code, explicit.json()["detail"]) == (403, "this needs the scope N2:read")
    assert (feedback.status_code, feedback.json()["type"]) == (403, "/problems/forbidden")
