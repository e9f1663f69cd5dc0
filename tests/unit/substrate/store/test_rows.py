"""Rows of the engine as models: one by one and many at once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import Level
from schemas.temporal import END_OF_TIME
from substrate.store import rows
from substrate.store.search import LINK_START, NODE_START
from tests.builders import stored_link, stored_row

MAYBE_OF_A_MEMORY: dict[str, Any] = {
    "invalid_at": 7, "version": 3, "closed_reason": "reality_changed", "invalidation_reason": "discovered_false",
    "emotion_vector": '{"joy":0.5}', "tags": '["a","b"]', "extra": '{"x":1}', "unset": "energy,tags",
    "resolution_state": "blocked", "source": "upkeep", "importance": "0.25", "speaker": "Ada",
}  # fmt: skip
MAYBE_OF_A_LINK: dict[str, Any] = {
    "version": 2, "closed_reason": "discovered_false", "emotion_vector": '{"fear":1}',
    "sensory_details": '{"a":1}',
    "felt_quality": "firm", "extra": '{"y":[]}', "episode_id": "e", "expired_at": 9,
}  # fmt: skip


def some(maybe: dict[str, Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """A few records, each with some of these fields."""
    fields = st.sets(st.sampled_from(sorted(maybe))).map(lambda names: {name: maybe[name] for name in names})
    return st.lists(fields, max_size=4)


@given(some(MAYBE_OF_A_MEMORY))
def test_many_memories_are_read_as_each_by_itself(records: list[dict[str, Any]]) -> None:
    given = [stored_row({"id": f"m{place}", **fields})[NODE_START:] for place, fields in enumerate(records)]
    scores = [place / 10 for place, _ in enumerate(records)]
    read = rows.nodes(given, {"level": [Level.N2] * len(given), "relevance_score": scores})
    each = [rows.node(row, Level.N2, relevance_score=score) for row, score in zip(given, scores, strict=True)]
    assert read == each
    assert [one.model_dump_json() for one in read] == [one.model_dump_json() for one in each]


@given(some(MAYBE_OF_A_LINK))
def test_many_links_are_read_as_each_by_itself(records: list[dict[str, Any]]) -> None:
    times = {"valid_at": 1, "invalid_at": END_OF_TIME, "created_at": 1, "expired_at": END_OF_TIME}
    links = [{**stored_link(f"l{place}"), **times, **fields} for place, fields in enumerate(records)]
    given = [stored_row({"id": "b"}, link, hop=1, ends=("a", "b"))[LINK_START:NODE_START] for link in links]
    count = len(given)
    read = rows.links(given, {"level": [Level.N1] * count, "source_id": ["a"] * count, "target_id": ["b"] * count})
    each = [rows.link(row, ("a", "b"), Level.N1) for row in given]
    assert [one.model_dump_json() for one in read] == [one.model_dump_json() for one in each]
