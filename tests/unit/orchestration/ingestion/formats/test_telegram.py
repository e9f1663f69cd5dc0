"""Telegram's export: one chat or an account, with texts in parts."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

from tests.unit.orchestration.ingestion.formats.exports import counted, episodes, export, lines, read_raw, turns

NAME = "result.json"
CHAT = [
    "Mira: The boat is the Aurora.",
    "Luca Moretti: See https://ferries.example, pier 4.",
    "Mira: I booked two berths.",
    "Deleted account user333: Good luck!",
]


def test_one_chat() -> None:
    parsed = read_raw(NAME, export("telegram_chat.json"))
    assert parsed.formats == ("telegram",)
    assert [(one.id, one.title) for one in episodes(parsed)] == [("telegram:4815162342", "Luca Moretti")]
    assert lines(parsed) == CHAT
    assert counted(parsed) == {
        "notices of the program": 1,
        "media without words": 1,
    }
    assert turns(parsed)[1].extra == {"id": "3", "reply_to_message_id": 2}
    assert [str(one.edited_at) for one in episodes(parsed)[0].messages if one.edited_at] == [
        "2025-01-05 09:20:00+00:00"
    ]


def test_all_chats_of_an_account() -> None:
    parsed = read_raw(NAME, export("telegram_account.json"))
    assert [one.title for one in episodes(parsed)] == ["Luca Moretti", "Saved messages"]
    assert lines(parsed) == [*CHAT, "Mira: Gate code 2210"]


def test_times_of_older_exports_are_local() -> None:
    chat = json.loads(export("telegram_chat.json"))
    for message in chat["messages"]:
        message.pop("date_unixtime")
    first = turns(read_raw(NAME, json.dumps(chat).encode(), zone=ZoneInfo("Europe/Berlin")))[0]
    assert str(first.time) == "2025-01-05 09:01:40+00:00"


def test_of_cut_exports_the_whole_messages_are_kept() -> None:
    for name in ("telegram_chat.json", "telegram_account.json"):
        whole = export(name)
        parsed = read_raw(NAME, whole[: whole.index(b"I booked two berths.")])
        assert lines(parsed) == CHAT[:2]
        assert "is cut or damaged" in parsed.faults[0]


def test_a_message_that_is_none_is_told_with_its_place() -> None:
    chat = json.loads(export("telegram_chat.json"))
    chat["messages"][1]["date_unixtime"] = None
    chat["messages"][1]["date"] = "soon"
    parsed = read_raw(NAME, json.dumps(chat).encode())
    assert lines(parsed) == CHAT[1:]
    assert parsed.faults[0].startswith("result.json, chat 1 (Luca Moretti), message 2, date: 'soon' is no time")
