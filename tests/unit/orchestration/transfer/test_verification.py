"""Whether an export is whole, unchanged and possible."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.registry import FEATURES
from orchestration.transfer.line_format import encode, header
from orchestration.transfer.verification import EmbeddingModel, verify
from schemas.errors import InvalidRequest
from schemas.temporal import END_OF_TIME
from substrate.store.archive import NEWEST_SCHEMA

MODEL = EmbeddingModel("minilm", 2)
TIMES = {"valid_at": 1, "invalid_at": END_OF_TIME, "created_at": 1, "expired_at": END_OF_TIME}
STAMP = {"schema_version": NEWEST_SCHEMA, "embedding_model": MODEL.name, "dimension": MODEL.dimension}
GRAPH = {"kind": "graph", "level": "N1", "citizen_id": "ada", **STAMP, "meta": {"clock": 1}}


def memory(memory_id: str, **fields: Any) -> dict[str, Any]:
    content = {"id": memory_id, "node_type": "Memory", "name": memory_id, "version": 1, **TIMES, **fields}
    return {"kind": "memory", "properties": content, "tags": {}}


def link(source: str, target: str, **fields: Any) -> dict[str, Any]:
    content = {"id": f"{source}|R|{target}", "relation_type": "R", "goal": "g", "mindstate": "m", "energy": 0.5}
    felt = {"confidence": 0.5, "emotion_vector": "{}", "energy_transfer_coefficient": 0.5}
    ends = {"source_id": source, "target_id": target, "past": False}
    return {"kind": "link", **ends, "properties": {**content, **felt, **TIMES, **fields}}


def file(*lines: dict[str, Any], embeddings: bool = False) -> list[bytes]:
    """The lines with their header, and an end whose counts and checksum fit."""
    whole = [encode(header(embeddings=embeddings)), *(encode(line) for line in lines)]
    kinds = [line["kind"] for line in lines if line["kind"] != "graph"]
    counts = {kind: kinds.count(kind) for kind in kinds}
    digest = sha256(b"".join(whole)).hexdigest()
    return [*whole, encode({"kind": "end", "counts": counts, "sha256": digest})]


GOOD = file(GRAPH, {"kind": "tag", "properties": {"name": "#x"}}, memory("a"), memory("b"), link("a", "b"))


def refusal(lines: list[bytes]) -> str:
    with pytest.raises(InvalidRequest) as caught:
        list(verify(lines, MODEL, FEATURES.kept))
    return caught.value.detail


@pytest.mark.parametrize("missing", range(len(GOOD)))
def test_no_line_can_be_missing(missing: int) -> None:
    assert refusal(GOOD[:missing] + GOOD[missing + 1 :])


@given(st.integers(0, len(GOOD) - 1), st.data())
def test_no_byte_can_be_another(number: int, data: st.DataObject) -> None:
    line = bytearray(GOOD[number])
    position = data.draw(st.integers(0, len(line) - 2))
    changed = data.draw(st.integers(32, 126).filter(lambda byte: byte != line[position]))
    line[position] = changed
    damaged = [*GOOD[:number], bytes(line), *GOOD[number + 1 :]]
    if number == len(GOOD) - 1 and orjson_equal(bytes(line), GOOD[-1]):
        return
    refusal(damaged)


def orjson_equal(one: bytes, other: bytes) -> bool:
    try:
        return bool(orjson.loads(one) == orjson.loads(other))
    except orjson.JSONDecodeError:
        return False


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([memory("a")], "line 2: no graph was named before it"),
        ([GRAPH, GRAPH], "line 3: graph .* comes twice"),
        ([{**GRAPH, "schema_version": NEWEST_SCHEMA + 1}], "it comes from schema version"),
        ([{**GRAPH, "citizen_id": "a/b"}], "citizen_id: "),
        ([GRAPH, memory("b"), memory("a")], "line 4: it is out of order, or comes twice"),
        ([GRAPH, memory("a"), memory("a")], "comes twice"),
        ([GRAPH, {"kind": "idea"}], "its kind 'idea' is not known"),
        ([GRAPH, {"kind": "node", "label": "Idea", "properties": {}}], "its label 'Idea' is not known"),
        ([GRAPH, {"kind": "tag", "properties": {"name": " x "}}], "without spaces at its ends"),
        ([GRAPH, {"kind": "tag", "properties": {}}], "it lacks 'name'"),
        ([GRAPH, memory("a", **{"no name": 1})], "a property cannot be called 'no name'"),
        ([GRAPH, memory("a", big=2**64 - 1)], "holds a number beyond 64 bits"),
        ([GRAPH, memory("a", text="\0")], "holds a NUL character"),
        ([GRAPH, memory("a", value=None)], "is neither a text"),
        ([GRAPH, memory("a", valid_at="soon")], "it is not what an export has here"),
        ([GRAPH, {**memory("a"), "trace": {"label": "Idea"}}], "a trace cannot be a 'Idea'"),
    ],
)
def test_a_line_that_no_export_contains_is_refused_with_its_number(
    lines: list[dict[str, Any]], words: str
) -> None:
    assert re.search(words, refusal(file(*lines)))
