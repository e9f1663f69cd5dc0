"""Entity tags: 304 only for the same content of the same memory, and a version from `If-Match` only for it."""

from __future__ import annotations

import json

import pytest

from api.request_parsing.etags import etag_response, expect_version, refuse_if_match
from orchestration.mind.decay import DAY, NO_DECAY, Decay
from schemas.errors import InvalidRequest, PreconditionFailed
from schemas.memory import HALF_LIVES, ConsciousnessNode, Level
from schemas.temporal import to_datetime


def memory(level: Level = Level.N1, version: int = 3, name: str = "sea") -> ConsciousnessNode:
    start = to_datetime(0)
    fields = {"node_id": "m", "level": level, "node_type": "Memory", "name": name, "version": version}
    return ConsciousnessNode.unchecked({**fields, "valid_at": start, "created_at": start})


def tag(shown: ConsciousnessNode, citizen_id: str | None = "ada") -> str:
    return etag_response(shown, NO_DECAY, citizen_id, None).headers["etag"]


@pytest.mark.parametrize("wrapped", ["{}", "W/{}", '"other", {}', "{} , W/x", "*"])
def test_a_tag_that_the_caller_has_is_answered_without_a_body(wrapped: str) -> None:
    response = etag_response(memory(), NO_DECAY, "ada", wrapped.format(tag(memory())))
    assert (response.status_code, response.body) == (304, b"")


def test_another_tag_is_answered_with_the_memory() -> None:
    response = etag_response(memory(name="lake"), NO_DECAY, "ada", tag(memory()))
    assert response.status_code == 200
    assert b"lake" in bytes(response.body)


def test_the_energy_that_time_leaves_is_shown_and_changes_no_tag() -> None:
    stored = memory().model_copy(update={"energy": 0.8})
    answers = [etag_response(stored, Decay(HALF_LIVES, days * DAY), "ada", None) for days in (0, 90)]
    shown = [json.loads(bytes(answer.body))["effective_energy"] for answer in answers]
    assert shown == [0.8, 0.4]
    assert {answer.headers["etag"] for answer in answers} == {tag(stored)}


def test_a_tag_differs_between_citizens_on_n1_only() -> None:
    assert tag(memory(), "ada") != tag(memory(), "bo")
    assert tag(memory(Level.N2), "ada") == tag(memory(Level.N2), None)


def test_if_match_becomes_the_expected_version() -> None:
    raw = {"citizen_id": "ada", "id": "m", "level": Level.N1, "name": "new"}
    assert expect_version(raw, tag(memory())) == {**raw, "expected_version": 3}


@pytest.mark.parametrize("if_match", [None, "*", " * "])
def test_without_a_tag_no_version_is_expected(if_match: str | None) -> None:
    assert expect_version({"id": "m"}, if_match) == {"id": "m"}


@pytest.mark.parametrize("change", [{"id": "other"}, {"citizen_id": "bo"}, {"level": Level.N2}])
def test_the_tag_of_another_memory_fails_the_precondition(change: dict[str, str]) -> None:
    with pytest.raises(PreconditionFailed):
        expect_version({"citizen_id": "ada", "id": "m", "level": Level.N1, **change}, tag(memory()))


def test_a_version_is_expected_in_one_place_only() -> None:
    with pytest.raises(InvalidRequest):
        expect_version({"citizen_id": "ada", "id": "m", "expected_version": 3}, tag(memory()))


def test_if_match_is_refused_where_nothing_is_changed() -> None:
    refuse_if_match(None, "an erasure")
    with pytest.raises(InvalidRequest, match="not for an erasure"):
        refuse_if_match("*", "an erasure")
