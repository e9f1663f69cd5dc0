"""ChatGPT's export: the branch that the person sees is kept, and everything else is counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.formats.conversations import kept_path
from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import counted, episodes, export, lines, read_raw, turns

NAME = "conversations.json"
WHOLE = export("chatgpt_conversations.json")


def test_the_kept_branch_becomes_an_episode_and_the_rest_is_counted() -> None:
    parsed = read_raw(NAME, WHOLE)
    assert parsed.formats == ("chatgpt",)
    assert [(one.id, one.title) for one in episodes(parsed)] == [
        ("chatgpt:67b0c0de-0001-8004-9abc-0123456789ab", "Sourdough for the weekend"),
        ("chatgpt:67b0c0de-0002-8004-9abc-0123456789ab", "Voice about the move"),
    ]
    assert lines(parsed) == [
        "user: My starter lives in the blue jar. How long should the dough rest at 21 degrees?",
        "assistant: Five to six hours, until it has doubled.",
        "user: And in the fridge?",
        "assistant: Eight hours in the fridge are enough.",
        "user: This is how it came out. I baked it for Noor's birthday.",
        "user: We are moving to Porto in May.",
        "assistant: Porto in May sounds lovely.",
    ]
    assert counted(parsed) == {
        "messages of other branches": 3,
        "system messages": 1,
        "hidden messages": 1,
        "thoughts of the model": 1,
        "messages to tools": 1,
        "messages of tools": 1,
        "images and sounds": 2,
        "conversations without a message of their own": 1,
    }
    assert parsed.faults == ()


def test_a_message_keeps_its_id_its_time_its_model_and_the_names_of_its_files() -> None:
    first, second, *_, spoken, _ = turns(read_raw(NAME, WHOLE))
    assert first.extra == {"id": "aaaa0000-1111-4222-8333-000000000003", "attachments": ["jar.jpg"]}
    assert str(first.time) == "2025-02-22 09:00:01.500000+00:00"
    assert second.extra["model"] == "gpt-4o"
    assert str(spoken.time) == "2025-03-10 09:46:40+00:00", "it has none, so that of the conversation counts"


@pytest.mark.parametrize("part", range(1, 20))
def test_of_an_export_that_is_cut_whole_conversations_are_kept_and_the_place_is_told(part: int) -> None:
    cut = WHOLE[: len(WHOLE) * part // 20]
    second = WHOLE.index(b'"Voice about the move"')
    if len(cut) < second:
        with pytest.raises(InvalidRequest, match=r"is not JSON|is cut or damaged"):
            read_raw(NAME, cut)
        return
    parsed = read_raw(NAME, cut)
    assert len(turns(parsed)) in (5, 7)
    (fault,) = parsed.faults
    assert fault.startswith("conversations.json, line ")
    assert "is cut or damaged" in fault


def test_a_damaged_conversation_and_a_damaged_message_are_told_and_the_rest_is_kept() -> None:
    conversations: list[Any] = json.loads(WHOLE)
    second = conversations[1]["mapping"]["bbbb0000-1111-4222-8333-000000000002"]["message"]
    second["create_time"] = "soon"
    conversations[0]["mapping"] = []
    parsed = read_raw(NAME, json.dumps([*conversations, "nothing"]).encode())
    assert lines(parsed) == ["user: We are moving to Porto in May."]
    assert len(parsed.faults) == 3
    assert parsed.faults[0] == "conversations.json, conversation 1: has no mapping of messages"
    assert "conversation 2 (Voice about the move), message bbbb0000" in parsed.faults[1]


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, Any], list[str]]:
    """The mapping of a tree, in any order, and the ids on the way from its root to one of its nodes."""
    parents = [None, *(draw(st.integers(0, number - 1)) for number in range(1, draw(st.integers(1, 30))))]
    order = draw(st.permutations(range(len(parents))))
    mapping = {
        f"n{number}": {
            "id": f"n{number}",
            "parent": None if parents[number] is None else f"n{parents[number]}",
            "children": [f"n{child}" for child, parent in enumerate(parents) if parent == number],
            "message": {
                "id": f"n{number}",
                "author": {"role": draw(st.sampled_from(("user", "assistant")))},
                "create_time": 1_700_000_000.0 + number,
                "content": {"content_type": "text", "parts": [f"text {number}"]},
            },
        }
        for number in order
    }
    at: int | None = draw(st.integers(0, len(parents) - 1))
    path: list[str] = []
    while at is not None:
        path.append(f"n{at}")
        at = parents[at]
    return mapping, path[::-1]


@given(trees())
def test_of_any_tree_exactly_the_path_to_the_current_node_is_kept(tree: tuple[dict[str, Any], list[str]]) -> None:
    mapping, path = tree
    assert list(kept_path(mapping, path[-1])) == path
    conversation = {"id": "c", "title": "t", "mapping": mapping, "current_node": path[-1]}
    parsed = read_raw(NAME, json.dumps([conversation]).encode(), form="chatgpt")
    assert [turn.extra["id"] for turn in turns(parsed)] == path
    assert counted(parsed).get("messages of other branches", 0) == len(mapping) - len(path)
