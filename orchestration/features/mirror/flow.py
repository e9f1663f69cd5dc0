"""Writes the mirror of a graph: its memories as Markdown files (001, Mirror 2.0), whole or only what changed.

A mirror shows one moment: all reads see the same scope. Only ids, labels and places are held in memory, and the
whole records of one file at a time. Files that a person edited stay as they are until the edits are applied or
discarded, except that an erasure reaches them too. The way back stands below: the edits, applied as commands.
"""

from __future__ import annotations

import asyncio
import io
import tarfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import batched
from pathlib import Path
from typing import Final, NamedTuple

from orchestration import insertion
from orchestration.dependencies import Deps, Rest, no_rest
from orchestration.features.mirror import folder as mirror_folder
from orchestration.features.mirror import layout
from orchestration.features.mirror import queries as store
from orchestration.features.mirror import text as markdown
from orchestration.features.mirror.folder import JOURNAL, MARKER, Folder, MirrorBusy
from orchestration.features.mirror.layout import INDEX, Bundle, FileNote, Marker, MirrorOf, Plan
from orchestration.features.mirror.text import Atom, Edit, Edits, FoundAtom, Refusal, StoredMemory, WrittenPlace
from schemas.commands import WriteReceipt
from schemas.errors import Conflict, NotFound
from schemas.temporal import Instant, Scope
from substrate.graphs.graph import Graph
from substrate.language.text import count_of
from substrate.store import archive, reader, rows

ATOMS_A_READ: Final = 100
"""Files are read together until they have this many memories."""
WRITER_S: Final = 30.0
WRITER_POLL_S: Final = 0.2
NAMED: Final = 5
"""This many edited files are named in an error."""
REMEDY_EDITED: Final = "Apply the edits with `substrate mirror --apply DIR`, or drop them with `--discard`."


class MirrorReport(NamedTuple):
    """What a run wrote. `held_back`: files that a person edited, and that therefore stayed as they are."""

    name: str
    memories: int
    files: int
    written: int
    removed: int
    held_back: tuple[str, ...] = ()


class Snapshot(NamedTuple):
    """What a mirror shows `of` a graph at one moment. `marker`: without its files."""

    of: MirrorOf
    graph: Graph
    scope: Scope
    plan: Plan
    marker: Marker

    def closing(self, files: dict[str, FileNote]) -> tuple[bytes, bytes]:
        """The index, which joins the `files`, and the marker, which names them."""
        index = layout.render_index(self.plan, self.of).encode()
        files[INDEX] = FileNote("", layout.digest(index))
        return index, layout.dump_marker(self.marker._replace(files=files))

    async def render(self, bundles: Iterable[Bundle]) -> AsyncIterator[list[tuple[Bundle, bytes]]]:
        """The bytes of each file, some at a time. Their records are read now, as they were at that moment."""
        waiting: list[Bundle] = []
        for bundle in bundles:
            waiting.append(bundle)
            lengths = sum(each.length for each in waiting)
            if sum(len(each.atoms) for each in waiting) >= ATOMS_A_READ or lengths >= layout.CHARACTERS_A_FILE:
                yield await self._render(waiting)
                waiting = []
        yield await self._render(waiting)

    async def _render(self, bundles: Sequence[Bundle]) -> list[tuple[Bundle, bytes]]:
        ids = [atom.id for bundle in bundles for atom in bundle.atoms]
        found = await store.read_records(self.graph, ids, self.scope) if ids else []

        def render() -> list[tuple[Bundle, bytes]]:
            atoms = {atom.id: atom for atom in map(markdown.atom_of, map(rows.record, found))}
            return [(bundle, layout.render_bundle(self.plan, bundle, self.of, atoms)) for bundle in bundles]

        return await asyncio.to_thread(render)


async def take_snapshot(of: MirrorOf, deps: Deps, now: Instant, rest: Rest = no_rest) -> Snapshot:
    """What its mirror shows now. Raises NotFound where nothing is stored."""
    graph = await deps.existing_graph(of.key, of.citizen_id)
    memories, made_count = await _counts(graph)
    clock = await reader.read_clock(graph, now)
    scope = Scope.at(now, max(now, clock))
    made = await store.read_made_tags(graph, rest) if made_count else {}
    keys = [
        layout.key_of(row)._replace(made_tags=made.get(row.id, ()))
        async for row in store.read_keys(graph, scope, rest)
    ]
    links = [row async for row in store.read_link_ends(graph, scope, rest)]
    changes_at = await store.next_change(graph, now, rest)
    plan = await asyncio.to_thread(layout.make_plan, keys, links)
    marker = Marker(of.citizen_id, scope.known.start, clock, memories, made_count, changes_at, graph=of.key)
    return Snapshot(of, graph, scope, plan, marker)


