"""Files that are edited, moved, renamed, copied and taken away between two ingestions."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.runtime.runtime import now
from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.ingestion.formats import parse_readable
from orchestration.ingestion.formats.files import read_files
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.storing import Origin
from schemas.commands import Correct
from schemas.memory import ConsciousnessNode, Level
from schemas.responses import IngestReport
from schemas.temporal import Scope, to_instant
from substrate.graphs.names import graph_name
from substrate.store import reader, rows

MAY = datetime(2024, 5, 8, tzinfo=UTC)
JUNE = datetime(2024, 6, 8, tzinfo=UTC)
HARBOUR = "# Harbour\nThe [[crane]] lifts.\n## Boats\nThree of them, all blue.\n## Tides\nTwo a day.\n"
CRANE = "It lifts ten tons and was built by the grandfather of Ines.\n"


class Vault:
    """A folder of files, ingested for one citizen."""

    def __init__(self, deps: Deps, citizen: str, root: Path) -> None:
        self.deps, self.citizen, self.root = deps, citizen, root

    def write(self, path: str, text: str, at: datetime = MAY) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, (at.timestamp(), at.timestamp()))
        return file

    async def ingest(self, path: str, form: str = "markdown") -> IngestReport:
        place = self.root / path
        files = read_files(place, form, self.citizen)
        read = parse_readable(form, files)
        origin = Origin(files.name, place, "here", place.is_dir(), read.unread)
        return await ingest(read.parsed, self.deps, now(), origin=origin)

    async def seen(self, memory_id: str, at: datetime | None = None) -> ConsciousnessNode | None:
        """A memory as it holds at a moment (default: now), as known now."""
        moment = now()
        scope = Scope.current(moment) if at is None else Scope.at(to_instant(at), moment)
        graph = self.deps.graph(graph_name(Level.N1, self.citizen))
        row = (await reader.read_memory(graph, memory_id, scope)).row
        return None if row is None else rows.node(row, Level.N1)

    async def text(self, memory_id: str, at: datetime | None = None) -> str | None:
        found = await self.seen(memory_id, at)
        return None if found is None else found.description

    async def memories(self) -> int:
        return (await reader.counts(self.deps.graph(graph_name(Level.N1, self.citizen)))).memories


@pytest.fixture(name="vault")
def open_vault(deps: Deps, fresh_citizen: str, tmp_path: Path) -> Vault:
    return Vault(deps, fresh_citizen, tmp_path)


def figures(report: IngestReport) -> tuple[int, int, int, int]:
    return report.stored, report.superseded, report.retracted, report.refused


def told(report: IngestReport, word: str) -> bool:
    return any(word in note for note in report.notes)


async def harbour(vault: Vault) -> None:
    vault.write("notes/harbour.md", HARBOUR)
    vault.write("notes/crane.md", CRANE)
    assert figures(await vault.ingest("notes")) == (8, 0, 0, 0)


async def test_an_edited_section_supersedes_its_memory_and_the_past_keeps_the_former_text(vault: Vault) -> None:
    await harbour(vault)
    vault.write("notes/harbour.md", HARBOUR.replace("Three of them", "Four of them"), JUNE)
    report = await vault.ingest("notes")
    assert figures(report) == (1, 1, 0, 0)
    assert report.duplicates == 7
    assert told(report, "harbour.md changed: 1 superseded")
    assert await vault.text("notes:harbour.md#Boats") == "Four of them, all blue."
    assert await vault.text("notes:harbour.md#Boats", JUNE - timedelta(days=1)) == "Three of them, all blue."
    untouched = await vault.seen("notes:harbour.md#Tides")
    assert untouched is not None
    assert untouched.version == 1
    assert figures(await vault.ingest("notes")) == (0, 0, 0, 0)


async def test_a_section_that_was_taken_out_ends_and_comes_back_as_the_same_memory(vault: Vault) -> None:
    await harbour(vault)
    before = await vault.memories()
    vault.write("notes/harbour.md", HARBOUR.partition("## Tides")[0], JUNE)
    report = await vault.ingest("notes")
    assert figures(report)[2:] == (1, 0)
    assert told(report, "1 ended")
    assert await vault.seen("notes:harbour.md#Tides") is None
    assert await vault.text("notes:harbour.md#Tides", JUNE) == "Two a day."
    vault.write("notes/harbour.md", HARBOUR)
    assert (await vault.ingest("notes")).refused == 0
    assert await vault.text("notes:harbour.md#Tides") == "Two a day."
    assert await vault.memories() == before
    assert figures(await vault.ingest("notes")) == (0, 0, 0, 0)


async def test_a_note_without_its_file_ends_and_is_told(vault: Vault) -> None:
    await harbour(vault)
    (vault.root / "notes/harbour.md").unlink()
    report = await vault.ingest("notes")
    assert figures(report)[2:] == (3, 0)
    assert told(report, "harbour.md is not in the folder any more")
    assert await vault.seen("notes:harbour.md") is None
    assert await vault.text("notes:harbour.md", JUNE) == "The [[crane]] lifts."
    vault.write("notes/harbour.md", HARBOUR)
    assert (await vault.ingest("notes")).refused == 0
    assert await vault.text("notes:harbour.md#Boats") == "Three of them, all blue."
    assert figures(await vault.ingest("notes")) == (0, 0, 0, 0)


async def test_a_renamed_note_is_the_same_memory_at_another_place(vault: Vault) -> None:
    await harbour(vault)
    (vault.root / "notes/sea").mkdir()
    (vault.root / "notes/harbour.md").rename(vault.root / "notes/sea/port.md")
    report = await vault.ingest("notes")
    assert report.retracted == 0
    assert told(report, "harbour.md is now sea/port.md")
    moved = await vault.seen("notes:harbour.md")
    assert moved is not None
    assert moved.buckets == ("sea",)
    assert moved.extra == {"folder": "notes", "path": "sea/port.md"}
    assert await vault.memories() == 4
    assert figures(await vault.ingest("notes")) == (0, 0, 0, 0)
    vault.write("notes/sea/port.md", HARBOUR.replace("Two", "Three"), JUNE)
    assert (await vault.ingest("notes")).superseded == 1
    assert await vault.memories() == 4


async def test_a_note_that_is_moved_and_edited_at_once_is_recognised_by_its_lines(vault: Vault) -> None:
    await harbour(vault)
    (vault.root / "notes/harbour.md").unlink()
    vault.write("notes/port.md", HARBOUR + "## Birds\nGulls.\n", JUNE)
    report = await vault.ingest("notes")
    assert (report.retracted, report.refused) == (0, 0)
    assert await vault.text("notes:harbour.md#Boats") == "Three of them, all blue."
    assert await vault.memories() == 5


@pytest.mark.parametrize("moved_to", ["other/notes", "vault"])
async def test_a_moved_or_renamed_folder_stores_nothing_twice(vault: Vault, moved_to: str) -> None:
    await harbour(vault)
    (vault.root / moved_to).parent.mkdir(exist_ok=True)
    shutil.move(vault.root / "notes", vault.root / moved_to)
    report = await vault.ingest(moved_to)
    assert figures(report) == (0, 0, 0, 0)
    assert report.duplicates == 8
    vault.write(f"{moved_to}/crane.md", "It was sold.", JUNE)
    assert (await vault.ingest(moved_to)).superseded == 1
    assert await vault.memories() == 4


async def test_a_renamed_folder_of_many_notes_with_many_sections_is_recognised(vault: Vault) -> None:
    for number in range(12):
        parts = "".join(f"## Part {part}\nPart {part} of {number}.\n" for part in range(3))
        vault.write(f"notes/{number}.md", f"# Note {number}\nAbout the thing with number {number}.\n{parts}")
    await vault.ingest("notes")
    shutil.move(vault.root / "notes", vault.root / "vault")
    report = await vault.ingest("vault")
    assert (report.stored, report.refused) == (0, 0)
    assert told(report, "the folder vault is the stored folder notes")


async def test_a_note_that_the_citizen_corrected_stays_as_it_is(vault: Vault) -> None:
    await harbour(vault)
    change = Correct(citizen_id=vault.citizen, id="notes:crane.md", description="It lifts nine tons.")
    await insertion.apply([change], vault.deps, now())
    report = await vault.ingest("notes")
    assert figures(report) == (0, 0, 0, 0)
    assert told(report, "changed by hand")
    assert await vault.text("notes:crane.md") == "It lifts nine tons."


async def test_what_an_earlier_version_stored_goes_on_without_repeats(vault: Vault) -> None:
    vault.write("notes/harbour.md", HARBOUR)
    vault.write("notes/crane.md", CRANE)
    files = read_files(vault.root / "notes", "markdown", vault.citizen)
    await ingest(parse_readable("markdown", files).parsed, vault.deps, now())
    assert figures(await vault.ingest("notes")) == (0, 0, 0, 0)


async def test_a_date_that_is_set_right_moves_the_beginning_of_its_note(vault: Vault) -> None:
    dated = "---\ncreated: {}\nauthor: Ines\ntags: [sea]\naliases: [The Derrick]\n---\n" + HARBOUR
    vault.write("notes/harbour.md", dated.format("2024-03-01"))
    await vault.ingest("notes")
    note = await vault.seen("notes:harbour.md")
    assert note is not None
    assert note.valid_at == datetime(2024, 3, 1, tzinfo=UTC)
    assert (note.speaker, note.tags) == ("Ines", ("sea",))
    assert "The Derrick" in note.aliases
    vault.write("notes/harbour.md", dated.format("2023-03-01"), JUNE)
    assert (await vault.ingest("notes")).superseded == 3
    assert await vault.text("notes:harbour.md#Tides", datetime(2023, 4, 1, tzinfo=UTC)) == "Two a day."
    assert figures(await vault.ingest("notes")) == (0, 0, 0, 0)


def chat(*texts: str) -> str:
    entries = [
        {"role": ("user", "assistant")[n % 2], "content": text, "timestamp": 1_700_000_000 + 60 * n}
        for n, text in enumerate(texts)
    ]
    return json.dumps(entries)


BOAT = (
    "We bought a small blue boat for the summer",
    "That sounds like a lot of work to me",
    "It is, but we sail.",
)
BREAD = ("Which flour do you use for the rye bread", "Mostly the dark one from the mill nearby", "Thank you.")


async def test_two_chats_of_one_name_in_two_folders_are_two_episodes(vault: Vault) -> None:
    vault.write("boat/talk.json", chat(*BOAT))
    vault.write("bread/talk.json", chat(*BREAD))
    assert (await vault.ingest("boat/talk.json", "messages")).stored > 0
    report = await vault.ingest("bread/talk.json", "messages")
    assert (report.superseded, report.refused) == (0, 0)
    assert told(report, "another file of this name")
    assert await vault.text("talk:D1:1") == BOAT[0]
    for place in ("boat", "bread"):
        assert (await vault.ingest(f"{place}/talk.json", "messages")).stored == 0


@pytest.mark.parametrize("moved_to", ["other/talk.json", "sailing.json"])
async def test_a_moved_or_renamed_chat_goes_on_as_the_same_episode(vault: Vault, moved_to: str) -> None:
    vault.write("talk.json", chat(*BOAT))
    await vault.ingest("talk.json", "messages")
    before = await vault.memories()
    (vault.root / "talk.json").unlink()
    vault.write(moved_to, chat(*BOAT, "The sails need a new rope before June"))
    assert (await vault.ingest(moved_to, "messages")).refused == 0
    assert await vault.memories() == before + 1


async def test_a_bad_chat_of_a_folder_is_refused_and_the_others_go_in(vault: Vault) -> None:
    vault.write("chats/a.json", chat(*BOAT))
    vault.write("chats/b.json", "[{")
    report = await vault.ingest("chats", "messages")
    assert (report.refused, report.turns) == (1, 3)
    assert report.faults[0].startswith("b.json")
    vault.write("chats/b.json", chat(*BREAD))
    report = await vault.ingest("chats", "messages")
    assert (report.refused, report.duplicates > 0) == (0, True)
    assert await vault.text("chats/a.json:D1:1") == BOAT[0]
    assert await vault.text("chats/b.json:D1:1") == BREAD[0]


@pytest.mark.parametrize("form", ["markdown", "messages"])
async def test_a_damaged_archive_in_a_folder_keeps_nothing_else_out(vault: Vault, form: str) -> None:
    text = CRANE if form == "markdown" else chat(*BOAT)
    vault.write(f"box/{'a.md' if form == 'markdown' else 'a.json'}", text)
    (vault.root / "box/old.zip").write_bytes(b"PK\x03\x04 cut")
    report = await vault.ingest("box", form)
    assert report.refused == 1
    assert report.faults[0].startswith("old.zip: is a damaged or cut archive")
    assert report.stored > 0
    assert await vault.text("box:a.md" if form == "markdown" else "box/a.json:D1:1") is not None
    (vault.root / "box/old.zip").unlink()
    assert (await vault.ingest("box", form)).stored == 0
