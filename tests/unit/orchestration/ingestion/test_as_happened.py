"""When the commands of an import become known: in the order in which they happened, strictly rising."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from orchestration.ingestion.as_happened import arrange_in_time
from orchestration.ingestion.formats import File, FileSet, parse
from schemas.errors import InvalidRequest
from schemas.temporal import to_datetime

NOW = 1_800_000_000_000_000
DAY = 86_400_000_000


def at(day: float) -> str:
    return to_datetime(int(day * DAY)).isoformat()


def arranged(*commands: dict[str, Any]) -> list[tuple[str, float]]:
    lines = "\n".join(orjson.dumps({"citizen_id": "ada", **command}).decode() for command in commands)
    items = parse("commands", FileSet("ada", (File("ada", lines),), "ada")).items
    return [(one.command.__class__.__name__, one.moment / DAY) for one in arrange_in_time(items, NOW)]


def remember(name: str, **fields: Any) -> dict[str, Any]:
    return {"command": "remember", "id": name, "name": name, **fields}


def test_commands_are_known_in_the_order_in_which_they_happened() -> None:
    late, early = remember("late", valid_at=at(5)), remember("early", valid_at=at(2))
    change = {"command": "supersede", "id": "early", "description": "new", "effective_at": at(3)}
    assert arranged(late, early, change) == [("Remember", 2), ("Supersede", 3), ("Remember", 5)]


def test_two_commands_of_one_moment_are_a_microsecond_apart() -> None:
    [(_, first), (_, second)] = arranged(remember("a", valid_at=at(2)), remember("b", valid_at=at(2)))
    assert first == 2
    assert second == pytest.approx(2 + 1 / DAY, abs=1e-14)


def test_a_change_without_a_time_follows_the_command_before_it() -> None:
    correction = {"command": "correct", "id": "a", "description": "right"}
    kinds = [
        kind for kind, _ in arranged(remember("a", valid_at=at(2)), correction, remember("b", valid_at=at(3)))
    ]
    assert kinds == ["Remember", "Correct", "Remember"]


def test_a_link_is_known_when_both_of_its_ends_are() -> None:
    link = {
        "command": "relate", "source_id": "a", "target_id": "b", "relation_type": "NEXT", "valid_at": at(1),
        "energy": 0.5, "confidence": 0.5, "emotion_vector": {}, "goal": "g", "mindstate": "m",
    }  # fmt: skip
    known = arranged(remember("a", valid_at=at(2)), remember("b", valid_at=at(4)), link)
    assert [kind for kind, _ in known] == ["Remember", "Remember", "Relate"]


@pytest.mark.parametrize(
    ("commands", "fault"),
    [
        ([remember("a")], "remember a does not say when it happened"),
        ([remember("a", valid_at="2200-01-01T00:00:00Z")], "remember a lies in the future"),
    ],
)
def test_a_command_without_a_past_moment_is_refused(commands: list[dict[str, Any]], fault: str) -> None:
    with pytest.raises(InvalidRequest, match=fault):
        arranged(*commands)