async def _counts(graph: Graph) -> tuple[int, int]:
    """How many memories and how many made tags the graph has; the engine keeps both numbers."""
    stored = await archive.count_stored(graph)
    return stored.labels.get("ConsciousnessNode", 0), stored.types.get("MADE_TAG", 0)


async def write_mirror(snapshot: Snapshot, directory: Path, *, discard: bool = False) -> MirrorReport:
    """Write the whole mirror into a folder beside the former one, and put it in its place.

    Raises Conflict when a person edited the former one and `discard` is not set; InvalidRequest when the
    directory is not ours or cannot be written. What was there is whole then.
    """
    name = snapshot.of.folder
    with mirror_folder.open_root(directory, create=True) as root:
        await asyncio.to_thread(mirror_folder.finish_replacing, root, name)
        if name in set(root.names()):
            await asyncio.to_thread(_check_replaceable, root, name, discard=discard)
        draft = mirror_folder.draft_name(name)
        try:
            with root.open(draft, create=True) as folder:
                files = await _write_files(snapshot, folder)
            await asyncio.to_thread(mirror_folder.replace_folder, root, name, draft)
        finally:
            if draft in set(root.names()):
                with suppress(Exception):
                    root.remove_tree(draft)
    return MirrorReport(snapshot.of.name, _count(snapshot), len(files), len(files), 0)


def _count(snapshot: Snapshot) -> int:
    return sum(len(bundle.atoms) for bundle in snapshot.plan.bundles)


def _check_replaceable(root: Folder, name: str, *, discard: bool) -> None:
    with root.open(name) as folder:
        marker = read_marker(folder)
        edited = [] if discard else edited_files(folder, marker)
    if edited:
        more = f" and {count_of(len(edited) - NAMED, 'other file')}" if len(edited) > NAMED else ""
        named = ", ".join(edited[:NAMED])
        raise Conflict(f"somebody edited {named}{more} in {root.where / name}", remedy=REMEDY_EDITED)


async def _write_files(snapshot: Snapshot, folder: Folder) -> dict[str, FileNote]:
    files: dict[str, FileNote] = {}

    def write(rendered: Sequence[tuple[Bundle, bytes]]) -> None:
        for bundle, content in rendered:
            folder.write(bundle.path, content)
            files[bundle.path] = note_of(snapshot.plan, bundle, content)

    async for rendered in snapshot.render(snapshot.plan.bundles):
        await asyncio.to_thread(write, rendered)
    index, marker = snapshot.closing(files)
    folder.write(INDEX, index)
    folder.write(MARKER, marker)
    return files


def note_of(plan: Plan, bundle: Bundle, content: bytes) -> FileNote:
    """The note of a file as it is written."""
    atoms = [(atom.id, atom.version) for atom in bundle.atoms]
    return FileNote(plan.digest(bundle), layout.digest(content), atoms)


def read_marker(folder: Folder) -> Marker:
    """The marker of a citizen's folder. Raises InvalidRequest without one, or for a damaged one."""
    raw = folder.read(MARKER)
    if raw is None:
        raise Conflict(
            f"{folder.where} holds no {MARKER}: it is no mirror, and nothing in it was touched",
            remedy="Name another directory.",
        )
    return layout.parse_marker(raw, folder.read(JOURNAL))


def edited_files(folder: Folder, marker: Marker) -> list[str]:
    """The files that a person changed, added or removed since they were written, by their paths."""
    found = {entry.path: entry for entry in folder.files()}
    edited = [
        path for path, entry in found.items()
        if path not in marker.files or not entry.regular or not marker.files[path].is_ours(folder.read(path))
    ]  # fmt: skip
    return sorted({*edited, *(marker.files.keys() - found.keys())})


async def update_mirror(
    snapshot: Snapshot, directory: Path, rest: Rest = no_rest, *, discard: Iterable[str] = (), erased: bool = False
) -> MirrorReport:
    """Write only what changed since the mirror was written. Where there is none it is written whole.

    Edited files are held back unless `discard` names them, or something was `erased`. Raises as `write_mirror`.
    """
    name = snapshot.of.folder
    with mirror_folder.open_root(directory, create=True) as root:
        await asyncio.to_thread(mirror_folder.finish_replacing, root, name)
        if name in set(root.names()):
            with root.open(name) as folder:
                may_go = None if erased else frozenset(discard)
                return await _Update(snapshot, folder, rest, may_go, read_marker(folder)).run()
    return await write_mirror(snapshot, directory)


