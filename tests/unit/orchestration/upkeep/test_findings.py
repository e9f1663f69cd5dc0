"""The findings on the memories and links of a page."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep import findings as time_overlaps
from orchestration.upkeep.findings import (
    SweptGraph,
    find_in_link,
    find_in_memory,
    validate_own_metadata,
)
from schemas.memory import Level
from schemas.temporal import END_OF_TIME
from schemas.upkeep.findings import RetractLink, ReviseLink
from substrate.store.upkeep import (
    LONG_FIELDS,
    LinkEnd,
    LinkRow,
    MemoryRow,
)

GRAPH = SweptGraph(Level.N1, "ada")
ESSAY = "the kind of joy that one only has on the first warm day of spring"


def memory(*, embedding: str = "Vectorf32", linked: int = 0, **fields: Any) -> MemoryRow:
    whole = {
        "id": "m", "node_type": "Memory", "name": "Tea", "speaker": None, "version": 1, "energy": "0.6",
        "confidence": 1, "emotion_vector": '{"joy":0.5}', "goal": None, "resolution_state": None, "unset": None,
        "valid_at": 10, "invalid_at": END_OF_TIME, "created_at": 20, "expired_at": END_OF_TIME,
        "description": "Ada drinks tea", "felt_quality": None, "body_sensation": None,
    }  # fmt: skip
    return MemoryRow(7, True, embedding, linked, 0, 0, 0, {**whole, **fields})


def link(source: LinkEnd | None = None, target: LinkEnd | None = None, **fields: Any) -> LinkRow:
    whole = {
        "id": "l", "relation_type": "NEXT", "valid_at": 10, "invalid_at": END_OF_TIME, "created_at": 20,
        "expired_at": END_OF_TIME, "energy": "0.6", "confidence": "0.5", "emotion_vector": "{}", "goal": "g",
        "mindstate": "m", "energy_transfer_coefficient": "0.5", "resolution_state": "blocked",
        "formation_trigger": "t", "felt_quality": "f", "emotion_description": "e",
        "body_sensation": None, "spatial_context": None, "sensory_details": None,
    }  # fmt: skip
    return LinkRow(source or end("a"), target or end("b"), True, {**whole, **fields})


def end(
    identity: str, expired: int = END_OF_TIME, invalid: int = END_OF_TIME, reason: str | None = None
) -> LinkEnd:
    return LinkEnd(identity, ord(identity), expired, invalid, reason)


def kinds(row: MemoryRow) -> list[str]:
    return [one.kind for one in find_in_memory(row, GRAPH)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"name": "None", "description": ""}, ["junk"]),
        ({"name": " null ", "description": "undefined"}, ["junk"]),
        ({"name": "", "description": None}, ["junk"]),
        ({"name": "\u200b", "description": "\n"}, ["junk"]),
        ({"name": "Plan", "description": "NaN"}, ["junk"]),
        ({"name": "tea", "description": ""}, ["junk"]),
        ({"name": "green tea", "description": ""}, []),
        ({"name": "Ada", "description": "", "node_type": "Person"}, []),
        ({"name": "tea", "description": "", "node_type": "Drink"}, ["junk"]),
        ({"name": "tea", "description": "", "node_type": "Drink", "linked": 1}, []),
        ({"name": "tea", "description": "", "linked": 1}, ["junk"]),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "Yes"}, []),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "👍"}, []),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "None."}, []),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": "None"}, ["junk"]),
        ({"name": "D1:1", "node_type": "Turn", "speaker": "Ada", "description": ""}, ["junk"]),
        ({"name": "None", "expired_at": 30}, []),
        ({"embedding": "Null"}, ["embedding_missing"]),
        ({"embedding": "List"}, ["embedding_missing"]),
        ({"embedding": "Null", "expired_at": 30}, []),
        ({"emotion_vector": None}, []),
        ({"emotion_vector": '{"' + "a" * 40 + '":0.5}'}, []),
        ({"emotion_vector": '{"' + "a" * 41 + '":0.5}'}, ["essay_emotion"]),
        ({"emotion_vector": '{"a bit of joy":0.5}'}, []),
        ({"emotion_vector": '{"a little bit of joy":0.5}'}, ["essay_emotion"]),
        ({"unset": "energy,confidence,emotion_vector", "energy": "0.5"}, ["unset_default"]),
        ({"unset": "energy,emotion_vector"}, []),
        ({"unset": "emotion_vector", "emotion_vector": None}, ["unset_default"]),
        ({"energy": None}, ["memory_invalid"]),
        ({"energy": "1.01"}, ["memory_invalid"]),
        ({"confidence": "much"}, ["memory_invalid"]),
        ({"emotion_vector": "joy"}, ["memory_invalid"]),
        ({"emotion_vector": '{"joy":2}'}, ["memory_invalid"]),
        ({"name": None}, ["memory_invalid"]),
        ({"valid_at": None}, ["memory_invalid"]),
        ({"valid_at": "2025"}, ["memory_invalid"]),
        ({"invalid_at": 10}, ["memory_invalid"]),
        ({"version": None}, ["memory_invalid"]),
    ],
)
def test_each_fault_of_a_memory_is_found(fields: dict[str, Any], expected: list[str]) -> None:
    assert kinds(memory(**fields)) == expected


@pytest.mark.parametrize(
    ("row", "repair"),
    [
        (memory(name="None", description=""), {"command": "retract", "expected_version": 1}),
        (memory(name="Plan", description="None"), {"command": "correct", "description": ""}),
        (memory(energy=None), {"command": "correct", "energy": 0.5, "confidence": 0.5}),
        (
            memory(emotion_vector=orjson.dumps({ESSAY: 0.7, "calm": 0.2}).decode(), felt_quality="warm"),
            {"emotion_vector": {"calm": 0.2, "joy": 0.7}, "felt_quality": f"warm; {ESSAY}"},
        ),
    ],
)
def test_each_repairable_fault_of_a_memory_has_its_repair(row: MemoryRow, repair: dict[str, Any]) -> None:
    [one] = find_in_memory(row, GRAPH)
    said = one.model_dump(mode="json")["repair"]
    assert said["action"] == "apply"
    assert {name: said["command"][name] for name in repair} == repair
    assert (said["command"]["id"], said["command"]["citizen_id"]) == ("m", "ada")


@pytest.mark.parametrize(
    ("fields", "said", "repair"),
    [
        ({"energy_transfer_coefficient": None}, "REQUIRED field missing: energy_transfer_coefficient", ReviseLink),
        ({"resolution_state": "open"}, "REQUIRED field invalid: resolution_state", ReviseLink),
        ({"goal": None, "resolution_state": None}, "REQUIRED field missing: goal", RetractLink),
        ({"energy": "2"}, "REQUIRED field invalid: energy", RetractLink),
        ({"emotion_vector": "none"}, "REQUIRED field invalid: emotion_vector", RetractLink),
        ({"mindstate": ""}, "REQUIRED field invalid: mindstate", RetractLink),
        ({"sensory_details": "loud"}, "CONDITIONAL field invalid: sensory_details", RetractLink),
        ({"relation_type": None}, "relation_type is missing", RetractLink),
        ({"id": None}, "id is missing", type(None)),
        ({"created_at": None}, "a time is missing", type(None)),
    ],
)
def test_each_fault_in_the_metadata_of_a_link_is_found(fields: dict[str, Any], said: str, repair: type) -> None:
    _, [one] = find_in_link(link(**fields), GRAPH)
    assert (one.kind, one.severity) == ("link_invalid", "error")
    assert said in one.message
    assert isinstance(one.repair, repair)


GARBAGE: tuple[Any, ...] = (
    None,
    0,
    -7,
    "",
    "None",
    "7.5",
    "nan",
    "[1]",
    '{"a b c d e":null}',
    '{"a":{}}',
    [1],
    "\n|",
)


@given(st.sampled_from(sorted(memory().fields)), st.sampled_from(GARBAGE), st.booleans())
def test_no_garbage_in_a_memory_stops_a_sweep(field: str, value: Any, felt: bool) -> None:
    if field in LONG_FIELDS and value is not None:
        value = str(value)  # so the engine gives them
    row = memory(**{"name": "None", field: value})
    list(find_in_memory(row._replace(felt_as_numbers=felt), GRAPH))
    assert 0.0 <= validate_own_metadata(row).metadata_completeness <= 1.0


@given(st.sampled_from(sorted(link().fields)), st.sampled_from(GARBAGE), st.booleans())
def test_no_garbage_in_a_link_stops_a_sweep(field: str, value: Any, felt: bool) -> None:
    row = link(end("a", expired=50), **{field: value})
    result, found = find_in_link(row._replace(felt_as_numbers=felt), GRAPH)
    assert 0.0 <= result.metadata_completeness <= 1.0
    assert found
    time_overlaps.record_of(row)


@pytest.mark.parametrize(
    ("target", "valid", "until"),
    [
        (end("b"), (10, END_OF_TIME), "none"),
        (end("b", invalid=50), (10, END_OF_TIME), "none"),
        (end("b", expired=50), (10, END_OF_TIME), None),
        (end("b", invalid=50, reason="reality_changed"), (10, END_OF_TIME), 50),
        (end("b", invalid=50, reason="reality_changed"), (10, 50), "none"),
        (end("b", invalid=50, reason="reality_changed"), (60, END_OF_TIME), None),
    ],
)
def test_a_link_holds_no_longer_than_its_retracted_ends(
    target: LinkEnd, valid: tuple[int, int], until: int | str | None
) -> None:
    _, found = find_in_link(link(target=target, valid_at=valid[0], invalid_at=valid[1]), GRAPH)
    ends = [one.repair.until for one in found if isinstance(one.repair, RetractLink)]
    assert ends == ([] if until == "none" else [until])
