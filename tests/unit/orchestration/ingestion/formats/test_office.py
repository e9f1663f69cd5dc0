"""Calendars, documents of Word, canvases, what Claude remembers, and the archives of Notion."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime

import pytest

from orchestration.ingestion.file_readers import FilesToRead, read
from orchestration.ingestion.formats.files import is_archive, unpack
from orchestration.ingestion.formats.notebook import Document, Notebook
from orchestration.ingestion.formats.reader import ParsedFiles
from schemas.commands import Remember
from schemas.errors import InvalidRequest
from schemas.memory import ResolutionState
from tests.unit.orchestration.ingestion.formats.exports import EXPORTS, counted, read_raw

OFFICE = EXPORTS / "office"
CALENDAR = (OFFICE / "calendar.ics").read_bytes()
MINUTES = (OFFICE / "minutes.docx").read_bytes()


def memories(parsed: ParsedFiles) -> list[Remember]:
    return [one for item in parsed.items for one in item.commands() if isinstance(one, Remember)]


def document(name: str) -> Document:
    [item] = read_raw(name, (OFFICE / name).read_bytes()).items
    assert isinstance(item, Notebook)
    [one] = item.documents
    return one


def test_an_event_says_when_and_where_and_a_task_is_open() -> None:
    parsed = read_raw("calendar.ics", CALENDAR)
    event, task = memories(parsed)
    assert (event.id, event.node_type, event.tags) == ("ics:7f1@example.org", "Event", ("Health", "Ears"))
    assert event.valid_at == datetime(2026, 3, 12, 9, tzinfo=UTC)
    assert (event.description or "").splitlines() == [
        "Hearing test with Dr. Aalto",
        "When: Thursday 12 March 2026 10:00 (Europe/Berlin) to Thursday 12 March 2026 11:30 (Europe/Berlin)",
        "Where: Kastanienweg 9, Kiel",
        "With: ines@example.org",
        "Repeats: FREQ=YEARLY",
        "Bring the old audiogram.",
        "It is in the blue folder.",
    ]
    assert (task.name, task.resolution_state) == ("Renew the mooring licence", ResolutionState.IN_PROGRESS)
    assert counted(parsed) == {"cancelled events": 1}


def test_a_time_that_is_none_is_told_and_a_zone_that_nobody_knows_too() -> None:
    parsed = read_raw("a.ics", CALENDAR.replace(b"20260630", b"20261390"))
    assert parsed.faults == ("a.ics, entry 3, DUE: '20261390' is no time",)
    parsed = read_raw("a.ics", CALENDAR.replace(b"Europe/Berlin:2026", b"Mars Time:2026"))
    assert counted(parsed)["the time zone 'Mars Time' is not known"] == 2
    with pytest.raises(InvalidRequest, match="holds no event"):
        read_raw("a.ics", b"BEGIN:VCALENDAR\nEND:VCALENDAR\n")


def test_a_document_of_word_has_its_headings_lists_and_tables() -> None:
    assert not is_archive(MINUTES)
    one = document("minutes.docx")
    assert (one.title, one.date) == ("Minutes of October", datetime(2025, 10, 20, 18, tzinfo=UTC))
    assert one.text == "Minutes of the boat club\nPresent: Ines and Okan."
    assert [(section.heading, section.text) for section in one.sections] == [
        ("Winter", "The hall opens on 3 November.\n- sweep the hall\nKey\tunder the stone"),
        ("Fees", "Boat | Fee\nDinghy | 40 euros\nPaid in May."),
    ]


def test_a_document_that_defines_entities_or_is_cut_is_refused() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("word/document.xml", '<!DOCTYPE d [<!ENTITY a "b">]><d>&a;</d>')
    with pytest.raises(InvalidRequest, match="defines entities"):
        read_raw("a.docx", target.getvalue(), form="docx")
    with pytest.raises(InvalidRequest, match="damaged or cut"):
        read_raw("a.docx", MINUTES[:-60], form="docx")


def test_a_canvas_has_its_cards_and_its_arrows() -> None:
    one = document("cabin.canvas")
    assert one.text.splitlines() == [
        "file: plans/cabin.md", "Sauna → Chimney sweep: inspected by", "Sauna → plans/cabin.md"
    ]  # fmt: skip
    assert [section.heading for section in one.sections] == ["Sauna", "Chimney sweep"]


def test_what_claude_remembers_is_read_also_beside_its_conversations() -> None:
    assert "Her dog is called Quint." in document("memories.json").text
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("conversations.json", (EXPORTS / "claude_conversations.json").read_bytes())
        made.writestr("memories.json", (OFFICE / "memories.json").read_bytes())
        made.writestr("users.json", "[]")
    assert [file.name for file in unpack("a.zip", target.getvalue()).files] == [
        "conversations.json",
        "memories.json",
    ]


def test_of_a_database_of_notion_each_row_is_stored_once() -> None:
    found = read(FilesToRead("notion.zip", 1000, (OFFICE / "notion.zip").read_bytes(), citizen_id="mira"))
    parsed = found.intake.parsed
    assert [one.name for one in memories(parsed)] == ["Boat", "Oil the mast", "Sand the deck", "Tove"]
    assert all(not one.aliases for one in memories(parsed))
    assert sum("left out: its rows" in note for note in parsed.notes) == 3
    assert not any("Crew" in note and "pages" in note for note in parsed.notes)