@dataclass(slots=True)
class _Update:
    """Brings one folder in step. `_discard`: the edited files that may be overwritten; None for all."""

    _snapshot: Snapshot
    _folder: Folder
    _rest: Rest
    _discard: frozenset[str] | None
    _marker: Marker
    _files: dict[str, FileNote] = field(default_factory=dict)
    _held_back: list[str] = field(default_factory=list)
    _written: int = 0

    async def run(self) -> MirrorReport:
        plan = self._snapshot.plan
        changed = await asyncio.to_thread(self._changed, plan)
        async for rendered in self._snapshot.render(changed):
            for bundle, content in rendered:
                await asyncio.to_thread(self._write, bundle.path, content)
                self._files[bundle.path] = note_of(plan, bundle, content)
                await self._rest()
        removed = await asyncio.to_thread(self._remove_others)
        index, marker = self._snapshot.closing(self._files)
        if self._folder.read(INDEX) != index:
            self._write(INDEX, index)
        self._folder.write(MARKER, marker)
        self._folder.remove(JOURNAL)
        counts = _count(self._snapshot), len(self._files), self._written, removed
        return MirrorReport(self._snapshot.of.name, *counts, tuple(sorted(self._held_back)))

    def _changed(self, plan: Plan) -> list[Bundle]:
        """The files to write; the others keep their note."""
        changed = []
        again = self._discard or ()  # edited, and to be overwritten although nothing changed in the store
        for bundle in plan.bundles:
            note = self._marker.files.get(bundle.path)
            if note is not None and note.inputs == plan.digest(bundle) and bundle.path not in again:
                self._files[bundle.path] = note
            elif not self._keep_edited(bundle.path, note):
                changed.append(bundle)
        return changed

    def _keep_edited(self, path: str, note: FileNote | None) -> bool:
        """Hold an edited file back, with the note of what it was made of; False for one that may be written."""
        if self._discard is None or path in self._discard:
            return False
        content = self._folder.read(path)
        if (note is None and content is None) or (note is not None and note.is_ours(content)):
            return False
        self._held_back.append(path)
        if note is not None:
            self._files[path] = note
        return True

    def _write(self, path: str, content: bytes) -> None:
        self._folder.append(JOURNAL, layout.dump_written(path, content))
        self._folder.write(path, content)
        self._written += 1

    def _remove_others(self) -> int:
        removed = 0
        for path, note in self._marker.files.items():
            if path in self._files or path == INDEX or path in self._held_back:
                continue
            if not self._keep_edited(path, note):
                self._folder.remove(path)
                removed += 1
        return removed


async def erase_from_mirror(of: MirrorOf | None, deps: Deps, directory: Path, now: Instant) -> None:
    """Take out of a mirror what the store no longer holds, also from files that somebody edited.

    With None, or for a graph that is gone: remove the mirrors of all graphs that do not exist, with all that is in
    them. Raises InvalidRequest when a mirror cannot be written, MirrorBusy when another process writes to it for
    half a minute: it then still holds what was erased.
    """
    give_up = time.monotonic() + WRITER_S
    while True:
        try:
            try:
                snapshot = None if of is None else await take_snapshot(of, deps, now)
            except NotFound:
                snapshot = None
            if snapshot is not None:
                await update_mirror(snapshot, directory, erased=True)
                return
            await asyncio.to_thread(_remove_strays, directory, frozenset(await deps.graphs.existing_or_parked()))
            return
        except MirrorBusy:
            if time.monotonic() > give_up:
                raise
            await asyncio.sleep(WRITER_POLL_S)


def _remove_strays(directory: Path, graphs: frozenset[str]) -> None:
    with suppress(NotFound), mirror_folder.open_root(directory) as root:
        for name in mirror_folder.finish_all(root):
            with root.open(name) as folder:
                is_stray = folder.read(MARKER) is not None and read_marker(folder).of.graph not in graphs
            if is_stray:
                root.remove_tree(name)


