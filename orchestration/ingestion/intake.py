"""The files of an ingestion: where they lie, and parsing in which a bad one does not keep others out. Pure."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from pathlib import PurePath
from typing import Final, NamedTuple

from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.formats import FileSet, ParsedFiles, parse
from schemas.errors import InvalidRequest

MOST_TOLD: Final = 100
"""Faults that the sentence of a refusal names."""


class Origin(NamedTuple):
    """Where the files of an ingestion lie. `name` is that of the file set that they are parsed as.

    `is_folder`: of a folder, or an archive. `unread`: paths of files there that could not be read or parsed.
    """

    name: str
    path: PurePath
    host: str
    is_folder: bool
    unread: frozenset[str] = frozenset()

    def of_episode(self, episode_id: str) -> PurePath | None:
        """The path of the chat with this id; None when its id does not come from the name of its file."""
        if episode_id == self.name:
            return self.path
        inside = episode_id.removeprefix(f"{self.name}/")
        return self.path / inside if self.is_folder and inside != episode_id else None

    def digest(self, path: PurePath) -> str:
        """A name for a path on this machine that does not tell it."""
        return blake2b(f"{self.host}\n{path}".encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


class Intake(NamedTuple):
    """Parsed files, and the names of the files that could not be parsed at all."""

    parsed: ParsedFiles
    unread: frozenset[str] = frozenset()


def parse_readable(form: str | None, files: FileSet) -> Intake:
    """Parse the files that can be parsed; `faults` of the parsed files has the others, one line each.

    Raises InvalidRequest as `parse` does when there is no file that can be parsed.
    """
    if files.unread and not files.files:
        raise InvalidRequest("; ".join(files.unread.values()), remedy="Nothing was stored.")
    intake = _parse_what_was_read(form, files)
    parsed = replace(intake.parsed, faults=(*files.unread.values(), *intake.parsed.faults))
    if files.unread and len(files.files) == 1:
        parsed = _as_one_of_several(parsed, files.name, files.files[0].name)
    return Intake(parsed, intake.unread | files.unread.keys())


def _parse_what_was_read(form: str | None, files: FileSet) -> Intake:
    try:
        parsed = parse(form, files)
    except InvalidRequest:
        if len(files.files) < 2:
            raise
        return _parse_apart(form, files)
    return _parse_apart(form, files) if parsed.faults and len(files.files) > 1 else Intake(parsed)


def _parse_apart(form: str | None, files: FileSet) -> Intake:
    """Try each file alone, and parse those together that can be parsed: notes link to each other."""
    faults: dict[str, InvalidRequest] = {}
    for file in files.files:
        try:
            parse(form, replace(files, files=(file,)))
        except InvalidRequest as error:
            faults[file.name] = error
    good = tuple(file for file in files.files if file.name not in faults)
    if not good:
        raise next(iter(faults.values()))
    parsed = parse(form, replace(files, files=good))
    if faults and len(good) == 1:
        parsed = _as_one_of_several(parsed, files.name, good[0].name)
    unread = tuple(error.detail for error in faults.values())
    return Intake(replace(parsed, faults=(*unread, *parsed.faults)), frozenset(faults))


def _as_one_of_several(parsed: ParsedFiles, folder: str, file: str) -> ParsedFiles:
    """A chat of a folder has the name of its file in its id, also when it is the only one that could be read."""
    items = (
        replace(item, id=f"{folder}/{file}") if isinstance(item, Episode) and item.id == folder else item
        for item in parsed.items
    )
    return replace(parsed, items=tuple(items))


def parse_strictly(form: str | None, files: FileSet) -> Intake:
    """Parse all files. Raises InvalidRequest with every fault when one of them cannot be parsed."""
    intake = parse_readable(form, files)
    faults = intake.parsed.faults
    if faults:
        raise InvalidRequest("; ".join(faults[:MOST_TOLD]), remedy="Nothing was stored.", faults=faults)
    return intake
