"""Commands: what may come in, what is refused, what is assumed."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from schemas.commands import ANY_COMMAND, Correct, Relate, Remember, Retract, Supersede
from schemas.memory import Level, ResolutionState

MEMORY: dict[str, Any] = {"command": "remember", "citizen_id": "ada", "name": "A walk"}
LINK: dict[str, Any] = {
    "command": "relate",
    "citizen_id": "ada",
    "source_id": "a",
    "target_id": "b",
    "relation_type": "JUSTIFIES",
    "energy": 0.7,
    "confidence": 0.9,
    "emotion_vector": {"joy": 0.5},
    "goal": "understand",
    "mindstate": "curious",
}
CONTROLS = [chr(code) for code in (*range(32), 127) if chr(code) not in "\n\r\t"]


def faults(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The places of the faults of a command that is refused."""
    with pytest.raises(ValidationError) as caught:
        ANY_COMMAND.validate_python(data)
    return [error["loc"] for error in caught.value.errors()]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("energy", 1.2),
        ("energy", -0.01),
        ("energy", math.nan),
        ("energy", math.inf),
        ("energy", "strong"),
        ("energy", None),
        ("confidence", 1.0000001),
        ("importance", -1),
        ("intensity", math.nan),
        ("discovery_energy", 2),
        ("emotion_vector", {"joy": "much"}),
        ("emotion_vector", {"joy": 1.1}),
        ("emotion_vector", {"joy": math.nan}),
        ("emotion_vector", {"joy": None}),
        ("emotion_vector", ["joy"]),
        ("emotion_vector", "joy"),
        ("emotion_vector", {f"feeling {n}": 0.1 for n in range(65)}),
        ("emotion_vector", {"jo\x00y": 0.1}),
        ("level", "N4"),
        ("level", "n1"),
        ("level", None),
        ("name", ""),
        ("name", None),
        ("name", "x" * 1001),
        ("node_type", ""),
        ("description", "x" * 7_000_000),
        ("description", 7),
        ("felt_quality", "x" * 100_001),
        ("id", ""),
        ("id", "   "),
        ("id", "two\nlines"),
        ("id", "a|b"),
        ("id", "x" * 201),
        ("command_id", "\x01"),
        ("tags", "work"),
        ("tags", ["x"] * 65),
        ("tags", ["ok", "\x00"]),
        ("resolution_state", "done"),
        ("abstraction", "L4"),
        ("source", "elsewhere"),
        ("valid_at", "yesterday"),
        ("valid_at", "1600-01-01T00:00:00Z"),
        ("invalid_at", "2300-01-01T00:00:00Z"),
        ("extra", ["a list"]),
        ("extra", {"a": math.nan}),
        ("extra", {"a": 2**70}),
        ("extra", {"a": "\ud800"}),
        ("extra", {"a": {1, 2}}),
        ("extra", {"a": "x" * 2_000_000}),
        ("extra", {7: "a"}),
        ("citizen_id", ""),
        ("citizen_id", "../ada"),
        ("citizen_id", ".ada"),
        ("citizen_id", "ada lovelace"),
        ("citizen_id", "ada\n"),
        ("citizen_id", "ädä"),
        ("citizen_id", "a" * 65),
    ],
)
def test_a_memory_with_a_bad_field_is_refused_at_that_field(field: str, value: Any) -> None:
    assert all(place[:2] == ("remember", field) for place in faults({**MEMORY, field: value}))


@pytest.mark.parametrize("char", [*CONTROLS, chr(0xD800), chr(0xDFFF)])
@pytest.mark.parametrize("field", ["id", "name", "description", "goal", "felt_quality", "speaker", "episode_id"])
def test_control_characters_and_lone_surrogates_are_refused_in_every_text(field: str, char: str) -> None:
    assert faults({**MEMORY, field: f"a{char}b"}) == [("remember", field)]


@pytest.mark.parametrize(
    "text", ["two\nlines\r\n\tindented", "`'\"\\", "MATCH (n) DETACH DELETE n //", "日本語 🫀 é", "\u2028"]
)
def test_any_other_text_is_taken_as_it_is(text: str) -> None:
    memory = ANY_COMMAND.validate_python({**MEMORY, "name": text, "description": text})
    assert isinstance(memory, Remember)
    assert (memory.name, memory.description) == (text, text)


