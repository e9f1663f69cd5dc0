"""The marker of a citizen's mirror: which files were written, of what, and which memories each holds. Pure.

The journal beside it has a line for each file that was written since: so what an interrupted run wrote is not
taken for the edit of a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import orjson

from orchestration.features.mirror.layout import MirrorOf, is_place
from schemas.errors import InvalidRequest
from schemas.memory import GraphKey, Level
from schemas.temporal import END_OF_TIME, Instant

VERSION: Final = 1
REMEDY: Final = "Remove the folder, then mirror again."


class FileNote(NamedTuple):
    """A file as it was written: the digest of what decides its text, that of its bytes, and its memories.

    `atoms`: the id and the version of each. `journaled`: digests of bytes that an interrupted run wrote.
    """

    inputs: str
    content: str
    atoms: Sequence[tuple[str, int]] = ()
    journaled: tuple[str, ...] = ()

    def is_ours(self, content: bytes | None) -> bool:
        """True when a file has the bytes that were written, and no person edited it."""
        return content is not None and digest(content) in (self.content, *self.journaled)


class Marker(NamedTuple):
    """What a mirror shows: one moment of one graph. `changes_at`: when it changes without any command.

    `clock`: the last transaction time of the graph then. `memories`, `made_tags`: how many the graph had.
    """

    citizen_id: str | None
    known_at: Instant
    clock: Instant
    memories: int
    made_tags: int = 0
    changes_at: Instant = END_OF_TIME
    files: Mapping[str, FileNote] = {}
    graph: GraphKey = Level.N1

    @property
    def of(self) -> MirrorOf:
        return MirrorOf(self.graph, self.citizen_id)


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def dump_marker(marker: Marker) -> bytes:
    """The marker as JSON, a file a line."""
    fields = marker._asdict()
    fields["files"] = {
        path: [note.inputs, note.content, list(note.atoms)] for path, note in sorted(marker.files.items())
    }
    return orjson.dumps({"substrate": "mirror", "version": VERSION, **fields}, option=orjson.OPT_INDENT_2) + b"\n"


def dump_written(path: str, content: bytes) -> bytes:
    """The line of the journal for a file that is about to be written."""
    return orjson.dumps([path, digest(content)]) + b"\n"


def parse_marker(raw: bytes, journal: bytes | None) -> Marker:
    """Raises InvalidRequest for a marker that is damaged, or that names a place outside."""
    try:
        fields = orjson.loads(raw)
        if fields.pop("substrate") != "mirror" or fields.pop("version") != VERSION:
            raise ValueError("another version")
        files: dict[str, FileNote] = {}
        for path, (inputs, content, held) in fields.pop("files").items():
            atoms = [(str(atom_id), int(version)) for atom_id, version in held]
            files[path] = FileNote(str(inputs), str(content), atoms)
        marker = Marker(files=_with_journal(files, journal or b""), **fields)
        if not marker.of.folder or not all(isinstance(moment, int) for moment in marker[1:6]):
            raise ValueError("times")
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRequest("the marker of the mirror is damaged", remedy=REMEDY) from error
    strange = next((path for path in marker.files if not is_place(path)), None)
    if strange is not None:
        raise InvalidRequest(f"the marker names {strange!r}, which is no place in a mirror", remedy=REMEDY)
    return marker


def _with_journal(files: Mapping[str, FileNote], journal: bytes) -> dict[str, FileNote]:
    noted = dict(files)
    for line in journal.splitlines():
        try:
            path, content = map(str, orjson.loads(line))
        except (orjson.JSONDecodeError, ValueError, TypeError):
            continue  # the last line of a process that was killed while it wrote
        note = noted.get(path, FileNote("", ""))
        noted[path] = note._replace(journaled=(*note.journaled, content))
    return noted
