"""Lists of a tag or a bucket over REST: pages of the first one's moment, now and of the past."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.acceptance.conftest import Service
from tests.acceptance.test_rest_pages import get, post


def ids(page: Any) -> list[str]:
    return [one["node_id"] for one in page["memories"]]


def test_a_list_has_the_memories_of_a_tag_and_a_bucket(service: Service, citizen: str) -> None:
    for name in "abcdef":
        service.remember(citizen, id=name, name=name, tags=["x" if name in "abc" else "y"], buckets=["all", name])
    assert ids(get(service, citizen, "memories", tag="x")) == ["a", "b", "c"]
    assert ids(get(service, citizen, "memories", bucket="e")) == ["e"]
    assert ids(get(service, citizen, "memories", tag="y", bucket="a")) == []
    assert ids(get(service, citizen, "memories", bucket="nowhere")) == []
    first = get(service, citizen, "memories", bucket="all", limit=4)
    assert ids(first) + ids(get(service, citizen, "memories", bucket="all", cursor=first["next"])) == list(
        "abcdef"
    )


def test_a_later_page_of_a_bucket_knows_nothing_that_was_written_after_the_first(
    service: Service, citizen: str
) -> None:
    for name in "abcdef":
        service.remember(citizen, id=name, name=name, buckets=["in" if name < "e" else "out"])
    first = get(service, citizen, "memories", bucket="in", limit=2)
    post(service, citizen, "memories/N1/c/correct", buckets=["out"])
    post(service, citizen, "memories/N1/d/retract")
    post(service, citizen, "memories/N1/e/supersede", buckets=["in"])
    assert ids(get(service, citizen, "memories", bucket="in", cursor=first["next"])) == ["c", "d"]
    assert ids(get(service, citizen, "memories", bucket="in")) == ["a", "b", "e"]


def test_a_list_of_a_bucket_sees_what_holds_then_and_what_is_planned(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a", name="a", buckets=["in"], valid_at="2026-01-01T00:00:00Z")
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    post(service, citizen, "memories/N1/a/supersede", buckets=["out"], effective_at=soon)
    assert ids(get(service, citizen, "memories", bucket="in")) == ["a"]
    assert ids(get(service, citizen, "memories", bucket="out")) == []
    later = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    assert ids(get(service, citizen, "memories", bucket="out", as_of_time=later, known_at=_now())) == ["a"]
    assert ids(get(service, citizen, "memories", bucket="in", as_of_time=later, known_at=_now())) == []


def _now() -> str:
    return datetime.now(UTC).isoformat()


def test_a_revision_gives_other_extra_fields(service: Service, citizen: str) -> None:
    service.remember(citizen, id="a", name="a", extra={"one": 1, "two": [2]})
    post(service, citizen, "memories/N1/a/supersede", extra={"three": {"deep": True}})
    assert get(service, citizen, "memories/N1/a")["extra"] == {"three": {"deep": True}}
    post(service, citizen, "memories/N1/a/correct", description="changed")
    assert get(service, citizen, "memories/N1/a")["extra"] == {"three": {"deep": True}}
    post(service, citizen, "memories/N1/a/correct", extra=None)
    assert get(service, citizen, "memories/N1/a")["extra"] == {}
    kept = [one["extra"] for one in get(service, citizen, "memories/N1/a/history")["records"]]
    assert {"one": 1, "two": [2]} in kept
