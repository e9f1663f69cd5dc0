"""`ingest -f markdown` on a folder that is copied, touched and edited: what did not change keeps its time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_cli import Command
from tests.engine_processes import held_engine

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
HARBOUR = "# Harbour\nThe [[crane]] lifts.\n## Boats\nThree.\n## Tides\nTwo a day.\n"


@pytest.fixture(name="substrate")
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """The command, in this process, on a store of its own."""
    with held_engine(tmp_path / "data") as data:
        yield Command(data, capsys)


@pytest.fixture(name="notes")
def folder(tmp_path: Path) -> Path:
    """Two notes of May 2023, neither of which says when."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "harbour.md").write_text(HARBOUR, "utf-8")
    (notes / "crane.md").write_text("It lifts ten tons.", "utf-8")
    changed_at(notes, MAY)
    return notes


def changed_at(notes: Path, moment: datetime) -> None:
    for note in notes.iterdir():
        os.utime(note, (moment.timestamp(), moment.timestamp()))


def figures(out: str) -> str:
    (line,) = [line for line in out.splitlines() if line.startswith("stored ")]
    return line.partition(" in ")[0]


def beginnings(substrate: Command, memory_id: str) -> list[Any]:
    """When each record of a memory begins to hold."""
    said = substrate("history", memory_id, "--citizen", "ada", "--json")
    assert said.code == 0, said.err
    return [datetime.fromisoformat(record["valid_at"]) for record in json.loads(said.out)]


def test_notes_whose_files_were_only_touched_are_there_already(substrate: Command, notes: Path) -> None:
    words = ("ingest", str(notes), "-f", "markdown", "-c", "ada")
    assert figures(substrate(*words).out) == "stored 8, there already 0, refused 0"
    changed_at(notes, MAY + timedelta(days=40))
    again = substrate(*words)
    assert (again.code, figures(again.out)) == (0, "stored 0, there already 8, refused 0")
    assert beginnings(substrate, "notes:harbour.md#Boats") == [MAY]


def test_the_unchanged_parts_of_an_edited_note_keep_their_time(substrate: Command, notes: Path) -> None:
    words = ("ingest", str(notes), "-f", "markdown", "-c", "ada")
    substrate(*words)
    (notes / "harbour.md").write_text(HARBOUR + "## Birds\nGulls.\n", "utf-8")
    changed_at(notes, MAY + timedelta(days=40))
    again = substrate(*words)
    assert (again.code, figures(again.out)) == (0, "stored 3, there already 8, refused 0")
    assert beginnings(substrate, "notes:harbour.md") == [MAY]
    assert beginnings(substrate, "notes:harbour.md#Tides") == [MAY]
    assert beginnings(substrate, "notes:harbour.md#Birds") == [MAY + timedelta(days=40)]
    changed_at(notes, MAY + timedelta(days=80))
    assert figures(substrate(*words).out) == "stored 0, there already 11, refused 0"


def test_an_edited_note_says_so_and_the_past_keeps_it(substrate: Command, notes: Path) -> None:
    words = ("ingest", str(notes), "-f", "markdown", "-c", "ada")
    substrate(*words)
    (notes / "crane.md").write_text("It lifts twelve tons.", "utf-8")
    changed_at(notes, MAY + timedelta(days=40))
    again = substrate(*words)
    assert (again.code, figures(again.out)) == (0, "stored 1, there already 7, refused 0")
    assert "of these 1 superseded, 0 ended" in again.out
    assert "note: crane.md changed: 1 superseded" in again.out
    assert beginnings(substrate, "notes:crane.md") == [MAY, MAY, MAY + timedelta(days=40)]


def test_one_bad_note_is_refused_unless_the_whole_is_asked_for(substrate: Command, notes: Path) -> None:
    (notes / "bad.md").write_text("---\ndate: never\n---\nx", "utf-8")
    words = ("ingest", str(notes), "-f", "markdown", "-c", "ada")
    strict = substrate(*words, "--strict")
    assert strict.code != 0
    assert "bad.md, front matter, date" in strict.err
    lenient = substrate(*words)
    assert (lenient.code, figures(lenient.out)) == (5, "stored 8, there already 0, refused 1")
    assert "refused: bad.md, front matter, date" in lenient.out
