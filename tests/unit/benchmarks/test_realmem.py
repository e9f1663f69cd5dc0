"""How the sessions of RealMem are read: what a reply drew on, as turns of earlier sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.realmem import load_realmem


def _turn(speaker: str, content: str, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "content": content, "is_query": False, **more}


def _dialogue(session: str, turns: list[dict[str, Any]], memories: dict[str, str]) -> dict[str, Any]:
    extracted = [{"content": memory, "source_content_snapshot": words} for memory, words in memories.items()]
    return {
        "session_uuid": session,
        "current_time": "2025-12-19 (Friday)",
        "dialogue_turns": turns,
        "extracted_memory": extracted,
    }


def _written(path: Path, *dialogues: dict[str, Any]) -> Path:
    path.write_bytes(orjson.dumps({"dialogues": dialogues}))
    return path


FIRST = _dialogue(
    "s1",
    [_turn("User", "The commute tires me out every day."), _turn("Assistant", "Try silence for ten minutes.")],
    {"User is tired by the commute": "The commute tires me out", "Assistant proposed silence": "Try silence..."},
)


def test_the_evidence_of_a_query_is_what_its_reply_used_of_earlier_sessions(tmp_path: Path) -> None:
    used = [{"content": "Assistant proposed silence"}, {"content": "User has no time"}]
    query = _turn("User", "What did you propose?", is_query=True)
    second = _dialogue(
        "s2", [query, _turn("Assistant", "Silence.", memory_used=used)], {"User has no time": "What did"}
    )
    first, worked = load_realmem(_written(tmp_path / "a.json", FIRST, second))
    assert [turn.id for turn in first.turns] == ["s1-0", "s1-1"]
    assert [(each.text, each.evidence) for each in worked.queries] == [
        ("What did you propose?", frozenset(("s1-1",)))
    ]


def test_a_query_that_used_only_its_own_session_is_not_asked(tmp_path: Path) -> None:
    used = [{"content": "User asks"}]
    turns = [_turn("User", "And now?", is_query=True), _turn("Assistant", "This.", memory_used=used)]
    [_, worked] = load_realmem(_written(tmp_path / "a.json", FIRST, _dialogue("s2", turns, {"User asks": "And"})))
    assert worked.queries == ()


def test_a_memory_whose_words_no_turn_has_is_no_evidence(tmp_path: Path) -> None:
    told = _dialogue("s1", [_turn("User", "Hello.")], {"User waves": "", "User sings": "La la la"})
    used = [{"content": "User waves"}, {"content": "User sings"}]
    turns = [_turn("User", "And now?", is_query=True), _turn("Assistant", "This.", memory_used=used)]
    [_, worked] = load_realmem(_written(tmp_path / "a.json", told, _dialogue("s2", turns, {})))
    assert worked.queries == ()


def test_a_file_of_another_shape_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"chat": []}')
    with pytest.raises(ValueError, match=r"a\.json is no RealMem dialogue"):
        load_realmem(tmp_path / "a.json")
