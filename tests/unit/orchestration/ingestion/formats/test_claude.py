"""claude.ai's export: who said what, along the newest branch."""

from __future__ import annotations

import json

import pytest

from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import counted, episodes, export, lines, read_raw, turns

NAME = "conversations.json"
WHOLE = export("claude_conversations.json")


def test_humans_and_assistants_become_roles_and_the_newest_branch_is_kept() -> None:
    parsed = read_raw(NAME, WHOLE)
    assert parsed.formats == ("claude",)
    assert lines(parsed) == [
        "user: I rented plot 14 by the canal.",
        "assistant: What grew there before?",
        "user: Sorry, it was onions.",
        "assistant: After onions, peas do well.",
        "user: How do I say allotment in Dutch?",
        "assistant: Volkstuin.",
    ]
    assert [one.title for one in episodes(parsed)] == ["Allotment plan", "session 1"]
    assert counted(parsed) == {
        "messages of other branches": 2,
        "texts of attached files": 1,
        "thoughts of the model": 1,
        "uses of tools": 1,
        "results of tools": 1,
        "conversations without a message of their own": 1,
    }
    assert turns(parsed)[0].extra == {"id": "01990000-0000-7000-8000-000000000001", "attachments": ["plan.txt"]}


def test_of_a_cut_export_the_whole_messages_of_the_last_conversation_are_kept() -> None:
    cut = WHOLE[: WHOLE.index(b'"Sorry, it was onions."')]
    parsed = read_raw(NAME, cut)
    assert lines(parsed)[-1] == "assistant: Then plant beans."
    assert "is cut or damaged" in parsed.faults[0]


def test_an_unknown_sender_is_told_and_the_other_messages_are_kept() -> None:
    conversations = json.loads(WHOLE)
    conversations[1]["chat_messages"][1]["sender"] = "robot"
    parsed = read_raw(NAME, json.dumps(conversations).encode())
    assert len(turns(parsed)) == 5
    assert parsed.faults == (
        "conversations.json, conversation 2, message 2: its sender 'robot' is neither human nor assistant",
    )


def test_a_file_without_any_message_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="holds no message with a text"):
        read_raw(NAME, b'[{"uuid": "u", "name": "x", "chat_messages": []}]')
