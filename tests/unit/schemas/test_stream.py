"""A whole stream from rows: what is built unchecked is what validation would build, and its JSON is the same."""

from __future__ import annotations

import orjson
import pytest

from benchmarks.stream_parts import cases, streamed
from schemas.base import json_bytes
from schemas.stream import ConsciousnessStream


@pytest.fixture(scope="module")
def stream() -> ConsciousnessStream:
    return streamed(next(cases(1)))


def test_a_full_stream_has_120_memories_300_links_and_paths(stream: ConsciousnessStream) -> None:
    graph = stream.traversal_graph
    assert (graph.node_count, graph.edge_count, graph.path_count) == (120, 300, 10)
    assert sum(len(level.relationships) for level in stream.levels.values()) == 300


def test_the_json_of_a_stream_is_that_of_its_models(stream: ConsciousnessStream) -> None:
    said = orjson.loads(json_bytes(stream))
    assert said == stream.model_dump(mode="json")
    assert list(said["traversal_graph"]["edges"][0])[:4] == ["edge_id", "level", "collective", "source_id"]


def test_a_stream_built_unchecked_equals_the_validated_one(stream: ConsciousnessStream) -> None:
    assert ConsciousnessStream.model_validate_json(json_bytes(stream)) == stream