async def stream_tar(snapshot: Snapshot) -> AsyncIterator[bytes]:
    """The whole mirror as the blocks of a tar file; one file of it is in memory at a time."""
    folder = snapshot.of.folder
    files: dict[str, FileNote] = {}
    async for rendered in snapshot.render(snapshot.plan.bundles):
        for bundle, content in rendered:
            files[bundle.path] = note_of(snapshot.plan, bundle, content)
            yield _member(f"{folder}/{bundle.path}", content, snapshot.marker.known_at)
    index, marker = snapshot.closing(files)
    beside: Mapping[str, bytes] = {
        f"{folder}/{INDEX}": index, f"{folder}/{MARKER}": marker, MARKER: mirror_folder.ROOT_MARK,
    }  # fmt: skip
    for path, content in beside.items():
        yield _member(path, content, snapshot.marker.known_at)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _member(path: str, content: bytes, at: Instant) -> bytes:
    """The header of a file in a tar, its bytes, and zeros up to the next block."""
    info = tarfile.TarInfo(path)
    info.size, info.mtime, info.mode = len(content), at // 1_000_000, 0o644
    member = io.BytesIO()
    member.write(info.tobuf(tarfile.PAX_FORMAT))
    member.write(content)
    member.write(bytes(-len(content) % tarfile.BLOCKSIZE))
    return member.getvalue()


async def is_in_step(of: MirrorOf, deps: Deps, directory: Path, now: Instant) -> bool:
    """True when nothing was written to the graph since its mirror was, and nothing began or ended."""
    graph = deps.graph(of.graph)
    with mirror_folder.open_root(directory, create=True, write=False) as root:
        if of.folder not in set(root.names()):
            return False
        with root.open(of.folder) as folder:
            marker = read_marker(folder)
    clock = await reader.read_clock(graph, now)
    counts = await _counts(graph)
    return marker.clock == clock and counts == (marker.memories, marker.made_tags) and now < marker.changes_at


MEMORIES_A_READ: Final = 100


class ReadFolder(NamedTuple):
    """What the files of a mirror say. `missing`: the file and version of each memory that stands in none."""

    marker: Marker
    found: Sequence[FoundAtom]
    missing: Mapping[str, WrittenPlace]
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
    found: list[FoundAtom] = []
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
    present = {each.section.atom.id for each in found}
    unread = {refusal.path for refusal in refusals}
    missing: dict[str, WrittenPlace] = {}
    for path, note in marker.files.items():
        if path not in untouched and not any(map(path.startswith, unread)):
            missing |= {
                atom_id: WrittenPlace(path, version) for atom_id, version in note.atoms if atom_id not in present
            }
    return ReadFolder(marker, found, missing, refusals)


def _parse(path: str, text: str) -> Iterator[FoundAtom]:
    parsed = markdown.parse_file(text)
    bucket, tag = map(parsed.front.get, ("bucket", "tag"))
    for section in parsed.sections:
        yield FoundAtom(
            path, section, bucket if isinstance(bucket, str) else None, tag if isinstance(tag, str) else None
        )


async def _decide(read: ReadFolder, deps: Deps, now: Instant) -> Edits:
    of = read.marker.of
    wanted = {each.section.atom.id: each.section.atom.version for each in read.found if not each.section.faults}
    wanted |= {atom_id: written.version for atom_id, written in read.missing.items()}
    wanted.pop(markdown.NEW, None)
    graph = deps.graph(of.graph)
    if wanted and not await deps.graphs.for_reading(graph.name):
        raise NotFound(f"nothing was remembered for {of.name} yet", remedy="Its mirror outlived it.")
    known = await _read_known(graph, wanted, now) if wanted else {}
    owner = markdown.Owner(of.fields, read.marker.known_at)
    edits, refusals = markdown.decide(owner, read.found, read.missing, known)
    return Edits(edits, (*read.refusals, *refusals))


async def _read_known(graph: Graph, wanted: Mapping[str, int | None], now: Instant) -> dict[str, StoredMemory]:
    """Each memory as it was in the version that was written, and the version that it has now."""
    present: dict[str, Atom] = {}
    for ids in batched(wanted, MEMORIES_A_READ):
        found = await store.read_records(graph, ids, Scope.current(now))
        present |= {atom.id: atom for atom in map(markdown.atom_of, map(rows.record, found))}
    known: dict[str, StoredMemory] = {}
    for atom_id, version in wanted.items():
        atom = present.get(atom_id)
        base = atom
        if atom is None or atom.version != version:
            records = map(rows.record, await reader.history(graph, atom_id))
            base = next((markdown.atom_of(record) for record in records if record.version == version), None)
        known[atom_id] = StoredMemory(base, None if atom is None else atom.version)
    return known


async def apply_edits(edits: Sequence[Edit], deps: Deps, now: Instant) -> list[WriteReceipt]:
    """Apply the commands of the edits, in order; one receipt for each. Applied again they change nothing."""
    return await insertion.apply([edit.command for edit in edits], deps, now)
