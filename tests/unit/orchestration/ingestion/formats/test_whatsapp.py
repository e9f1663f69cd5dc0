"""WhatsApp's export: dates of any phone, messages of several lines, and what the program writes itself."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from orchestration.ingestion.formats.whatsapp import is_message, title_of
from tests.unit.orchestration.ingestion.formats.exports import (
    counted,
    episodes,
    export,
    lines,
    read_raw,
    turns,
)

ANDROID = "WhatsApp Chat with Luca.txt"
IOS = "WhatsApp Chat - Book circle/_chat.txt"


def test_an_android_chat_keeps_words_and_counts_the_rest() -> None:
    parsed = read_raw(ANDROID, export(ANDROID))
    assert [(one.id, one.title) for one in episodes(parsed)] == [("whatsapp:Luca", "Luca")]
    assert lines(parsed) == [
        'Luca Moretti: Merry Christmas!\nDid the parcel come?\nIt had two books: "Salt" and another.',
        "Mira: It did, thank you",
        "Luca Moretti: the lake this morning",
        "Mira: the ferry is at 7:40, not 8:15",
        "Mira: ok",
        "Mira: ok",
    ]
    assert counted(parsed) == {
        "notices of the program": 2,
        "media without words": 1,
        "deleted messages": 1,
        "times without a zone were taken as UTC": 6,
    }
    assert len({turn.extra["id"] for turn in turns(parsed)}) == 6


def test_an_ios_chat_with_marks_and_american_dates() -> None:
    parsed = read_raw(IOS, export(IOS))
    assert episodes(parsed)[0].title == "Book circle"
    assert [(f"{turn.time:%m-%d %H:%M:%S}", turn.speaker, turn.text) for turn in turns(parsed)] == [
        ("03-04 09:06:40", "Noor", "We read Salt next.\nBring tea."),
        ("03-04 12:07:30", "Tom", "my notes"),
        ("03-14 00:10:00", "+31 6 1234 5678", "Who is this?"),
        ("03-14 00:12:00", "Noor", "That is Sem"),
    ]


@pytest.mark.parametrize(
    ("head", "moment"),
    [
        ("25/12/2024, 18:05 - ", (2024, 12, 25, 18, 5, 0)),
        ("12/25/24, 6:05 PM - ", (2024, 12, 25, 18, 5, 0)),
        ("12/25/24, 12:05\u202fam - ", (2024, 12, 25, 0, 5, 0)),
        ("25.12.24, 18:05 - ", (2024, 12, 25, 18, 5, 0)),
        ("25.12.2024 klo 18.05 - ", (2024, 12, 25, 18, 5, 0)),
        ("25/12/2024 18:05 - ", (2024, 12, 25, 18, 5, 0)),
        ("25/12/24, 6:05 p.\u00a0m. - ", (2024, 12, 25, 18, 5, 0)),
        ("2024-12-25, 18:05 - ", (2024, 12, 25, 18, 5, 0)),
        ("[25.12.24, 18:05:09] ", (2024, 12, 25, 18, 5, 9)),
        ("\u200e[12/25/24, 6:05:09\u202fPM] ", (2024, 12, 25, 18, 5, 9)),
        ("[2024-12-25, 6:05:09 PM] ", (2024, 12, 25, 18, 5, 9)),
    ],
)
def test_the_dates_of_many_phones(head: str, moment: tuple[int, ...]) -> None:
    assert is_message(f"{head}Mira: hello")
    (turn,) = turns(read_raw(ANDROID, f"{head}Mira: hello".encode()))
    assert turn.time == datetime(*moment, tzinfo=UTC)  # type: ignore[arg-type, misc]


def test_day_and_month_are_told_apart_over_the_whole_file() -> None:
    days = [turn.time for turn in turns(read_raw(ANDROID, b"1/2/25, 10:00 - M: a\n1/13/25, 10:00 - M: b"))]
    assert [f"{day:%m-%d}" for day in days] == ["01-02", "01-13"]
    rising = b"3/1/25, 10:00 - M: a\n4/1/25, 10:00 - M: b\n5/1/25, 10:00 - M: c\n1/2/25, 10:00 - M: d"
    assert [f"{turn.time:%m-%d}" for turn in turns(read_raw(ANDROID, rising))][-1] == "02-01"
    assert any(
        "the day was taken to come first" in note for note in read_raw(ANDROID, b"1/2/25, 10:00 - M: a").notes
    )


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-8"])
def test_encodings_do_not_matter(encoding: str) -> None:
    raw = export(ANDROID).decode().encode(encoding)
    assert lines(read_raw(ANDROID, raw)) == lines(read_raw(ANDROID, export(ANDROID)))


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("WhatsApp Chat with Luca.txt", "Luca"),
        ("WhatsApp-Chat mit Luca Moretti (1).txt", "Luca Moretti"),
        ("a/WhatsApp Chat - Book circle/_chat.txt", "Book circle"),
        ("WhatsApp Chat - Sem.zip/_chat.txt", "Sem"),
        ("Chat de WhatsApp con Ana.txt", "Ana"),
        ("ferry.txt", "ferry"),
        ("_chat.txt", None),
    ],
)
def test_a_chat_is_named_after_its_file_or_folder(name: str, title: str | None) -> None:
    assert title_of(name, "_chat") == title


def test_a_date_that_does_not_exist_is_told_with_its_line_and_the_rest_is_kept() -> None:
    parsed = read_raw(ANDROID, b"31/1/25, 10:00 - M: a\n31/2/25, 10:00 - M: b\n1/3/25, 10:00 - M: c")
    assert lines(parsed) == ["M: a", "M: c"]
    assert parsed.faults == (f"{ANDROID}, line 2: its date is no date (day is out of range for month)",)
