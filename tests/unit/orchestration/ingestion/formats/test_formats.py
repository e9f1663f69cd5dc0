"""Formats: what each reads, and how each says that a file is something else."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats import File, FileSet, ParsedFiles, parse
from orchestration.ingestion.formats.files import read_files
from orchestration.ingestion.formats.reader import move
from orchestration.ingestion.written_times import parse_time
from schemas.commands import Command, Relate, Remember
from schemas.errors import InvalidRequest
from schemas.memory import Level

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def read(form: str, text: str, citizen: str | None = "ada") -> ParsedFiles:
    return parse(form, FileSet("talk", (File("talk.x", text),), citizen))


def episode(intake: ParsedFiles) -> Episode:
    (item,) = intake.items
    assert isinstance(item, Episode)
    return item


def said(intake: ParsedFiles) -> list[Command]:
    return [command for item in intake.items for command in item.commands()]


def refusal(form: str, text: str, citizen: str | None = "ada") -> str:
    with pytest.raises(InvalidRequest) as caught:
        read(form, text, citizen)
    assert "\n" not in caught.value.detail
    return caught.value.detail


CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Was ist ein Köder? 🎣", "timestamp": "2023-05-08T13:56:00Z", "mood": "wry"},
    {"speaker": "Ada", "text": "A lure.", "time": "2023-05-08 16:57 +0300"},
]
LINES = "\n".join(json.dumps(entry) for entry in CHAT)


@pytest.mark.parametrize(
    "text",
    [json.dumps(CHAT), json.dumps(CHAT, indent=2), LINES, f"\n{LINES}\n\n", json.dumps({"messages": CHAT})],
    ids=["list", "indented", "lines", "blank lines", "wrapped"],
)
def test_messages_come_as_a_list_as_lines_or_wrapped(text: str) -> None:
    (session,) = episode(read("messages", text)).sessions
    assert [(turn.key, turn.speaker, turn.text) for turn in session.turns] == [
        ("D1:1", "user", "Was ist ein Köder? 🎣"),
        ("D1:2", "Ada", "A lure."),
    ]
    assert session.turns[0].extra == {"mood": "wry"}
    assert session.turns[1].time == datetime(2023, 5, 8, 13, 57, tzinfo=UTC)


def test_messages_keep_their_sessions_apart() -> None:
    entries = [{"role": "u", "content": "a", "session": name} for name in ("one", "two", "one")]
    sessions = episode(read("messages", json.dumps(entries))).sessions
    assert [(s.title, [t.key for t in s.turns]) for s in sessions] == [
        ("one", ["D1:1", "D1:2"]),
        ("two", ["D2:1"]),
    ]


def test_messages_of_tools_and_parts() -> None:
    entries = [
        {"role": "assistant", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url"}]},
    ]
    intake = read("messages", json.dumps(entries))
    assert [turn.text for turn in episode(intake).sessions[0].turns] == ["see"]
    assert intake.notes == ("talk.x: messages without text were left out (1)",)


def test_locomo_reads_sessions_dates_and_captions() -> None:
    turns = [
        {"speaker": "Mel", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a dog", "img_url": ["u"]},
        {"speaker": "Al", "dia_id": "D1:2", "text": "Nice."},
    ]
    conversation = {
        "speaker_a": "Mel",
        "session_1": turns,
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_2_date_time": "1:56 pm on 9 May, 2023",
    }
    intake = read("locomo", json.dumps([{"sample_id": "conv-1", "conversation": conversation}]), None)
    found = episode(intake)
    assert (found.id, found.citizen_id) == ("conv-1", "conv-1")
    (session,) = found.sessions
    assert (session.key, session.title, session.date) == ("session_1", "session 1", MAY)
    assert session.turns[0].text == "Look! [shares a dog]"
    assert session.turns[0].extra == {"img_url": ["u"]}
    assert intake.notes == ("talk.x: times without a zone were taken as UTC (1)",)


NOTE = """---
title: Harbour
date: 2024-03-01
tags: [sea, "work/boats"]
---
# The harbour

