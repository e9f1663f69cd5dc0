"""Rules of HTTP for every answer: HEAD, Location, refused encodings, ETags, long addresses."""

from __future__ import annotations

import json

import pytest

from api.request_parsing.bodies import parse_strict_json
from api.security.middleware import MAX_TARGET_BYTES
from tests.acceptance.conftest import Service

TEXT = "the sea was calm " * 200
"""Long enough to be compressed."""


@pytest.fixture(scope="module")
def address(wordless: Service) -> str:
    receipt = wordless.remember("manners", id="m/1", name="The sea", description=TEXT)
    assert receipt["id"] == "m/1"
    return "/v1/memories/N1/m%2F1?citizen_id=manners"


@pytest.mark.parametrize("path", ["/v1/memories?citizen_id=manners", "/health/live", "/", "/openapi.json"])
def test_head_answers_as_get_does_without_a_body(wordless: Service, address: str, path: str) -> None:
    whole, head = wordless.http.get(path), wordless.http.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"") == (200, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]


def test_head_of_a_memory_has_its_tag_and_its_length(wordless: Service, address: str) -> None:
    plain = {"Accept-Encoding": "identity"}
    whole, head = wordless.http.get(address, headers=plain), wordless.http.head(address, headers=plain)
    assert head.headers["etag"] == whole.headers["etag"]
    assert head.headers["content-length"] == str(len(whole.content))


def test_head_of_what_is_not_there_is_not_found(wordless: Service) -> None:
    assert wordless.http.head("/v1/memories/N1/none?citizen_id=manners").status_code == 404
    assert wordless.http.head("/v1/retrieve").status_code == 405


def test_head_of_an_export_reads_no_more_than_its_head(wordless: Service, address: str) -> None:
    export = "/v1/citizens/manners/export"
    head = wordless.http.head(export)
    assert (head.status_code, head.headers["content-type"]) == (200, "application/x-ndjson")
    while (whole := wordless.http.get(export)).status_code == 429:
        pass  # what the head had begun ends by itself; a key has one export at a time
    assert whole.status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/memories", {"name": "first"}),
        ("/v1/memories", {"name": "of the collective", "level": "N2", "id": "a b/c?d"}),
        ("/v1/commands", {"command": "remember", "name": "second"}),
    ],
)
def test_a_write_answers_with_the_address_of_the_memory(
    wordless: Service, path: str, body: dict[str, str]
) -> None:
    named = {} if body.get("level") == "N2" else {"citizen_id": "manners"}
    written = wordless.http.post(path, json={**named, **body})
    assert written.status_code == 201
    read = wordless.http.get(written.headers["location"])
    assert (read.status_code, read.json()["name"]) == (200, body["name"])


def test_a_link_has_an_address_too(wordless: Service) -> None:
    for one in ("from", "to"):
        wordless.remember("manners", id=one, name=one)
    made = wordless.relate("manners", ("from", "LEADS_TO", "to"))
    assert wordless.http.get(made.headers["location"]).json()["relation_type"] == "LEADS_TO"


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=0.000, *", None),
        ("*;q=0", None),
        ("*", "gzip"),
        ("br, gzip;q=0.1", "gzip"),
        ("identity", None),
        ("", None),
    ],
)
def test_an_encoding_that_is_refused_is_not_used(
    wordless: Service, address: str, accepted: str, encoding: str | None
) -> None:
    answer = wordless.http.get(address, headers={"Accept-Encoding": accepted})
    assert answer.headers.get("content-encoding") == encoding
    assert answer.json()["description"] == TEXT


def test_a_compressed_answer_has_a_tag_of_its_own_and_both_tags_are_known_again(
    wordless: Service, address: str
) -> None:
    tags = {}
    for encoding in ("identity", "gzip"):
        tags[encoding] = wordless.http.get(address, headers={"Accept-Encoding": encoding}).headers["etag"]
    assert tags["identity"] != tags["gzip"]
    for encoding, tag in tags.items():
        said = {"Accept-Encoding": encoding, "If-None-Match": tag}
        unchanged = wordless.http.get(address, headers=said)
        assert (unchanged.status_code, unchanged.headers["etag"]) == (304, tag)


def test_a_change_may_name_the_tag_of_the_compressed_answer(wordless: Service) -> None:
    wordless.remember("manners", id="tagged", name="tagged", description=TEXT)
    place = "/v1/memories/N1/tagged"
    tag = wordless.http.get(f"{place}?citizen_id=manners", headers={"Accept-Encoding": "gzip"}).headers["etag"]
    change = {"citizen_id": "manners", "name": "changed"}
    assert wordless.http.post(f"{place}/correct", json=change, headers={"If-Match": tag}).status_code == 200
    assert wordless.http.post(f"{place}/correct", json=change, headers={"If-Match": tag}).status_code == 412


def test_an_address_that_is_too_long_is_refused_as_that(wordless: Service) -> None:
    answer = wordless.http.get("/v1/memories?citizen_id=" + "c" * MAX_TARGET_BYTES)
    assert (answer.status_code, answer.json()["type"]) == (414, "/problems/address-too-long")


@pytest.mark.parametrize(
    "body",
    [
        '{"citizen_id": "manners", "name": "a", "name": "b"}',
        '{"citizen_id": "manners", "name": "a:b", "extra": {"x:": 1, "x:": 2}}',
        r'[{"citizen_id": "manners", "name": "\"x\": \\", "level": "N1", "level": "N1"}]',
    ],
)
def test_a_name_that_stands_twice_in_one_object_is_refused(wordless: Service, body: str) -> None:
    with wordless.unchanged():
        answer = wordless.http.post("/v1/memories", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert "twice" in answer.json()["detail"]


@pytest.mark.parametrize("text", [b'{"a": "b: c", "d": ["e:", {"f:": "\\":\\\\"}]}', b'":"', b"[]", b'{"": ":"}'])
def test_a_colon_within_a_text_is_no_name(text: bytes) -> None:
    assert parse_strict_json(text) == json.loads(text)


def test_whatever_is_accepted_the_answer_is_json(wordless: Service, address: str) -> None:
    answer = wordless.http.get(address, headers={"Accept": "application/xml"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
