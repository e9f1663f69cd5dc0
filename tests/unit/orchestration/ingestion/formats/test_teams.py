"""Chats of teams, as the whole archives that the programs send."""

from __future__ import annotations

import json

from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.file_readers import FilesRead, FilesToRead, read
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS, counted, lines, read_raw, turns

TEAMS = EXPORTS / "teams"


def whole(name: str) -> FilesRead:
    return read(FilesToRead(name, 1000, (TEAMS / name).read_bytes(), citizen_id="mira"))


def test_a_workspace_of_slack_is_read_with_names_links_and_threads() -> None:
    found = whole("slack.zip")
    parsed = found.intake.parsed
    assert "integration_logs.json" not in found.files
    assert (parsed.formats, parsed.faults, [one.id for one in parsed.items]) == (
        ("slack",),
        (),
        ["slack:greenhouse"],
    )
    assert lines(parsed) == [
        "Ines Duarte: The vents open at 26 degrees & close at 22, see the plan (https://vents.example/plan) or "
        "ask @Okan Yildiz in #greenhouse.",
        "Okan Yildiz: The pump is serviced every Tuesday.",
        "Weather: Frost tonight",
    ]
    assert turns(parsed)[1].extra == {
        "id": "1772439600.000300", "thread": "1772439000.000200", "attachments": ["pump.pdf"]
    }  # fmt: skip
    beside = "files of no known format, or beside the conversations of an export, such as integration_logs.json"
    assert counted(parsed) == {"notices of the program": 1, "media without words": 1, beside: 1}


def test_the_package_of_discord_has_the_messages_of_its_owner_by_channel() -> None:
    parsed = whole("discord_package.zip").intake.parsed
    titles = [one.title for one in parsed.items if isinstance(one, Episode)]
    assert titles == ["allotment in Garden Club", "Direct Message with tove#0"]
    assert lines(parsed) == ["Mirko: My plot has number 31.", "Mirko: I sold the red kayak, finally."]
    assert parsed.faults == ()


def test_a_channel_of_the_exporter_keeps_who_said_what_and_edits() -> None:
    raw = (TEAMS / "discord_exporter.json").read_bytes()
    parsed = read_raw("a.json", raw)
    assert lines(parsed) == [
        "Tove: The water is turned on again on the first of April.",
        "Mirko: Then I bring the hose.",
    ]
    [item] = parsed.items
    assert isinstance(item, Episode)
    assert item.messages[1].edited_at is not None
    value = json.loads(raw)
    value["messages"][0]["timestamp"] = "soon"
    assert "message 1, timestamp: 'soon" in read_raw("a.json", json.dumps(value).encode()).faults[0]
