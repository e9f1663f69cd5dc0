"""Two collectives and three citizens: who sees what, walked over every route of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from uuid import uuid4

import httpx
import pytest

from api.asgi.messages import is_public
from scripts.reference.document import openapi
from tests.acceptance.conftest import Service, problem_in
from tests.acceptance.requests import Aim, Operation, operations

DOCUMENT: Final = openapi()
CLOSED: Final = [one for one in operations(DOCUMENT) if not is_public(one.path)]
NAMING: Final = [one for one in CLOSED if Aim(DOCUMENT, "c", "m", collective="c-of-it").names_collective(one)]
"""The routes that take a collective."""
TWO: Final = ("one", "two")
METADATA: Final = {
    "energy": 0.7, "confidence": 0.8, "emotion_vector": {"joy": 0.5}, "goal": "g", "mindstate": "m",
}  # fmt: skip


class World(NamedTuple):
    """Two collectives, in each the same two ids, linked; and the clients of three citizens.

    Ada writes in Atlas, Kai reads Atlas and writes in Borea, Egor is of neither but may do all in the default one.
    In each a member shared a memory of its own, and the other citizen of the two contests it.
    """

    atlas: str
    borea: str
    ada: httpx.Client
    kai: httpx.Client
    egor: httpx.Client
    run: str
    copies: Mapping[str, str]
    """The id of the copy that a member shared, by collective."""

    def secret(self, collective: str) -> str:
        return f"The teapot of {collective} holds the spare key"


@pytest.fixture(scope="module")
def world(service: Service) -> Iterator[World]:
    atlas, borea = (f"{name}{uuid4().hex[:8]}" for name in ("atlas-", "borea-"))
    scopes = {
        "ada": (f"collective:{atlas}:*",),
        "kai": (f"collective:{atlas}:read", f"collective:{borea}:*"),
        "egor": ("N2:*", "N3:*", "upkeep"),
    }
    clients = {name: service.client(service.key(f"citizen:{name}:*", *own)) for name, own in scopes.items()}
    made = World(atlas, borea, **clients, run="", copies={})
    for collective, http in ((atlas, made.ada), (borea, made.kai)):
        for memory_id in TWO:
            body = {"id": memory_id, "name": "teapot", "description": made.secret(collective)}
            answer = http.post("/v1/memories", json={**body, "collective": collective})
            assert (answer.status_code, answer.json()["collective"]) == (201, collective), answer.text
        link = {"source_id": "one", "target_id": "two", "relation_type": "NEXT", "collective": collective}
        assert http.post("/v1/links", json={**link, **METADATA}).status_code == 201
    [run] = service.http.post("/v1/upkeep/run", json={"collective": atlas, "jobs": ["sweep"]}).json()["runs"]
    copies = {
        atlas: shared_and_contested(service, made, atlas, "ada", "kai"),
        borea: shared_and_contested(service, made, borea, "kai", "ada"),
    }
    yield made._replace(run=run["id"], copies=copies)
    for http in clients.values():
        http.close()


def shared_and_contested(service: Service, world: World, collective: str, author: str, other: str) -> str:
    """The id of the copy of a memory of the author, with a contest of the other; both hold the secret."""
    service.remember(author, id=f"own-{collective}", name="lamp", description=world.secret(collective))
    body = {"citizen_id": author, "id": f"own-{collective}", "level": "N2", "collective": collective}
    http = {"ada": world.ada, "kai": world.kai}[author]
    shared = http.post("/v1/share", json=body)
    assert (shared.status_code, shared.json()["collective"]) == (200, collective), shared.text
    copy = str(shared.json()["id"])
    body = {"citizen_id": other, "id": copy, "collective": collective, "reason": world.secret(collective)}
    contested = service.http.post("/v1/contests", json=body)
    assert (contested.status_code, contested.json()["collective"]) == (200, collective), contested.text
    return copy


def contested_in(http: httpx.Client, collective: str) -> list[tuple[str, list[str]]]:
    """What is contested in a collective, and by whom."""
    page = http.get("/v1/contested", params={"collective": collective})
    assert page.status_code == 200, page.text
    return [(each["id"], [said["by"] for said in each["contested"]]) for each in page.json()["memories"]]


def seen(http: httpx.Client, way: str, citizen: str, **more: Any) -> list[tuple[str, str | None]]:
    """Those of the two memories of each collective that a way of asking gives, by id and collective."""
    body = {"citizen_id": citizen, "query_text": "teapot spare key", **more}
    answer = http.post(f"/v1/{way}", json=body | ({"max_results_per_level": 50} if way == "resonate" else {}))
    assert answer.status_code == 200, answer.text
    if way == "associate":
        found = [one["memory"] for one in answer.json()["anchors"]]
    elif way == "resonate":
        found = [one["memory"] for one in answer.json()["levels"]["n2_collective"]]
    else:
        found = answer.json()["levels"].get("n2_collective", {"graph_results": ()})["graph_results"]
    return sorted(
        (one["node_id"], one["collective"]) for one in found if one["level"] == "N2" and one["node_id"] in TWO
    )


def both(collective: str) -> list[tuple[str, str]]:
    return [("one", collective), ("two", collective)]


@pytest.mark.parametrize("way", ["retrieve", "resonate", "associate"])
def test_a_question_finds_what_the_collectives_of_its_key_hold(world: World, way: str) -> None:
    assert seen(world.ada, way, "ada") == both(world.atlas)
    assert seen(world.kai, way, "kai") == sorted(both(world.atlas) + both(world.borea))
    assert seen(world.kai, way, "kai", collectives=[world.borea]) == both(world.borea)
    assert not {*both(world.atlas), *both(world.borea)} & {*seen(world.egor, way, "egor")}


def test_a_further_collective_costs_two_more_queries_which_name_it(world: World) -> None:
    body = {"citizen_id": "kai", "query_text": "teapot", "collectives": [world.borea]}
    stream = world.kai.post("/v1/retrieve", json=body).json()
    timed = {timing["query"] for timing in stream["timings"]}
    assert {f"N2:{world.borea}_vector", f"N2:{world.borea}_graph"} <= timed
    assert stream["query_count"] == 2 * (len(["N1", "N3", world.borea]) - 1)


def test_a_record_is_read_from_its_own_collective_alone(world: World) -> None:
    for path in ("/v1/memories/N2/one", "/v1/memories/N2/one/history", "/v1/links/N2/one|NEXT|two"):
        here, there = (world.kai.get(path, params={"collective": name}) for name in (world.atlas, world.borea))
        assert (here.status_code, there.status_code) == (200, 200), here.text
        assert world.secret(world.borea) not in here.text
        assert world.atlas in here.text
        problem_in(world.ada.get(path, params={"collective": world.borea}), 404)
    problem_in(world.ada.get("/v1/memories/N1/one", params={"citizen_id": "ada", "collective": world.atlas}), 422)


def test_a_reader_writes_nothing(world: World, service: Service) -> None:
    body = {"name": "n", "collective": world.atlas}
    with service.unchanged():
        refused = problem_in(world.kai.post("/v1/memories", json=body), 403)
        unknown = problem_in(world.egor.post("/v1/memories", json=body), 404)
    assert refused["detail"] == f"this needs the scope collective:{world.atlas}:write"
    assert unknown["detail"] == f"nothing was remembered for collective {world.atlas} yet"


@pytest.mark.parametrize("operation", NAMING, ids=str)
def test_a_collective_out_of_reach_is_as_one_that_does_not_exist(
    service: Service, world: World, operation: Operation
) -> None:
    nowhere = f"x{world.atlas[1:]}"
    with service.unchanged():
        here, there = (
            Aim(DOCUMENT, "egor", "one", world.run, collective=name).send(world.egor, operation)
            for name in (world.atlas, nowhere)
        )
    if (operation.needs or "").startswith("admin"):
        return
    refused = here.status_code == 200 and [each["problem"] for each in here.json()["receipts"]]
    assert here.status_code in (403, 404) or refused == ["not-found"], here.text
    assert here.text.replace(world.atlas, nowhere) == there.text


@pytest.mark.parametrize("operation", CLOSED, ids=str)
def test_nothing_of_a_collective_comes_back_to_whom_it_is_closed(
    service: Service, world: World, operation: Operation
) -> None:
    before = service.contents()
    named = Aim(DOCUMENT, "egor", "one", world.run, collective=world.atlas).send(world.egor, operation)
    after = service.contents()
    assert {name: after[name] for name in before if "atlas" in name} == {
        name: before[name] for name in before if "atlas" in name
    }
    assert world.secret(world.atlas) not in named.text
    assert named.status_code < 500, named.text


@pytest.mark.parametrize("operation", [one for one in CLOSED if one.method == "get"], ids=str)
def test_no_reading_route_shows_a_collective_to_whom_it_is_closed(world: World, operation: Operation) -> None:
    plain = Aim(DOCUMENT, "egor", "one", world.run).send(world.egor, operation)
    assert world.atlas not in plain.text


def test_what_is_contested_and_how_far_citizens_agree_is_seen_by_members_alone(world: World) -> None:
    there = world.copies[world.atlas]
    for http in (world.ada, world.kai):
        assert contested_in(http, world.atlas) == [(there, ["kai"])]
        agreement = http.get(f"/v1/memories/N2/{there}/agreement", params={"collective": world.atlas}).json()
        assert (agreement["collective"], agreement["agreement"]) == (world.atlas, 0.5)
        assert (agreement["held_by"], agreement["contested_by"]) == (["ada"], ["kai"])
    assert contested_in(world.kai, world.borea) == [(world.copies[world.borea], ["ada"])]
    for http, closed in ((world.ada, world.borea), (world.egor, world.atlas), (world.egor, world.borea)):
        problem_in(http.get("/v1/contested", params={"collective": closed}), 404)
        path = f"/v1/memories/N2/{world.copies[closed]}/agreement"
        problem_in(http.get(path, params={"collective": closed}), 404)
        problem_in(world.egor.get(path), 404)
    assert not {*world.copies.values()} & {
        each["id"] for each in world.egor.get("/v1/contested").json()["memories"]
    }


def test_a_copy_shows_its_collective_and_its_contests_in_a_stream_of_members_alone(world: World) -> None:
    there = world.copies[world.atlas]

    def shown(http: httpx.Client, citizen: str, **more: Any) -> list[tuple[str, list[str]]]:
        body = {"citizen_id": citizen, "query_text": "lamp", **more}
        stream = http.post("/v1/retrieve", json=body).json()
        nodes = [
            node for tier in ("focus", "peripheral", "background") for node in stream["activation_tiers"][tier]
        ]
        held = [node for node in nodes if node["node_id"] in world.copies.values()]
        return [(node["node_id"], [said["by"] for said in node.get("contested", ())]) for node in held]

    assert shown(world.ada, "ada") == [(there, ["kai"])]
    assert shown(world.kai, "kai", collectives=[world.atlas]) == [(there, ["kai"])]
    assert shown(world.egor, "egor") == []


def test_nothing_is_shared_into_or_out_of_a_collective_out_of_reach(world: World, service: Service) -> None:
    service.remember("egor", id="of-egor", name="of Egor")
    nowhere = f"x{world.atlas[1:]}"

    def refused(path: str, **body: str) -> None:
        answers = [world.egor.post(path, json={"citizen_id": "egor", **body})]
        answers += [world.egor.post(path, json={"citizen_id": "egor", **each}) for each in [_instead(body)]]
        for answer in answers:
            problem_in(answer, 404)
        assert answers[0].text.replace(world.atlas, nowhere) == answers[1].text

    def _instead(body: dict[str, str]) -> dict[str, str]:
        return {name: nowhere if value == world.atlas else value for name, value in body.items()}

    with service.unchanged():
        refused("/v1/share", id="of-egor", level="N2", collective=world.atlas)
        refused("/v1/share", id="one", from_level="N2", from_collective=world.atlas, level="N3")
        refused("/v1/contests", id=world.copies[world.atlas], collective=world.atlas, reason="No.")
        refused("/v1/contests/withdraw", id=world.copies[world.atlas], collective=world.atlas)


def test_a_reader_neither_shares_into_a_collective_nor_contests_there(world: World, service: Service) -> None:
    there = world.copies[world.atlas]
    sent: dict[str, dict[str, str]] = {
        "/v1/share": {"id": f"own-{world.borea}", "level": "N2", "collective": world.atlas},
        "/v1/contests": {"id": there, "collective": world.atlas, "reason": "No."},
        "/v1/contests/withdraw": {"id": there, "collective": world.atlas},
    }
    with service.unchanged():
        for path, body in sent.items():
            problem = problem_in(world.kai.post(path, json={"citizen_id": "kai", **body}), 403)
            assert problem["detail"] == f"this needs the scope collective:{world.atlas}:write"
        source = {"from_level": "N2", "from_collective": world.atlas}
        further = {"citizen_id": "kai", "id": there, **source, "level": "N3"}
        problem_in(world.kai.post("/v1/share", json=further), 403)


def test_a_list_of_collectives_has_those_that_the_key_may_read(world: World, service: Service) -> None:
    def listed(http: httpx.Client) -> list[str]:
        names: list[str] = http.get("/v1/collectives").json()["collectives"]
        return [name for name in names if name in (world.atlas, world.borea)]

    assert listed(world.ada) == [world.atlas]
    assert listed(world.kai) == [world.atlas, world.borea]
    assert listed(world.egor) == []
    with service.client(service.key("collective:*:read")) as every:
        assert listed(every) == [world.atlas, world.borea]


def test_a_member_that_leaves_sees_nothing_from_then_on(world: World, service: Service) -> None:
    key = service.key("citizen:ada:*", f"collective:{world.atlas}:read")
    with service.client(key) as member:
        assert seen(member, "retrieve", "ada") == both(world.atlas)
        assert service.http.delete(f"/v1/keys/{key.split('-')[1]}").status_code == 200
        assert member.post("/v1/retrieve", json={"citizen_id": "ada", "query_text": "teapot"}).status_code == 401
    with service.client(service.key("citizen:ada:*")) as left:
        assert seen(left, "retrieve", "ada") == []
        body = {"citizen_id": "ada", "query_text": "teapot", "collectives": [world.atlas]}
        problem_in(left.post("/v1/retrieve", json=body), 404)


def test_a_key_that_names_a_hundred_asks_four_and_says_so(world: World, service: Service) -> None:
    names = [f"c{number:02}" for number in range(99)]
    with service.client(service.key("citizen:ada:*", *(f"collective:{name}:read" for name in names))) as http:
        stream = http.post("/v1/retrieve", json={"citizen_id": "ada", "query_text": "teapot"}).json()
        five = http.post("/v1/retrieve", json={"citizen_id": "ada", "query_text": "t", "collectives": names[:5]})
    assert (
        "the key names 99 collectives, of which c00, c01, c02, c03 were asked: name others in collectives"
        in stream["notes"]
    )
    assert "collective c00 is not known here: nothing was remembered in it yet" in stream["notes"]
    assert "collectives" in problem_in(five, 422)["detail"]


@pytest.mark.parametrize("name", ["../ada", "*", "a:b", "n2", "N2", "", "a" * 65, "a b", "ä", ".hidden", "a/b"])
def test_an_id_that_no_collective_can_have_is_refused(world: World, service: Service, name: str) -> None:
    with service.unchanged():
        written = service.http.post("/v1/memories", json={"name": "n", "collective": name})
        asked = service.http.post(
            "/v1/retrieve", json={"citizen_id": "ada", "query_text": "t", "collectives": [name]}
        )
        listed = service.http.get("/v1/memories", params={"collective": name})
        scoped = service.http.post("/v1/keys", json={"name": "k", "scopes": [f"collective:{name}:write"]})
    assert (written.status_code, asked.status_code, listed.status_code) == (422, 422, 422)
    assert scoped.status_code == (201 if name == "*" else 422)


def test_a_collective_named_like_a_citizen_is_another_graph(world: World, service: Service) -> None:
    name = f"kai-{uuid4().hex[:6]}"
    service.remember(name, id="own", name="of the citizen")
    assert (
        service.http.post("/v1/memories", json={"collective": name, "id": "ours", "name": "n"}).status_code == 201
    )
    own = service.http.get("/v1/memories", params={"citizen_id": name}).json()["memories"]
    ours = service.http.get("/v1/memories", params={"collective": name}).json()["memories"]
    assert ([one["node_id"] for one in own], [one["node_id"] for one in ours]) == (["own"], ["ours"])


def test_a_whole_collective_is_erased_by_a_steward_alone(world: World, service: Service) -> None:
    name = f"gone-{uuid4().hex[:6]}"
    assert service.http.post("/v1/memories", json={"collective": name, "name": "n"}).status_code == 201
    exported = service.http.get(f"/v1/collectives/{name}/export").text
    assert f'"collective":"{name}"' in exported
    path = f"/v1/collectives/{name}"
    with service.client(service.key("citizen:ada:*", f"collective:{name}:*")) as member:
        assert member.delete(path).status_code == 403
    with service.client(service.key(f"collective:{name}:steward")) as steward:
        report = steward.delete(path)
        assert report.status_code == 200, report.text
        assert (report.json()["erased"], report.json()["collective"]) == ("collective", name)
    assert f"collective_{name}" not in service.contents()