Opening, see [[Crane|the crane]] and [rules](../rules.md#top). #old

## Boats
Three. #blue/deep not#this, `#code`
```python
# no heading #notag
[[Nowhere in code]]
```
## Boats
[[Missing]]
"""


def test_markdown_reads_documents_sections_tags_and_links() -> None:
    files = (File("port/harbour.md", NOTE), File("crane.md", "It lifts."), File("rules.md", "# Rules\nNone."))
    intake = parse("markdown", FileSet("notes", files, "ada"))
    found = {c.id: c for c in said(intake) if isinstance(c, Remember)}
    harbour = found["notes:port/harbour.md"]
    assert (harbour.name, harbour.aliases, harbour.buckets) == ("Harbour", ("harbour",), ("port",))
    assert harbour.description.startswith("Opening")
    assert harbour.tags == ("sea", "work/boats", "old")
    assert harbour.valid_at == datetime(2024, 3, 1, tzinfo=UTC)
    boats = found["notes:port/harbour.md#Boats"]
    assert (boats.node_type, boats.name, boats.tags) == ("Note", "Boats", ("blue/deep",))
    assert "# no heading" in boats.description
    assert found["notes:crane.md"].description == "It lifts."
    assert found["notes:rules.md"].name == "Rules"
    assert [(c.source_id, c.relation_type, c.target_id) for c in said(intake) if isinstance(c, Relate)] == [
        ("notes:port/harbour.md#Boats", "PART_OF", "notes:port/harbour.md"),
        ("notes:port/harbour.md#Boats~2", "PART_OF", "notes:port/harbour.md"),
        ("notes:port/harbour.md#Boats", "NEXT", "notes:port/harbour.md#Boats~2"),
        ("notes:port/harbour.md", "MENTIONS", "notes:crane.md"),
        ("notes:port/harbour.md", "MENTIONS", "notes:rules.md"),
    ]
    assert any("such as Missing" in note for note in intake.notes)
    assert intake.items[0].size == len(said(intake))


def test_a_note_without_a_date_has_that_of_its_file(tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    note.write_text("\ufeffHello", encoding="utf-8")
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian" / "b.md").write_text("hidden")
    os.utime(note, (MAY.timestamp() + 0.5, MAY.timestamp() + 0.5))
    (document,) = said(parse("markdown", read_files(tmp_path, "markdown", "ada")))
    assert isinstance(document, Remember)
    assert (document.description, document.valid_at) == ("Hello", MAY)


@pytest.mark.parametrize(
    ("name", "front", "valid_at"),
    [
        ("2024-03-01.md", "", datetime(2024, 3, 1, tzinfo=UTC)),
        ("daily/2024-03-01 Standup.md", "", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024-03-01.md", "---\ndate: 2024-03-02\n---\n", datetime(2024, 3, 2, tzinfo=UTC)),
        ("2024-02-30.md", "", MAY),
        ("0001-01-01.md", "", MAY),
        ("2024-03-017.md", "", MAY),
        ("On 2024-03-01.md", "", MAY),
    ],
)
def test_the_day_with_which_the_name_of_a_note_begins_is_its_date(
    name: str, front: str, valid_at: datetime
) -> None:
    (document,) = said(parse("markdown", FileSet("notes", (File(name, f"{front}Hello", MAY),), "ada")))
    assert isinstance(document, Remember)
    assert document.valid_at == valid_at


def test_a_command_that_names_its_citizen_stays_its_own_in_a_file_for_a_shared_graph() -> None:
    lines = [{"command": "remember", "name": "a"}, {"command": "remember", "name": "b", "citizen_id": "cleo"}]
    read_lines = said(read("commands", "\n".join(map(json.dumps, lines))))
    shared, own = (move(command, Level.N2) for command in read_lines)
    assert (shared.level, shared.citizen_id) == (Level.N2, None)
    assert (own.level, own.citizen_id) == (Level.N1, "cleo")


GOOD = {"speaker": "A", "dia_id": "D1:1", "text": "x"}


def locomo(turns: Any, **more: Any) -> str:
    return json.dumps([{"sample_id": "c", "conversation": {"session_1": turns, **more}}])


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("messages", "hello", "line 1, column 1: is not JSON"),
        ("messages", '{"role": "u", "content": "a"}\nnot', "line 2: is not JSON"),
        ("messages", '[{"role": "u", "content": "a"}, 7]', "entry 2: is a number, not an object"),
        ("messages", '[{"content": "a"}]', "entry 1: has no speaker"),
        ("messages", '[{"role": "u"}]', "entry 1: has no text"),
        ("messages", '[{"role": "u", "content": 7}]', "entry 1, text: is a number, not a text"),
        ("messages", '[{"role": " ", "content": "a"}]', "entry 1, speaker: is empty"),
        ("messages", '[{"role": "u", "content": "a", "time": "soon"}]', "entry 1, time: 'soon' is no time"),
        ("messages", '[{"role": "u", "content": "a", "time": 1e300}]', "is no time"),
        ("messages", "[]", "holds no entry"),
        ("messages", '[{"role": "u", "content": null}]', "holds no message with a text"),
        ("messages", '{\n"other": []}', "field 'messages' is null"),
        ("messages", "[" * 100_000, "is not JSON"),
        ("messages", '[{"role": "u", "content": NaN}]', "NaN is not a number"),
        ("messages", json.dumps([{"role": "u", "content": "x" * 6_000_001}]), "has 6,000,001 characters"),
        ("messages", json.dumps([{"role": "u", "content": "x", "n": 2**70}]), "cannot be stored"),
        ("locomo", json.dumps(CHAT), "sample 1: has no conversation"),
        ("locomo", "[]", "holds no sample"),
        ("locomo", locomo("x"), "c, session_1: is a text, not a list"),
        ("locomo", locomo([]), "c: holds no turn"),
        ("locomo", locomo([7]), "c, session_1, turn 1: is a number, not a turn"),
        (
            "locomo",
            locomo([{**GOOD, "text": "x" * 5_999_999, "blip_caption": "y"}]),
            "turn 1, text: has 6,000,010",
        ),
        (
            "messages",
            '[{"role": "u", "content": "a", "session": 1}, {"role": "u", "content": {}}]',
            "entry 2",
        ),
        ("locomo", locomo([GOOD, GOOD]), "has the dia_id D1:1 twice"),
        ("locomo", locomo([{"speaker": "A", "text": "x"}]), "turn 1, dia_id: is null"),
        ("locomo", locomo([GOOD], session_1_date_time="1 pm"), "its day, month or year is missing"),
        ("locomo", json.dumps([{"sample_id": "c d", "conversation": {"session_1": [GOOD]}}]), "sample_id"),
        ("markdown", "---\ndate: someday\n---\nx", "front matter, date"),
        ("markdown", f"# a\n## b\n{'x' * 6_000_001}", "line 2, section b: has 6,000,001 characters"),
        ("commands", LINES, "line 1"),
        ("commands", '{"command": "forget"}', "line 1"),
        ("commands", '{"command": "remember", "name": "a", "energy": 1.2}', "line 1, energy: "),
        ("commands", '{"command": "remember", "name": "a", "citizen_id": "no/t"}', "line 1, citizen_id: "),
    ],
)
def test_a_file_of_another_shape_is_named_with_its_place(form: str, text: str, expected: str) -> None:
    detail = refusal(form, text, None if form == "locomo" else "ada")
    assert "talk.x" in detail
    assert expected in detail
    assert f"{form} expects " in detail


@pytest.mark.parametrize("form", ["messages", "markdown"])
def test_a_file_without_a_citizen_is_refused(form: str) -> None:
    assert "name a citizen" in refusal(form, LINES, None)


def test_a_citizen_that_cannot_be_is_a_fault() -> None:
    assert "citizen_id" in refusal("messages", LINES, "a/b")


def test_an_unreadable_file_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\x00\xff\xe9")
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_files(tmp_path / "none.json", "markdown", "ada")
    with pytest.raises(InvalidRequest, match=r"a\.json: is no text"):
        parse("messages", read_files(tmp_path, "messages", "ada"))
    with pytest.raises(InvalidRequest, match="holds no file"):
        parse("markdown", read_files(tmp_path, "markdown", "ada"))
    with pytest.raises(InvalidRequest, match="no format 'sonnets'"):
        read("sonnets", "a")


@pytest.mark.parametrize(
    ("value", "zoned"),
    [
        ("1:56 pm on 8 May, 2023", False),
        ("2023-05-08T13:56:00Z", True),
        ("Mon, 08 May 2023 13:56:00 GMT", True),
        (1683554160, True),
        (1683554160000, True),
        (1683554160.0, True),
    ],
)
def test_times_come_in_many_forms(value: Any, zoned: bool) -> None:
    assert parse_time(value) == (MAY, zoned)


@pytest.mark.parametrize("value", ["", "May 2023", "13:56", "8 May 2023 1 pm XYZ", "0001-01-01", True, None, 1e18])
def test_a_value_that_is_no_time_is_not_guessed(value: Any) -> None:
    with pytest.raises((ValueError, OverflowError)):
        parse_time(value)


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("```npm install```\n# After", ["After"]),
        ("- a\n\n  ```\n  never closed\n\n# After", ["After"]),
        ("```\n# in code\n```\n# After", ["After"]),
        ("~~~~\n# in code\n~~~\n# still\n~~~~\n# After", ["After"]),
        ("Underlined\n======\n\n<div>\n# In tags\n</div>\n# After", ["In tags", "After"]),
        ("    # indented\n\n#\n# After", ["After"]),
    ],
)
def test_headings_are_those_of_markdown_outside_of_code(text: str, headings: list[str]) -> None:
    notes = said(read("markdown", f"text\n{text}"))
    assert [note.name for note in notes if isinstance(note, Remember) and note.node_type == "Note"] == headings
