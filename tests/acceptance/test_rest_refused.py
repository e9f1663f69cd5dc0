"""Changes that cannot be: of what is unknown, erased or not as seen. Each is told, and nothing is changed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from tests.acceptance.conftest import Service

OF_MEMORIES: dict[str, dict[str, Any]] = {
    "supersede": {"name": "changed"},
    "correct": {"name": "changed"},
    "resolve": {},
    "retract": {},
    "undo": {},
}
OF_LINKS = {**OF_MEMORIES, "supersede": {"goal": "changed"}, "correct": {"goal": "changed"}}
CHANGES = [("memories", how) for how in OF_MEMORIES] + [("links", how) for how in OF_LINKS]
SAID = {"memories": OF_MEMORIES, "links": OF_LINKS}
BEGUN = "2025-01-01T00:00:00Z"
EARLIER = "2024-01-01T00:00:00Z"
EVERY = pytest.mark.parametrize(("what", "how"), CHANGES)


@pytest.fixture(scope="module")
def changed(service: Service) -> str:
    """A citizen with memories and links of which each was changed once, and one memory that was erased."""
    citizen = f"c{uuid4().hex[:12]}"
    for name in ("a", "b", "gone"):
        service.remember(citizen, id=name, name=name, valid_at=BEGUN)
    for ends in (("a", "NEXT", "b"), ("a", "NEXT", "gone")):
        assert service.relate(citizen, ends, valid_at=BEGUN).status_code == 201
    for what, of in (("memories", "a"), ("links", "a|NEXT|b")):
        assert change(service, citizen, (what, "correct"), of, command_id=f"first {what}").status_code == 200
    erased = service.http.post("/v1/memories/N1/gone/erase", json={"citizen_id": citizen})
    assert erased.status_code == 200
    return citizen


def change(service: Service, citizen: str, kind: tuple[str, str], of: str, **fields: Any) -> httpx.Response:
    what, how = kind
    body = {"citizen_id": citizen, **SAID[what][how], **fields}
    return service.http.post(f"/v1/{what}/N1/{quote(of, safe='')}/{how}", json=body)


def of(what: str) -> str:
    return "a" if what == "memories" else "a|NEXT|b"


def told(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"]
    return answer.status_code, str(answer.json()["type"])


@EVERY
def test_a_change_of_what_is_unknown_or_erased_is_not_found(
    service: Service, changed: str, what: str, how: str
) -> None:
    names = ("never", "gone") if what == "memories" else ("a|NEXT|never", "a|NEXT|gone", "never")
    with service.unchanged():
        for name in names:
            assert told(change(service, changed, (what, how), name)) == (404, "/problems/not-found")


@EVERY
@pytest.mark.parametrize("version", [1, 99])
def test_a_change_of_another_version_than_the_one_there_is_a_conflict_that_names_it(
    service: Service, changed: str, what: str, how: str, version: int
) -> None:
    with service.unchanged():
        answer = change(service, changed, (what, how), of(what), expected_version=version)
        assert told(answer) == (409, "/problems/conflict")
        assert answer.json()["current_version"] == 2


@EVERY
def test_a_command_id_that_another_content_was_sent_under_is_a_conflict(
    service: Service, changed: str, what: str, how: str
) -> None:
    with service.unchanged():
        for used in ("first memories", "first links"):
            if (used, how) == (f"first {what}", "correct"):
                again = change(service, changed, (what, how), of(what), command_id=used)
                assert again.json()["duplicate"] is True
                continue
            answer = change(service, changed, (what, how), of(what), command_id=used)
            assert told(answer) == (409, "/problems/conflict")
        remembered = service.http.post(
            "/v1/memories", json={"citizen_id": changed, "name": "c", "command_id": "first links"}
        )
        assert told(remembered) == (409, "/problems/conflict")
        assert told(service.relate(changed, ("b", "NEXT", "a"), command_id="first links"))[0] == 409


@pytest.mark.parametrize("what", ["memories", "links"])
def test_a_supersession_before_the_record_that_it_replaces_is_refused(
    service: Service, changed: str, what: str
) -> None:
    with service.unchanged():
        answer = change(service, changed, (what, "supersede"), of(what), effective_at=EARLIER)
        assert told(answer) == (422, "/problems/invalid-request")
        assert f"nothing of it is known at {EARLIER}" in answer.json()["detail"]
    assert change(service, changed, (what, "supersede"), of(what), effective_at=BEGUN).status_code == 200


@pytest.mark.parametrize("moment", [EARLIER, BEGUN])
def test_a_memory_retracted_from_its_beginning_or_earlier_never_held(
    service: Service, citizen: str, moment: str
) -> None:
    service.remember(citizen, id="a", name="a", valid_at=BEGUN)
    service.remember(citizen, id="b", name="b", valid_at=BEGUN)
    assert service.relate(citizen, ("a", "NEXT", "b"), valid_at=BEGUN).status_code == 201
    for what in ("links", "memories"):
        assert change(service, citizen, (what, "retract"), of(what), effective_at=moment).status_code == 200
        seen = {"citizen_id": citizen, "as_of_time": BEGUN, "known_at": "2100-01-01T00:00:00Z"}
        there = service.http.get(f"/v1/{what}/N1/{quote(of(what), safe='')}", params=seen)
        assert there.status_code == 404


def test_a_list_that_is_all_or_nothing_is_not_begun_where_one_is_refused(service: Service, changed: str) -> None:
    one = {"citizen_id": changed, "name": "n"}
    with service.unchanged():
        for bad in ({**one, "id": "a"}, {**one, "command_id": "first links"}, {**one, "energy": 2}):
            answer = service.http.post("/v1/memories", params={"atomic": True}, json=[one, bad])
            assert (answer.json()["stored"], answer.json()["refused"]) == (0, 2)


def test_an_erased_memory_may_be_stored_again_without_its_links(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a", name="a", command_id="c")
    service.remember(citizen, id="b", name="b")
    assert service.relate(citizen, ("a", "NEXT", "b")).status_code == 201
    assert service.http.post("/v1/memories/N1/a/erase", json={"citizen_id": citizen}).status_code == 200
    with service.unchanged():
        assert told(service.relate(citizen, ("b", "NEXT", "a")))[0] == 404
        assert service.http.get("/v1/receipts/c", params={"citizen_id": citizen}).status_code == 404
    assert service.remember(citizen, id="a", name="another", command_id="d")["version"] == 1
