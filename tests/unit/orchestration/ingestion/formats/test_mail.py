"""Mails: threads, encodings, quotations, and mails within mails."""

from __future__ import annotations

import pytest

from orchestration.appraisal.speech import own_text
from schemas.errors import InvalidRequest
from substrate.language.languages import Language
from tests.unit.orchestration.ingestion.formats.exports import (
    counted,
    episodes,
    export,
    lines,
    read_raw,
    turns,
)


def test_a_thread_of_an_mbox_is_one_episode() -> None:
    parsed = read_raw("All mail.mbox", export("thread.mbox"))
    assert parsed.formats == ("email",)
    assert [(one.id, one.title) for one in episodes(parsed)] == [
        ("email:a1@sail.example", "Berth for the summer ☵")
    ]
    assert lines(parsed) == [
        "Zoë de Boer: Dear Mira,\n\nberth 12 is free from May. It costs 340 € a month.\n"
        "From June on the water is deeper.\n\nZoë",
        "Mira K.: I take it, from the first of May. Is there electricity on the pier?\n\n"
        "On Tue, 4 Mar 2025, Zoé de Boer wrote:\n> berth 12 is free from May.\n> It costs 340 EUR a month.",
        "zoe@sail.example: Yes, 16 amperes.\n\n> Is there electricity on the pier?",
    ]
    assert counted(parsed) == {"attached files": 1, "mails in spam, drafts and trash": 1}
    first = turns(parsed)[0]
    assert str(first.time) == "2025-03-04 14:05:00+00:00"
    assert first.extra["attachments"] == ["berths.pdf"]
    assert first.extra["to"] == ["Mira K."]


def test_quoted_words_are_no_words_of_the_sender() -> None:
    for text in (turn.text for turn in turns(read_raw("a.mbox", export("thread.mbox")))):
        assert "340 EUR" not in own_text(text, Language.of("en"))
    assert "Proof" not in own_text(turns(read_raw("a.eml", export("forwarded.eml")))[0].text, Language.of("en"))


@pytest.mark.parametrize(
    ("header", "raw", "text"),
    [
        ("text/plain; charset=iso-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ("text/plain; charset=us-ascii", "Grüße".encode(), "Grüße"),
        ("text/plain; charset=nonsense", "Grüße".encode("cp1252"), "Grüße"),
        ("text/plain", b"plain", "plain"),
        ("text/html; charset=utf-8", "<p>Gr&uuml;ße<br>you".encode(), "Grüße\nyou"),
    ],
)
def test_texts_are_read_in_the_encoding_that_they_are_in(header: str, raw: bytes, text: str) -> None:
    mail = b"From: a@b.example\r\nSubject: s\r\nContent-Type: " + header.encode() + b"\r\n\r\n" + raw
    assert lines(read_raw("a.eml", mail)) == [f"a@b.example: {text}"]


def test_a_mail_of_a_subject_alone_says_its_subject_and_an_empty_one_is_counted() -> None:
    assert lines(read_raw("a.eml", b"From: a@b.example\nSubject: call me\n\n")) == ["a@b.example: call me"]
    with pytest.raises(InvalidRequest, match="holds no message with a text"):
        read_raw("a.eml", b"From: a@b.example\nDate: Tue, 4 Mar 2025 15:05:00 +0100\n\n")


def test_a_damaged_mail_is_told_with_its_place_and_the_others_are_kept() -> None:
    envelope = b"From x Tue Mar 04 14:05:00 2025\n"
    whole = b"From: a@b.example\nSubject: s\nDate: %s\n\ntext\n\n"
    raw = (
        envelope
        + whole % b"never"
        + envelope
        + b"no header\n\n"
        + envelope
        + whole % b"Tue, 4 Mar 2025 15:05:00 +0100"
    )
    parsed = read_raw("a.mbox", raw)
    assert len(turns(parsed)) == 1
    assert [fault.partition(": ")[0] for fault in parsed.faults] == ["a.mbox, mail 1, date", "a.mbox, mail 2"]


def test_a_cut_mbox_keeps_what_is_whole_of_its_last_mail() -> None:
    raw = export("thread.mbox")
    parsed = read_raw("a.mbox", raw[: raw.index(b"electricity on the pier?\n\nOn Tue")])
    assert len(turns(parsed)) == 2
