"""Files notes and rows of tables: what is new or changed of them is stored, and a note that is gone ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from orchestration.ingestion import places
from orchestration.ingestion.arrangement import ahead_note, not_ahead
from orchestration.ingestion.formats.command_files import CommandFile
from orchestration.ingestion.formats.notebook import Document, Notebook
from orchestration.ingestion.note_changes import (
    Planner,
    Shelf,
    StoredDocument,
    changed_fields,
    folder_of_content,
    is_gone,
    is_same_folder,
    match_documents,
)
from orchestration.ingestion.storing import Job, Origin, Tally, store
from schemas.commands import ChangeCommand, Command, Correct, Remember, Supersede
from schemas.memory import Source
from schemas.temporal import Instant, to_datetime
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import notes
from substrate.store.notes import NoteRow


async def file_notebook(notebook: Notebook, job: Job, tally: Tally) -> tuple[str, ...]:
    """Store what is new or changed of the notes, and return what is to be said of it.

    Raises what `pipeline.ingest` raises; the same call then stores the rest.
    """
    graph = job.deps.graph(graph_name(notebook.graph, notebook.citizen_id))
    # Two that send one folder at once would each plan it as new, one of them beside half of the other's.
    async with job.deps.conversations.turn(graph.name, notebook.id):
        shelf = Shelf([], {}, {})
        if await job.deps.graphs.for_reading(graph.name):
            stored = await notes.read_notes(graph)
            shelf = Shelf.of(stored, await notes.read_note_links(graph, [row.id for row in stored]), job.now)
        settled = await _settle(notebook, shelf, job.origin, graph if shelf.documents else None)
        plan = Planner(settled.notebook, settled.matched, shelf, now=job.now)
        plan.plan(is_whole=settled.is_whole, unread=job.origin.unread if job.origin else frozenset())
        for command in plan.unchanged:
            tally.count_command(command)
            tally.counts["duplicates"] += 1
        job.advance(len(plan.unchanged))
        own = CommandFile(settled.notebook.id, notebook.citizen_id, tuple(plan.new), graph=notebook.graph)
        if plan.new:
            await store(replace(own, command_id=settled.notebook.command_id), job, tally)
        if plan.changes or plan.links:
            await store(replace(own, entries=(*plan.changes, *plan.links)), job, tally)
        if job.origin is not None and settled.is_own:
            await places.note_place(job.origin.path, job.origin, settled.notebook.id, graph=graph, now=job.now)
    dates = [document.date for document in notebook.documents]
    return (*settled.notes, *plan.told.notes(), *ahead_note(dates, "note", job.now))


async def file_rows(table: CommandFile, job: Job, tally: Tally) -> tuple[str, ...]:
    """Store what is new or changed of the rows of a table, and return what is to be said of it.

    Raises what `pipeline.ingest` raises; the same call then stores the rest.
    """
    graph = job.deps.graph(graph_name(table.graph, table.citizen_id))
    rows = [command for command in table.entries if isinstance(command, Remember)]
    exists = await job.deps.graphs.for_reading(graph.name)
    stored = await notes.read_rows(graph, [row.id or "" for row in rows]) if exists else {}
    filed = [_file_row(row, stored.get(row.id or ""), job.now) for row in rows]
    known = stored.keys() - {one.id for one in filed if isinstance(one, ChangeCommand)}
    await store(replace(table, entries=tuple(filed), known=frozenset(known)), job, tally)
    return ahead_note([row.valid_at for row in rows if row.id not in stored], "row", job.now)


def _file_row(command: Remember, stored: NoteRow | None, now: Instant) -> Command:
    """The command of a row, or the change of its memory when that is stored with another text.

    A row that is dated ahead is a plan, which holds from now on.
    """
    is_plan = command.valid_at is not None and not_ahead(command.valid_at, now) is None
    if stored is None:
        return command.model_copy(update={"valid_at": None}) if is_plan else command
    changed = changed_fields(command, stored)
    if not changed or is_gone(stored, now) or stored.source != Source.INGESTION:
        return command
    named = {"citizen_id": command.citizen_id, "id": stored.id, "source": Source.INGESTION}
    if stored.valid_at > now:
        return Correct(**named, **changed, valid_at=to_datetime(now))
    return Supersede(**named, **changed)


class _MatchedNotebook(NamedTuple):
    """A notebook under the id of the stored folder that it is, and the stored note of each of its notes.

    `is_whole`: its notes are all that the folder holds. `is_own`: the folder itself was ingested before or is new,
    and not only one above it.
    """

    notebook: Notebook
    matched: dict[str, StoredDocument]
    is_whole: bool
    is_own: bool = True
    notes: tuple[str, ...] = ()


async def _settle(
    notebook: Notebook, shelf: Shelf, origin: Origin | None, graph: Graph | None
) -> _MatchedNotebook:
    """Find the stored folder that a folder is: by its place, by the place of one above it, else by content."""
    if origin is not None and graph is not None:
        above: list[PurePath] = []
        for path in (origin.path, *origin.path.parents):  # a folder above takes in none that is hidden
            if not any(part.startswith(".") for part in origin.path.relative_to(path).parts):
                above.append(path)
        known = await places.known_at(above, origin, graph, given=notebook.id)
        if known:
            path = max(known, key=lambda path: known[path].since)
            if path == origin.path:
                return _settled_as(replace(notebook, id=known[path].id), shelf)
            inside = origin.path.relative_to(path)
            folder = inside if origin.is_folder else inside.parent
            moved = _below(replace(notebook, id=known[path].id), folder)
            matched = match_documents(moved.documents, moved.id, shelf, whole=False)
            return _MatchedNotebook(moved, matched, is_whole=False, is_own=False)
    return _by_content(notebook, shelf, origin)


def _below(notebook: Notebook, folder: PurePath) -> Notebook:
    if not folder.parts:
        return notebook
    prefix = folder.as_posix()
    documents: list[Document] = []
    for one in notebook.documents:
        mentions = tuple(f"{prefix}/{path}" for path in one.mentions)
        documents.append(replace(one, path=f"{prefix}/{one.path}", mentions=mentions))
    return replace(notebook, documents=tuple(documents))


def _by_content(notebook: Notebook, shelf: Shelf, origin: Origin | None) -> _MatchedNotebook:
    stored = [one for one in shelf.of_folder(notebook.id) if not one.gone]
    settled = _settled_as(notebook, shelf)
    if stored and is_same_folder(notebook.documents, settled.matched, len(stored)):
        met = {found.row.id for found in settled.matched.values()}
        return settled._replace(is_whole=2 * sum(one.row.id in met for one in stored) >= len(stored))
    former = folder_of_content(notebook.documents, shelf)
    if former is not None:
        note = f"the folder {notebook.id} is the stored folder {former}, from another place"
        return _settled_as(replace(notebook, id=former), shelf)._replace(notes=(note,))
    if not stored or origin is None:
        return settled._replace(is_whole=not stored)
    other = places.apart(notebook.id, origin, origin.path)
    note = f"other notes are stored under the name {notebook.id}: these are {other}"
    return _settled_as(replace(notebook, id=other), shelf)._replace(notes=(note,))


def _settled_as(notebook: Notebook, shelf: Shelf) -> _MatchedNotebook:
    return _MatchedNotebook(notebook, match_documents(notebook.documents, notebook.id, shelf), is_whole=True)