def test_a_personal_memory_needs_its_citizen_and_a_shared_one_does_not() -> None:
    assert faults({"command": "remember", "name": "A walk"}) == [("remember",)]
    shared = ANY_COMMAND.validate_python({"command": "remember", "name": "A walk", "level": "N2"})
    assert shared.level is Level.N2


@pytest.mark.parametrize("command", ["supersede", "correct", "retract"])
def test_unknown_fields_of_a_revision_are_refused(command: str) -> None:
    data = {"command": command, "citizen_id": "ada", "id": "a", "weather": "rain"}
    assert faults(data) == [(command, "weather")]


@pytest.mark.parametrize(
    "field",
    [
        "source_id",
        "target_id",
        "relation_type",
        "energy",
        "confidence",
        "emotion_vector",
        "goal",
        "mindstate",
    ],
)
def test_a_link_without_a_required_field_is_refused(field: str) -> None:
    assert faults({name: value for name, value in LINK.items() if name != field}) == [("relate", field)]


def test_a_link_has_the_defaults_of_003() -> None:
    link = ANY_COMMAND.validate_python(LINK)
    assert isinstance(link, Relate)
    assert link.energy_transfer_coefficient == 0.5
    assert link.resolution_state is ResolutionState.IN_PROGRESS


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("energy_transfer_coefficient", 1.5),
        ("energy_transfer_coefficient", math.nan),
        ("resolution_state", "open"),
        ("goal", ""),
        ("mindstate", ""),
        ("sensory_details", "warm"),
        ("sensory_details", {"a": math.inf}),
        ("relation_type", "justifies"),
        ("relation_type", "A-B"),
        ("relation_type", "X]->() DETACH DELETE n //"),
        ("relation_type", ""),
        ("relation_type", "1ST"),
        ("relation_type", "A" * 65),
        ("relation_type", "A\n"),
        ("source_id", "a|b"),
    ],
)
def test_a_link_with_a_bad_field_is_refused_at_that_field(field: str, value: Any) -> None:
    assert all(place[:2] == ("relate", field) for place in faults({**LINK, field: value}))


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({**MEMORY, "valid_at": "2025-06-29T13:45:00"}, "valid_at"),
        ({**MEMORY, "invalid_at": "2025-06-29T13:45:00"}, "invalid_at"),
        ({**LINK, "valid_at": "2025-06-29T13:45:00"}, "valid_at"),
        (
            {
                "command": "supersede",
                "citizen_id": "ada",
                "id": "a",
                "name": "b",
                "effective_at": "2025-06-29T13:45:00",
            },
            "effective_at",
        ),
        (
            {"command": "retract", "citizen_id": "ada", "id": "a", "effective_at": "2025-06-29T13:45:00"},
            "effective_at",
        ),
    ],
)
def test_a_time_without_a_zone_is_taken_as_utc_with_a_note(data: dict[str, Any], field: str) -> None:
    command = ANY_COMMAND.validate_python(data)
    assert getattr(command, field) == datetime(2025, 6, 29, 13, 45, tzinfo=UTC)
    assert command.notes == (f"{field} had no time zone and was taken as UTC",)


@pytest.mark.parametrize("command", [Supersede, Correct, Retract])
@pytest.mark.parametrize(("field", "value"), [("expected_version", 0), ("expected_version", -1), ("id", None)])
def test_a_revision_names_a_memory_and_a_version_that_can_be(
    command: type[Supersede | Correct | Retract], field: str, value: Any
) -> None:
    with pytest.raises(ValidationError, match=field):
        command.model_validate({"citizen_id": "ada", "id": "a", field: value})


@pytest.mark.parametrize("word", ["supersede", "correct", "supersede_link", "correct_link"])
def test_a_revision_names_something_that_changes(word: str) -> None:
    record = {"command": word, "citizen_id": "ada", "id": "a|NEXT|b" if word.endswith("link") else "a"}
    for fields in (
        {},
        {"expected_version": 1, "source": "tool"},
        {"valid_from": "2025-03-01", "valid_to": "2025-04-01"},
    ):
        with pytest.raises(ValidationError, match="nothing changes"):
            ANY_COMMAND.validate_python({**record, **fields})
    assert ANY_COMMAND.validate_python({**record, "energy": 0.4})
