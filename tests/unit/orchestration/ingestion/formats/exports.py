"""Files of the shapes that programs export in, and what the parsers make of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path

from orchestration.ingestion.episodes import Episode, Turn
from orchestration.ingestion.formats import File, FileSet, ParsedFiles, parse
from orchestration.ingestion.formats.files import make_file
from tests.docs_pages import ROOT

EXPORTS = ROOT / "tests" / "data" / "exports"


def export(name: str) -> bytes:
    return (EXPORTS / name).read_bytes()


def read_raw(
    name: str, raw: bytes, *, form: str | None = None, citizen: str | None = "mira", zone: tzinfo | None = None
) -> ParsedFiles:
    return read_all([make_file(name, raw)], form=form, citizen=citizen, zone=zone)


def read_all(
    files: Sequence[File], *, form: str | None = None, citizen: str | None = "mira", zone: tzinfo | None = None
) -> ParsedFiles:
    return parse(form, FileSet(Path(files[0].name).stem, tuple(files), citizen, zone))


def episodes(parsed: ParsedFiles) -> list[Episode]:
    found = [item for item in parsed.items if isinstance(item, Episode)]
    assert len(found) == len(parsed.items)
    return found


def turns(parsed: ParsedFiles) -> list[Turn]:
    return [turn for episode in episodes(parsed) for session in episode.sessions for turn in session.turns]


def lines(parsed: ParsedFiles) -> list[str]:
    return [f"{turn.speaker}: {turn.text}" for turn in turns(parsed)]


def counted(parsed: ParsedFiles) -> dict[str, int]:
    """What the notes count, without the names of the files."""
    texts = (note.partition(": ")[2].removeprefix("left out: ") for note in parsed.notes)
    pairs = [pair.rpartition(" (") for text in texts for pair in re.split(r"(?<=\d\)), ", text)]
    return {kind: int(count.rstrip(")").replace(",", "")) for kind, _, count in pairs}
