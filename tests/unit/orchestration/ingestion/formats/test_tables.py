"""Tables: what a column holds is guessed by its name, and said."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from orchestration.ingestion.formats import ParsedFiles
from orchestration.ingestion.formats.tables import delimiter_of
from schemas.commands import Remember
from schemas.errors import InvalidRequest
from tests.unit.orchestration.ingestion.formats.exports import counted, episodes, export, lines, read_raw, turns


def memories(parsed: ParsedFiles) -> list[Remember]:
    found = [command for item in parsed.items for command in item.commands()]
    assert all(isinstance(command, Remember) for command in found)
    return [command for command in found if isinstance(command, Remember)]


def test_rows_with_a_speaker_are_messages_of_conversations() -> None:
    parsed = read_raw("support.csv", export("support.csv"))
    assert [(one.id, one.title) for one in episodes(parsed)] == [
        ("csv:support/boat", "boat"),
        ("csv:support/home", "home"),
    ]
    assert lines(parsed) == [
        "Mira: The pump is loud,\nand it leaks.",
        "Sem: I shall come on Tuesday.",
        "Mira: Tea at four?",
    ]
    assert turns(parsed)[0].extra["Mood"] == "worried"
    assert parsed.notes[0] == (
        "support.csv: by the names of its columns: text from 'Message', time from 'Timestamp', "
        "speaker from 'Author', conversation from 'Channel'; 1 other column kept as it is (4)"
    )
    assert counted(parsed)["rows without text"] == 1


def test_rows_without_a_speaker_are_memories_in_any_encoding() -> None:
    first, second = memories(read_raw("diary.csv", export("diary.csv"), zone=ZoneInfo("Europe/Berlin")))
    assert first.name == "Werft"
    assert first.description == (
        "Datum: 01.03.2025\nTitel: Werft\nNotiz: Der Rumpf ist geschliffen, 5 € für Papier.\n"
        "Schlagworte: boot, arbeit\nWetter: Regen"
    )
    assert str(first.valid_at) == "2025-02-28 23:00:00+00:00", (
        "the first of March in Berlin, not the third of January"
    )
    assert (first.tags, first.extra) == (("boot", "arbeit"), {"Wetter": "Regen"})
    assert second.name == "Regatta verschoben."


@pytest.mark.parametrize(
    ("raw", "name", "text"),
    [
        ("plant;height\nbean;2 m\n", "plant: bean height: 2 m", "plant: bean\nheight: 2 m"),
        ("Due,Thing,Note\n2026-12-01,visa,ask Ada\n", "ask Ada", "Due: 2026-12-01\nThing: visa\nNote: ask Ada"),
        ("Task,Date,Note\nvisa,2026-12-01,\n", "visa", "Task: visa\nDate: 2026-12-01"),
        ("id,text,date\n7,visa,\n", "visa", "id: 7\ntext: visa"),
        ("note,height\nbean,\n", "bean", "bean"),
    ],
)
def test_the_text_of_a_row_names_all_its_columns_unless_one_alone_says_all(raw: str, name: str, text: str) -> None:
    (memory,) = memories(read_raw("a.csv", raw.encode()))
    assert (memory.name, memory.description) == (name, text)


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("from,sent,subject,body,mood\nMira,2026-03-01 10:00,Boat,It leaks.,sad\n", "It leaks.\nsubject: Boat"),
        ("from,sent,body\nMira,1772359200,It leaks.\n", "It leaks."),
        ("who,date,note\nMira,2026-12-01,dentist\n", "dentist\ndate: 2026-12-01"),
        ("author,title,notes,shelf\nMira,Boats,lent,3\n", "lent\ntitle: Boats\nshelf: 3"),
        ("speaker,text\nMira,hello\n", "hello"),
    ],
)
def test_only_of_the_messages_of_a_program_the_text_leaves_columns_out(raw: str, line: str) -> None:
    assert lines(read_raw("a.csv", raw.encode())) == [f"Mira: {line}"]


@pytest.mark.parametrize(
    ("header", "delimiter"), [("a,b", ","), ("a;b,c;d", ";"), ("a\tb", "\t"), ("a|b", "|"), ("a", ",")]
)
def test_the_delimiter_is_the_one_that_separates_most(header: str, delimiter: str) -> None:
    assert delimiter_of(header) == delimiter
    assert delimiter_of(f'"x,y,z"{delimiter}b') == delimiter


def test_rows_that_cannot_be_read_are_told_with_their_line() -> None:
    raw = b'text,date\n"two\nlines",2025-01-01\nb,2025-01-02,more\nc,never\nd,2025-01-04\ne'
    parsed = read_raw("a.csv", raw)
    assert [memory.name for memory in memories(parsed)] == ["two lines", "d"]
    told: list[Any] = [fault.partition(": ")[::2] for fault in parsed.faults]
    assert told[0] == ("a.csv, line 4", "has 3 cells for 2 columns")
    assert told[1] == ("a.csv, line 7", "is cut: it has 1 of 2 cells")
    assert told[2][0] == "a.csv, line 5, column date"


@pytest.mark.parametrize(
    ("raw", "reason"), [(b"a,a\n1,2\n", "names the column 'a' twice"), (b"a,b\n", "has no row below its header")]
)
def test_a_table_without_rows_or_with_a_name_twice_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        read_raw("a.csv", raw)
