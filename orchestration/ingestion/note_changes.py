"""What a folder of notes changes of what is stored of it, as commands. Pure.

An edited part is superseded from the moment at which its file was changed; one that is not there any more is
retracted; a moved note keeps its memories and gets its new place. What did not change is not written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from orchestration.identifiers import natural_id
from orchestration.ingestion.arrangement import not_ahead
from orchestration.ingestion.formats.notebook import Document, Notebook, Part, natural_note_id
from orchestration.ingestion.note_matching import Shelf, StoredDocument, free_ids, is_gone, match_sections
from schemas.commands import Command, Correct, Relate, Remember, Retract, Supersede, Unrelate
from schemas.memory import Source
from schemas.temporal import Instant, to_datetime, to_instant
from substrate.store.notes import NoteRow

_COMPARED: Final = ("name", "description", "tags", "buckets", "aliases", "resolution_state")
_EDITED: Final = frozenset(("name", "description", "tags", "resolution_state"))
_TOLD_AT_ONCE: Final = 20
"""So many notes of a folder are named for each kind of change; the rest is counted."""


@dataclass(frozen=True, slots=True)
class NotebookPlan:
    """The commands of a notebook: what it holds for the first time, what it changes, and what is there already.

    `links`: new links of notes that are stored; they may have been stored and ended before.
    """

    new: tuple[Command, ...]
    changes: tuple[Command, ...]
    links: tuple[Command, ...]
    unchanged: tuple[Command, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keeping:
    """Which stored notes of the folder stay although they are not among the notes.

    `everything`: the notes are only some of the folder. `paths`: files that are there and could not be read.
    """

    everything: bool = False
    paths: Collection[str] = ()


def plan_notebook(
    notebook: Notebook, matched: Mapping[str, StoredDocument], shelf: Shelf, *, now: Instant, kept: Keeping
) -> NotebookPlan:
    """Decide what becomes of each part of the notes and of what is stored. `matched`: stored notes by path.

    A note that is dated ahead of the clock holds from now on.
    """
    documents = tuple(replace(one, date=not_ahead(one.date, now)) for one in notebook.documents)
    return _Planner(replace(notebook, documents=documents), matched, shelf, now=now).plan(kept)


class _Planner:
    """Compares the notes of a folder with what is stored of them."""

    def __init__(
        self, notebook: Notebook, matched: Mapping[str, StoredDocument], shelf: Shelf, *, now: Instant
    ) -> None:
        self.matched = matched
        self.shelf = shelf
        self.now = now
        self.notebook = replace(notebook, ids=dict(self._ids(notebook)))
        self.new: list[Command] = []
        self.changes: list[Command] = []
        self.links: list[Command] = []
        self.unchanged: list[Command] = []
        self.told = Telling()

    def plan(self, kept: Keeping) -> NotebookPlan:
        wanted: set[str] = set()
        for part in self.notebook.parts():
            if isinstance(part.command, Remember):
                wanted.add(part.command.id or "")
                self._memory(part)
            else:
                link_id = natural_id(part.command.source_id, part.command.relation_type, part.command.target_id)
                wanted.add(link_id)
                self._link(part, link_id)
        removed = self._remove_sections(wanted)
        removed |= self._remove_documents(kept)
        self.changes += self._ended_links(wanted, removed)
        for path, stored in self.matched.items():
            place = stored.place
            if place is not None and place != (self.notebook.id, path):
                former = place.path if place.folder == self.notebook.id else f"{place.folder}/{place.path}"
                self.told.moved.append(f"{former} is now {path}")
        return NotebookPlan(
            tuple(self.new), tuple(self.changes), tuple(self.links), tuple(self.unchanged), self.told.notes()
        )

    def _ids(self, notebook: Notebook) -> Iterator[tuple[str, str]]:
        """The id of each memory by the id that its place gives it, where the two differ."""
        wanted: list[str] = []
        for document in notebook.documents:
            stored = self.matched.get(document.path)
            found = {} if stored is None else match_sections(document, stored)
            own = natural_note_id(notebook.id, document.path)
            if stored is not None:
                yield own, stored.row.id
            else:
                wanted.append(own)
            for section in document.sections:
                natural = natural_note_id(notebook.id, document.path, section.key)
                if section.key in found:
                    yield natural, found[section.key].id
                else:
                    wanted.append(natural)
        yield from zip(wanted, free_ids(wanted, self.shelf.rows), strict=True)

    def _memory(self, part: Part) -> None:
        command = self._placed(part)
        row = self.shelf.rows.get(command.id or "")
        stored = self.matched.get(part.document.path)
        if row is None:
            self.new.append(command if stored is None else self._since(command, part.document, stored))
            if stored is not None:
                self.told.count(part.document.path, "new")
        elif is_gone(row, self.now):
            started = {"valid_at": to_datetime(self.now), "restate": True}
            self.changes.append(command.model_copy(update={**started, "command_id": None}))
            self.told.count(part.document.path, "back")
        else:
            self._compare(command, row, part.document)

    def _placed(self, part: Part) -> Remember:
        """The command of a memory; that of a note whose id does not tell its place says it in `extra`."""
        command = part.command
        assert isinstance(command, Remember)
        if command.node_type != "Document":
            return command
        row = self.shelf.rows.get(command.id or "")
        extra = {} if row is None else {k: v for k, v in row.extra.items() if k not in ("folder", "path")}
        if command.id != natural_note_id(self.notebook.id, part.document.path):
            extra |= {"folder": self.notebook.id, "path": part.document.path}
        return command.model_copy(update={"extra": extra}) if extra else command

    def _since(self, command: Any, document: Document, stored: StoredDocument) -> Any:
        """A new part of a stored note: it begins when the file was changed, as far as that is known."""
        begun = document.modified
        if begun is not None and stored.row.valid_at <= to_instant(begun) <= self.now:
            return command.model_copy(update={"valid_at": begun})
        if not stored.sections and stored.row.text == document.text:
            return command  # the storing of the note was interrupted
        return command.model_copy(update={"valid_at": None}).assuming("valid_at")

    def _compare(self, command: Remember, row: NoteRow, document: Document) -> None:
        changed = changed_fields(command, row)
        date = self._corrected_date(row, document)
        if not changed and date is None:
            self.unchanged.append(command)
        elif row.source != Source.INGESTION:
            self.unchanged.append(command)
            if changed:
                self.told.by_hand.append(row.id)
        else:
            self.changes += self._revisions(row, changed, date=date, document=document)
            self.told.count(document.path, "edited" if _EDITED & set(changed) else "moved")

    def _corrected_date(self, row: NoteRow, document: Document) -> datetime | None:
        """The date that the note names now, when its memories still have the one from before, or one to come."""
        if row.valid_at > self.now:
            return to_datetime(self.now)
        stored = self.matched.get(document.path)
        if stored is None or document.date is None or not document.dated or row.version != 1:
            return None
        is_first = row.valid_at == stored.row.valid_at != to_instant(document.date)
        return document.date if is_first and stored.row.version == 1 else None

    def _revisions(
        self, row: NoteRow, changed: Mapping[str, Any], *, date: datetime | None, document: Document
    ) -> Iterator[Command]:
        named: dict[str, Any] = {"citizen_id": self.notebook.citizen_id, "id": row.id, "source": Source.INGESTION}
        start = row.valid_at if date is None else to_instant(date)
        if start >= self.now:
            yield Correct(**named, **changed, **({} if date is None else {"valid_at": date}))
            return
        if date is not None:
            yield Correct(**named, valid_at=date)
        if changed:
            begun = document.modified if {"description", "resolution_state"} & set(changed) else None
            known = begun is not None and start < to_instant(begun) <= self.now
            yield Supersede(**named, **changed, **({"effective_at": begun} if known else {}))

    def _link(self, part: Part, link_id: str) -> None:
        command = part.command
        assert isinstance(command, Relate)
        stored = self.matched.get(part.document.path)
        if link_id in self.shelf.links:
            self.unchanged.append(command)
        elif stored is None:
            self.new.append(command)
        else:
            begun = command if link_id in self.shelf.ended else self._since(command, part.document, stored)
            again = {"valid_at": to_datetime(self.now)} if link_id in self.shelf.ended else {}
            self.links.append(begun.model_copy(update={**again, "command_id": None}))

    def _remove_sections(self, wanted: Collection[str]) -> set[str]:
        removed: set[str] = set()
        for path, stored in self.matched.items():
            rows = () if stored.gone else stored.sections
            ended = [row for row in rows if row.id not in wanted]
            removed |= self._retract(ended)
            self.told.count(path, "closed", len(ended))
        return removed

    def _remove_documents(self, kept: Keeping) -> set[str]:
        removed: set[str] = set()
        met = {stored.row.id for stored in self.matched.values()}
        own = (one for one in self.shelf.of_folder(self.notebook.id) if not one.gone and one.row.id not in met)
        for stored in own:
            path = stored.row.name if stored.place is None else stored.place.path
            if any(path == left_out or path.startswith(f"{left_out}/") for left_out in kept.paths):
                continue
            if kept.everything:
                self.told.missing.append(path)
                continue
            removed |= self._retract([stored.row, *stored.sections])
            self.told.closed.append(path)
        return removed

    def _retract(self, rows: Sequence[NoteRow]) -> set[str]:
        ended = {row.id for row in rows if row.source == Source.INGESTION}
        self.told.by_hand += [row.id for row in rows if row.id not in ended]
        for row in rows:
            if row.id in ended:
                at = {"effective_at": to_datetime(self.now)} if row.valid_at < self.now else {}
                named = {"citizen_id": self.notebook.citizen_id, "id": row.id, "source": Source.INGESTION}
                self.changes.append(Retract(**named, **at, reason="reality_changed"))
        return ended

    def _ended_links(self, wanted: Collection[str], removed: Collection[str]) -> Iterator[Command]:
        """Links between parts of these notes that the notes do not have any more."""
        here = {stored.row.id for stored in self.matched.values()}
        here |= {row.id for stored in self.matched.values() for row in stored.sections}
        for link in self.shelf.links.values():
            ends = {link.source_id, link.target_id}
            if link.id not in wanted and ends <= here and not ends & set(removed):
                named = {"citizen_id": self.notebook.citizen_id, "id": link.id, "source": Source.INGESTION}
                at = {"effective_at": to_datetime(self.now)} if link.valid_at < self.now else {}
                yield Unrelate(**named, **at, reason="reality_changed")


def changed_fields(command: Remember, row: NoteRow) -> dict[str, Any]:
    """The fields of a stored note or row that the command has otherwise. Tags that were generated stay."""
    stored = {name: row.text if name == "description" else getattr(row, name) for name in _COMPARED}
    wanted = {name: getattr(command, name) for name in _COMPARED}
    if "tags" in row.unset and not wanted["tags"]:
        wanted["tags"] = stored["tags"]
    if wanted["resolution_state"] is None:
        wanted["resolution_state"] = stored["resolution_state"]
    changed = {name: value for name, value in wanted.items() if value != stored[name]}
    return {**changed, **({"extra": command.extra} if command.extra != row.extra else {})}


class Telling:
    """What is said of the changes of a folder."""

    def __init__(self) -> None:
        self.parts: dict[str, Counter[str]] = {}
        self.moved: list[str] = []
        self.closed: list[str] = []
        self.missing: list[str] = []
        self.by_hand: list[str] = []

    def count(self, path: str, kind: str, number: int = 1) -> None:
        if number:
            self.parts.setdefault(path, Counter())[kind] += number

    def notes(self) -> tuple[str, ...]:
        told = [*_at_most(self.moved), *_at_most(list(self._changed()))]
        told += _at_most([f"{path} is not in the folder any more: its memories end now" for path in self.closed])
        if self.missing:
            names = ", ".join(self.missing[:3])
            more = f"{names}, {len(self.missing):,} in all"
            told.append(f"stored notes of this folder are not among these files ({more}); they stay")
        told += _at_most([f"{name} was changed by hand: its file does not change it" for name in self.by_hand])
        return tuple(told)

    def _changed(self) -> Iterator[str]:
        for path, counts in self.parts.items():
            words = {"edited": "superseded", "new": "new", "back": "back", "closed": "ended"}
            said = [f"{counts[kind]:,} {word}" for kind, word in words.items() if counts[kind]]
            if said:
                yield f"{path} changed: {', '.join(said)}"


def _at_most(lines: Sequence[str]) -> list[str]:
    more = len(lines) - _TOLD_AT_ONCE
    return [*lines[:_TOLD_AT_ONCE], *([f"and {more:,} more notes like these"] if more > 0 else [])]
