from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from benchmarks.life import DIRECTORY, Life, find_faults, load_lives

NAMES = sorted(file.stem for file in DIRECTORY.glob("*.json"))


def fields(**changed: Any) -> dict[str, Any]:
    said = (("m1", 1, "user"), ("m2", 2, "assistant"), ("m3", 3, "user"))
    return {
        "id": "small",
        "language": "en",
        "citizen_id": "user-1",
        "messages": [
            {"id": key, "time": f"2024-05-0{day}T08:00:00Z", "role": role, "text": "Well."}
            for key, day, role in said
        ],
        "identity": {"name": "Ann", "roles": ["baker"], "people": []},
        "wakings": [],
        "threads": [{"open": "m1", "solved": "m3", "steps": {}}],
        "states": {"m1": "blocked"},
        "goals": ["m1"],
        "feelings": {"m3": ["relief"]},
        "instructions": [],
        "questions": [{"question": "Who?", "at": "2024-05-04T08:00:00Z", "evidence": ["m1"]}],
        **changed,
    }


def waking(**changed: Any) -> dict[str, Any]:
    return {
        "mode": "find_similar_state",
        "at": "2024-05-04T08:00:00Z",
        "goal": None,
        "emotions": None,
        "energy": None,
        "expected": ["m1"],
        "not_first": ["m2"],
        **changed,
    }


def faults(**changed: Any) -> list[str]:
    return find_faults(Life.model_validate_json(json.dumps(fields(**changed))))


@pytest.mark.parametrize("name", NAMES)
def test_every_life_is_well_formed(name: str) -> None:
    (life,) = load_lives([name])
    assert life.id == name
    assert find_faults(life) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_life_wakes_in_all_modes_and_has_an_open_and_a_solved_thread(name: str) -> None:
    (life,) = load_lives([name])
    assert len({each.mode for each in life.wakings}) == 4
    assert any(thread.solved is None for thread in life.threads)
    assert any(thread.solved is not None for thread in life.threads)


def test_a_small_life_has_no_fault() -> None:
    assert faults(wakings=[waking()]) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"messages": [fields()["messages"][0]] * 2}, "two messages have one id"),
        ({"messages": fields()["messages"][::-1]}, "m2 is not later than m3"),
        ({"states": {"m2": "blocked"}}, "states: m2 is no message of the user"),
        ({"instructions": ["m9"]}, "instructions: m9 is no message of the user"),
        ({"wakings": [waking(at="2024-05-01T08:00:00Z", not_first=[])]}, "names m1, which is not before it"),
        ({"wakings": [waking(not_first=["m9"])]}, "names m9, which is no message"),
        ({"wakings": [waking(expected=[])]}, "expects 0 messages"),
        ({"wakings": [waking(not_first=["m1"])]}, "expects what must not come first"),
        ({"threads": [{"open": "m3", "solved": "m1", "steps": {}}]}, "the thread of m3 has a step before it"),
        ({"threads": [{"open": "m1", "solved": None, "steps": {"m8": "Action"}}]}, "the thread of m1 names m8"),
    ],
)
def test_a_wrong_id_or_time_is_named(changed: dict[str, Any], fault: str) -> None:
    assert any(fault in each for each in faults(**changed))


def test_an_unknown_field_and_a_missing_life_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        faults(colour="blue")
    with pytest.raises(FileNotFoundError):
        load_lives(["nobody"], tmp_path)
    with pytest.raises(FileNotFoundError):
        load_lives(directory=tmp_path)
