"""The way back: the edits that a person made in the files of a mirror, applied as commands."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched
from pathlib import Path
from typing import Final, NamedTuple

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.features.mirror import folder as mirror_folder
from orchestration.features.mirror import queries as store
from orchestration.features.mirror.edits import Edit, Edits, Found, Known, Owner, Refusal, Written, decide
from orchestration.features.mirror.folder import Folder
from orchestration.features.mirror.layout import INDEX, Marker, MirrorOf
from orchestration.features.mirror.text import NEW, Atom, atom_of, parse_file
from orchestration.features.mirror.writer import read_marker
from schemas.commands import WriteReceipt
from schemas.errors import NotFound
from schemas.temporal import Instant, Scope
from substrate.graphs.graph import Graph
from substrate.store import reader, rows

MEMORIES_A_READ: Final = 100


class ReadFolder(NamedTuple):
    """What the files of a mirror say. `missing`: the file and version of each memory that stands in none."""

    marker: Marker
    found: Sequence[Found]
    missing: Mapping[str, Written]
    refusals: Sequence[Refusal]


class MirrorEdits(NamedTuple):
    """The edits of one mirror."""

    of: MirrorOf
    edits: Edits

    @property
    def settled(self) -> frozenset[str]:
        """The files all of whose edits can be applied."""
        refused = {refusal.path for refusal in self.edits.refusals}
        return frozenset(edit.path for edit in self.edits.edits) - refused


async def read_edits(directory: Path, deps: Deps, now: Instant, of: MirrorOf | None = None) -> list[MirrorEdits]:
    """The edits in a directory of mirrors, in all of them or in one, by the names of their folders.

    Raises InvalidRequest for a directory that is no mirror, NotFound where there is none of this graph.
    """
    read = await asyncio.to_thread(_read_folders, directory)
    chosen = [each for each in read if of in (None, each.marker.of)]
    if of is not None and not chosen:
        raise NotFound(f"there is no mirror of {of.name} in {directory}")
    return [MirrorEdits(each.marker.of, await _decide(each, deps, now)) for each in chosen]


def _read_folders(directory: Path) -> list[ReadFolder]:
    read: list[ReadFolder] = []
    with mirror_folder.open_root(directory, write=False) as root:
        for name in sorted(root.names()):
            if not name.startswith(".") and root.is_folder(name):
                with root.open(name) as folder:
                    read.append(read_folder(folder))
    return read


def read_folder(folder: Folder) -> ReadFolder:
    """Read the files of one mirror. Only those that differ from what was written are parsed."""
    marker = read_marker(folder)
    found: list[Found] = []
    refusals: list[Refusal] = []
    untouched: set[str] = set()
    for entry in folder.files():
        if not entry.regular:
            refusals.append(Refusal(entry.path, f"{entry.path} is no file: a mirror holds no symlinks"))
        elif entry.path.endswith(".md") and entry.path != INDEX:
            content = folder.read(entry.path) or b""
            note = marker.files.get(entry.path)
            if note is not None and note.is_ours(content):
                untouched.add(entry.path)
                continue
            try:
                found += _parse(entry.path, content.decode())
            except UnicodeDecodeError:
                refusals.append(Refusal(entry.path, f"{entry.path} is no text in UTF-8"))
    return ReadFolder(marker, found, _missing(marker, found, untouched, refusals), refusals)


def _parse(path: str, text: str) -> Iterator[Found]:
    parsed = parse_file(text)
    bucket, tag = map(parsed.front.get, ("bucket", "tag"))
    for section in parsed.sections:
        yield Found(
            path, section, bucket if isinstance(bucket, str) else None, tag if isinstance(tag, str) else None
        )


def _missing(
    marker: Marker, found: Iterable[Found], untouched: set[str], refusals: Iterable[Refusal]
) -> dict[str, Written]:
    """The memories that were written and stand nowhere. A file that cannot be read has lost none."""
    present = {each.section.atom.id for each in found}
    unread = {refusal.path for refusal in refusals}
    missing: dict[str, Written] = {}
    for path, note in marker.files.items():
        if path not in untouched and not any(map(path.startswith, unread)):
            missing |= {
                atom_id: Written(path, version) for atom_id, version in note.atoms if atom_id not in present
            }
    return missing


async def _decide(read: ReadFolder, deps: Deps, now: Instant) -> Edits:
    of = read.marker.of
    wanted = {each.section.atom.id: each.section.atom.version for each in read.found if not each.section.faults}
    wanted |= {atom_id: written.version for atom_id, written in read.missing.items()}
    wanted.pop(NEW, None)
    graph = deps.graph(of.graph)
    if wanted and not await deps.graphs.for_reading(graph.name):
        raise NotFound(f"nothing was remembered for {of.name} yet", remedy="Its mirror outlived it.")
    known = await _read_known(graph, wanted, now) if wanted else {}
    edits, refusals = decide(Owner(of.fields, read.marker.known_at), read.found, read.missing, known)
    return Edits(edits, (*read.refusals, *refusals))


async def _read_known(graph: Graph, wanted: Mapping[str, int | None], now: Instant) -> dict[str, Known]:
    """Each memory as it was in the version that was written, and the version that it has now."""
    present: dict[str, Atom] = {}
    for ids in batched(wanted, MEMORIES_A_READ):
        found = await store.read_records(graph, ids, Scope.current(now))
        present |= {atom.id: atom for atom in map(atom_of, map(rows.record, found))}
    known: dict[str, Known] = {}
    for atom_id, version in wanted.items():
        atom = present.get(atom_id)
        is_current = atom is not None and atom.version == version
        base = atom if is_current else await _read_version(graph, atom_id, version)
        known[atom_id] = Known(base, None if atom is None else atom.version)
    return known


async def _read_version(graph: Graph, atom_id: str, version: int | None) -> Atom | None:
    records = list(map(rows.record, await reader.history(graph, atom_id)))
    return next((atom_of(record) for record in records if record.version == version), None)


async def apply_edits(edits: Sequence[Edit], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Apply the commands of the edits, in order; one receipt for each. Applied again they change nothing."""
    return await insertion.apply([edit.command for edit in edits], deps, now)
