"""Sharing over HTTP: copies, contests, agreement, and whose a shared record is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from tests.acceptance.conftest import Service, problem_in
from tests.builders import LINK_METADATA

WORDS = "The harbour of Porto closes at nine in the evening."


class Citizens(NamedTuple):
    """Three citizens of one collective, each with a key of its own, and their names."""

    ada: httpx.Client
    bo: httpx.Client
    cleo: httpx.Client
    names: tuple[str, str, str]


@pytest.fixture
def citizens(service: Service, citizen: str) -> Iterator[Citizens]:
    names = (f"{citizen}a", f"{citizen}b", f"{citizen}c")
    scopes = [(f"citizen:{name}:*", "N2:*", "N3:*") for name in names]
    ada, bo, cleo = (service.client(service.key(*each)) for each in scopes)
    yield Citizens(ada, bo, cleo, names)
    for http in (ada, bo, cleo):
        http.close()


def done(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    return dict(answer.json())


def remember(http: httpx.Client, citizen: str, memory: str, **fields: Any) -> None:
    body = {"citizen_id": citizen, "id": memory, "name": memory.title(), **fields}
    done(http.post("/v1/memories", json=body), 201)


def share(http: httpx.Client, citizen: str, memory: str, **fields: Any) -> dict[str, Any]:
    return done(http.post("/v1/share", json={"citizen_id": citizen, "id": memory, "level": "N2", **fields}))


def contest(http: httpx.Client, citizen: str, memory: str, reason: str, **fields: Any) -> dict[str, Any]:
    body = {"citizen_id": citizen, "level": "N2", "id": memory, "reason": reason, **fields}
    return done(http.post("/v1/contests", json=body))


def shown(http: httpx.Client, memory: str, level: str = "N2") -> dict[str, Any]:
    return done(http.get(f"/v1/memories/{level}/{memory}"))


def test_a_memory_goes_up_with_its_links_and_stays_its_author_s(citizens: Citizens) -> None:
    http, [ada, _, _] = citizens.ada, citizens.names
    remember(http, ada, "harbour", description=WORDS, source="tool", tags=["porto"], emotion_vector={"joy": 0.5})
    remember(http, ada, "ferry", description="The last ferry leaves a quarter before.")
    link = {"citizen_id": ada, "source_id": "ferry", "target_id": "harbour", "relation_type": "DEPENDS_ON"}
    done(http.post("/v1/links", json={**link, **LINK_METADATA}), 201)
    first = share(http, ada, "harbour")
    assert (first["status"], first["links"], first["left"]) == ("shared", [], [])
    second = share(http, ada, "ferry")
    assert second["links"] == [f"{second['id']}|DEPENDS_ON|{first['id']}"]
    copy = shown(citizens.bo, first["id"])
    assert (copy["description"], copy["author"], copy["source"], copy["tags"]) == (WORDS, ada, "tool", ["porto"])
    assert copy["shared_from"] == {
        "level": "N1",
        "citizen_id": ada,
        "collective": None,
        "id": "harbour",
        "version": 1,
    }
    assert share(http, ada, "harbour", command_id="again")["status"] == "unchanged"


def test_a_copy_is_brought_up_to_date_when_it_is_shared_again(citizens: Citizens) -> None:
    http, [ada, _, _] = citizens.ada, citizens.names
    remember(http, ada, "harbour", description=WORDS, tags=["porto"])
    copy = share(http, ada, "harbour")["id"]
    body = {"citizen_id": ada, "description": "It closes at ten.", "tags": None}
    done(http.post("/v1/memories/N1/harbour/correct", json=body))
    assert shown(http, copy)["description"] == WORDS
    assert share(http, ada, "harbour")["status"] == "updated"
    told = shown(http, copy)
    assert (told["description"], told["tags"], told["shared_from"]["version"]) == ("It closes at ten.", [], 2)
    body = {"citizen_id": ada, "description": "It closes at eleven."}
    done(http.post("/v1/memories/N1/harbour/supersede", json=body))
    share(http, ada, "harbour")
    reasons = [each["closed_reason"] for each in done(http.get(f"/v1/memories/N2/{copy}/history"))["records"]]
    assert [reason for reason in reasons if reason] == ["discovered_false", "reality_changed"]


def test_a_contest_is_listed_changes_its_reason_and_is_withdrawn(citizens: Citizens) -> None:
    [ada, bo, cleo] = citizens.names
    remember(citizens.ada, ada, "harbour", description=f"The harbour of {ada} closes at nine.")
    copy = share(citizens.ada, ada, "harbour")["id"]
    first = contest(citizens.bo, bo, copy, "It closed at ten last night.")
    assert contest(citizens.bo, bo, copy, "It closed at ten last night.")["duplicate"]
    second = contest(citizens.bo, bo, copy, "It closed at ten all week.")
    assert (second["id"], second["version"]) == (first["id"], 2)
    contest(citizens.cleo, cleo, copy, "Nobody keeps that time.")
    page = done(citizens.ada.get("/v1/contested", params={"author": ada}))
    [memory] = page["memories"]
    assert (memory["id"], memory["author"]) == (copy, ada)
    assert [(each["by"], each["reason"]) for each in memory["contested"]] == [
        (bo, "It closed at ten all week."), (cleo, "Nobody keeps that time.")
    ]  # fmt: skip
    assert [each["by"] for each in share(citizens.ada, ada, "harbour")["contested"]] == [bo, cleo]
    agreement = done(citizens.bo.get(f"/v1/memories/N2/{copy}/agreement"))
    assert (agreement["agreement"], agreement["contested_by"], agreement["shared_by"]) == (
        1 / 3,
        [bo, cleo],
        [ada],
    )
    withdrawal = {"citizen_id": bo, "level": "N2", "id": copy}
    done(citizens.bo.post("/v1/contests/withdraw", json=withdrawal))
    problem_in(citizens.bo.post("/v1/contests/withdraw", json=withdrawal), 404)
    assert done(citizens.ada.get("/v1/contested", params={"by": bo}))["memories"] == []
    assert contest(citizens.bo, bo, copy, "It did again.")["status"] == "stored"
    assert done(citizens.ada.get("/v1/contested", params={"by": bo}))["memories"][0]["id"] == copy


def test_a_stream_says_who_contests_what_it_shows_now_and_then(citizens: Citizens) -> None:
    [ada, bo, _] = citizens.names
    words = f"The lighthouse of {ada} has a green lamp."
    remember(citizens.ada, ada, "lamp", description=words)
    copy = share(citizens.ada, ada, "lamp")["id"]
    said = contest(citizens.bo, bo, copy, "It is red.")

    def asked(**fields: Any) -> dict[str, Any]:
        body = {"citizen_id": bo, "query_text": words, "query_levels": ["N2"], **fields}
        return done(citizens.bo.post("/v1/retrieve", json=body))

    def contested(stream: dict[str, Any]) -> list[str]:
        tiers = stream["activation_tiers"]
        nodes = [node for tier in ("focus", "peripheral", "background") for node in tiers[tier]]
        [node] = [node for node in nodes if node["node_id"] == copy]
        return [each["reason"] for each in node.get("contested", ())]

    assert contested(asked()) == ["It is red."]
    assert f"contested by {bo}: It is red." in asked(form="compact")["text"]
    done(citizens.bo.post("/v1/contests/withdraw", json={"citizen_id": bo, "level": "N2", "id": copy}))
    assert contested(asked()) == []
    then = {"temporal_mode": "point_in_time", "as_of_time": said["created_at"], "known_at": said["created_at"]}
    assert contested(asked(**then)) == ["It is red."]


def test_a_contest_is_erased_with_what_it_contests_and_made_again_of_another_copy(citizens: Citizens) -> None:
    [ada, bo, _] = citizens.names
    remember(citizens.ada, ada, "buoy", description=f"{WORDS} {ada}")
    copy = share(citizens.ada, ada, "buoy")["id"]
    named = {"citizen_id": bo, "level": "N2", "id": copy}
    for reason in ("No.", "Not at all."):
        contest(citizens.bo, bo, copy, "No.")
        done(citizens.ada.post(f"/v1/memories/N2/{copy}/erase", json={"citizen_id": ada}))
        share(citizens.ada, ada, "buoy")
        contest(citizens.bo, bo, copy, reason)
        agreement = done(citizens.bo.get(f"/v1/memories/N2/{copy}/agreement"))
        assert agreement["contested_by"] == [bo]
        done(citizens.ada.post(f"/v1/memories/N2/{copy}/erase", json={"citizen_id": ada}))
        problem_in(citizens.bo.post("/v1/contests/withdraw", json=named), 404)
        share(citizens.ada, ada, "buoy")


def test_only_what_another_wrote_and_still_holds_is_contested(citizens: Citizens) -> None:
    [ada, bo, _] = citizens.names
    remember(citizens.ada, ada, "harbour", description=WORDS)
    copy = share(citizens.ada, ada, "harbour")["id"]
    body = {"citizen_id": ada, "level": "N2", "id": copy, "reason": "No."}
    problem_in(citizens.ada.post("/v1/contests", json=body), 409)
    problem_in(citizens.bo.post("/v1/contests", json={**body, "citizen_id": bo, "id": "never"}), 404)
    problem_in(citizens.bo.post("/v1/contests", json={**body, "citizen_id": bo, "reason": " "}), 422)
    problem_in(citizens.bo.post("/v1/contests", json={**body, "citizen_id": bo, "level": "N1"}), 422)
    problem_in(citizens.bo.post("/v1/contests", json=body), 404)
    done(citizens.ada.post(f"/v1/memories/N2/{copy}/retract", json={"citizen_id": ada}))
    problem_in(citizens.bo.post("/v1/contests", json={**body, "citizen_id": bo}), 409)


def erase(http: httpx.Client, citizen: str, memory: str, **fields: Any) -> dict[str, Any]:
    return done(http.post(f"/v1/memories/N1/{memory}/erase", json={"citizen_id": citizen, **fields}))


def test_erasing_the_original_names_its_copies_and_takes_them_along(citizens: Citizens) -> None:
    http, [ada, bo, _] = citizens.ada, citizens.names
    remember(http, ada, "harbour", description=WORDS)
    first = share(http, ada, "harbour")["id"]
    second = share(http, ada, first, from_level="N2", level="N3")["id"]
    contest(citizens.bo, bo, first, "No.")
    report = erase(http, ada, "harbour")
    named = [(each["level"], each["id"], each["erased"]) for each in report["copies"]]
    assert named == [("N2", first, False), ("N3", second, False)]
    assert shown(citizens.bo, first)["author"] == ada
    report = erase(http, ada, "harbour", with_copies=True)
    assert report["notes"] == ["the original was erased before; its copies are erased now"]
    assert [each["erased"] for each in report["copies"]] == [True, True]
    assert problem_in(citizens.bo.get(f"/v1/memories/N2/{first}"), 404)
    assert problem_in(citizens.bo.get(f"/v1/memories/N3/{second}"), 404)
    assert done(http.get("/v1/contested", params={"author": ada}))["memories"] == []


@pytest.mark.parametrize("door", ["episode", "citizen"])
def test_the_copies_of_an_episode_and_of_a_citizen_go_with_them(citizens: Citizens, door: str) -> None:
    http, [ada, _, _] = citizens.ada, citizens.names
    remember(http, ada, "harbour", description=WORDS, episode_id="trip")
    copy = share(http, ada, "harbour")["id"]
    paths = {"episode": "/v1/episodes/trip", "citizen": f"/v1/citizens/{ada}"}
    params = {"with_copies": True} | ({"citizen_id": ada} if door == "episode" else {})
    report = done(http.delete(paths[door], params=params))
    assert [(each["id"], each["erased"]) for each in report["copies"]] == [(copy, True)]
    assert problem_in(http.get(f"/v1/memories/N2/{copy}"), 404)


def test_an_author_erases_its_own_copy_and_nobody_else_s(citizens: Citizens) -> None:
    [ada, bo, _] = citizens.names
    remember(citizens.ada, ada, "harbour", description=WORDS)
    path = f"/v1/memories/N2/{share(citizens.ada, ada, 'harbour')['id']}/erase"
    refused = problem_in(citizens.bo.post(path, json={"citizen_id": bo, "with_copies": True}), 403)
    assert refused["type"] == "/problems/not-author"
    assert done(citizens.ada.post(path, json={"citizen_id": ada}))["removed"]["memories"] == 1
