"""What a folder of notes changes of what is stored of it, as commands. Pure.

The stored notes that the notes of a folder are, are found by their place, else by their content. The place of a
note is its folder and its path in it. A note that was stored at this place has it in its id; one that was moved
has it in `extra`, under `folder` and `path`.

An edited part is superseded from the moment at which its file was changed; one that is not there any more is
retracted; a moved note keeps its memories and gets its new place. What did not change is not written again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from orchestration.identifiers import identifier, natural_id
from orchestration.ingestion.arrangement import not_ahead
from orchestration.ingestion.formats.notebook import (
    Document,
    Notebook,
    Part,
    Section,
    content_of,
    natural_note_id,
)
from schemas.commands import Command, Correct, Relate, Remember, Retract, Supersede, Unrelate
from schemas.memory import Source
from schemas.temporal import END_OF_TIME, Instant, to_datetime, to_instant
from substrate.store.notes import NoteLink, NoteRow

_COMPARED: Final = ("name", "description", "tags", "buckets", "aliases", "resolution_state")
_EDITED: Final = frozenset(("name", "description", "tags", "resolution_state"))
_TOLD_AT_ONCE: Final = 20
"""At most this many notes of a folder are named for each kind of change; the rest is counted."""
ALIKE: Final = 0.5
"""A note at a new place whose lines are those of a stored one to this share was moved and edited."""
RELATED: Final = 0.25
"""A note at the place of a stored one is that one if they share this many lines, when nothing else tells."""
FEWEST_WORDS: Final = 5
"""A shorter note is not recognised in another folder: two people write "to do" and mean different things."""
_CUT: Final = re.compile(r"~[0-9a-f]{20}\Z")
"""The end of an id whose text was too long or not fit for an id."""


class NotePlace(NamedTuple):
    """The folder of a note and its path there."""

    folder: str
    path: str


@dataclass(slots=True)
class StoredDocument:
    """A stored note with its sections, in the order of their ids.

    `gone`: it holds no longer; its `sections` are those that ended with it. `former`: sections that ended before.
    """

    row: NoteRow
    gone: bool
    place: NotePlace | None
    sections: list[NoteRow] = field(default_factory=list)
    former: list[NoteRow] = field(default_factory=list)

    @property
    def content(self) -> tuple[str, ...]:
        """As `Document.content`."""
        return content_of(self.row.text, ((row.name, row.text) for row in self.sections))


@dataclass(slots=True)
class Shelf:
    """All stored notes of a citizen.

    `links`: by id, the links that ingestions made between them and that hold now. `ended`: ids of those that
    hold no longer.
    """

    documents: list[StoredDocument]
    rows: Mapping[str, NoteRow]
    links: Mapping[str, NoteLink]
    ended: frozenset[str] = frozenset()

    @classmethod
    def of(cls, rows: Sequence[NoteRow], links: Sequence[NoteLink], now: Instant) -> Shelf:
        owners = {link.source_id: link.target_id for link in links if link.relation_type == "PART_OF"}
        documents = {
            row.id: StoredDocument(row, is_gone(row, now), _place(row))
            for row in rows
            if row.node_type == "Document"
        }
        for row in sorted(rows, key=lambda row: row.id):
            owner = documents.get(owners.get(row.id, ""))
            if row.node_type == "Note" and owner is not None:
                together = row.invalid_at == owner.row.invalid_at if owner.gone else not is_gone(row, now)
                (owner.sections if together else owner.former).append(row)
        held = {link.id: link for link in links if link.invalid_at > now}
        ended = frozenset(link.id for link in links) - held.keys()
        return cls(list(documents.values()), {row.id: row for row in rows}, held, ended)

    def of_folder(self, folder: str) -> list[StoredDocument]:
        """The notes of a folder, those that hold first."""
        episode = identifier(folder)
        own = (
            one
            for one in self.documents
            if (one.place.folder == folder if one.place is not None else one.row.episode_id == episode)
        )
        return sorted(own, key=lambda one: one.gone)


def is_gone(row: NoteRow, now: Instant) -> bool:
    return row.expired_at != END_OF_TIME or row.invalid_at <= now


def _place(row: NoteRow) -> NotePlace | None:
    """Where a note lies; None when only its id could tell and that was cut."""
    folder, path = row.extra.get("folder"), row.extra.get("path")
    if isinstance(folder, str) and isinstance(path, str):
        return NotePlace(folder, path)
    prefix = f"{row.episode_id}:"
    if not row.id.startswith(prefix) or _CUT.search(row.id) or _CUT.search(row.episode_id):
        return None
    return NotePlace(row.episode_id, row.id.removeprefix(prefix))


def match_documents(
    documents: Sequence[Document], folder: str, shelf: Shelf, *, whole: bool = True
) -> dict[str, StoredDocument]:
    """The stored note that each note is, by path; new notes are left out.

    `whole`: the notes are all that the folder holds, so that a stored one without its file may have been moved.
    """
    return _Matcher(documents, folder, shelf).match(whole=whole)


class _Matcher:
    """Matches the notes of a folder with stored ones; each stored note is taken once."""

    def __init__(self, documents: Sequence[Document], folder: str, shelf: Shelf) -> None:
        self.documents = documents
        self.contents = {document.path: document.content for document in documents}
        self.folder = folder
        self.own = shelf.of_folder(folder)
        own_ids = {one.row.id for one in self.own}
        self.others = sorted(
            (one for one in shelf.documents if one.row.id not in own_ids), key=lambda one: one.gone
        )
        self.found: dict[str, StoredDocument] = {}
        self.taken: set[str] = set()

    def match(self, *, whole: bool) -> dict[str, StoredDocument]:
        at_place = self._by_place()
        for path, stored in at_place.items():
            if not stored.gone and stored.content == self.contents[path]:
                self._take(path, stored)
        self._take_alike_content(self.own, fewest_words=1)
        for path, stored in at_place.items():
            if path not in self.found and stored.row.id not in self.taken:
                self._take(path, stored)
        if whole:
            self._take_similar()
        self._take_alike_content(self.others, fewest_words=FEWEST_WORDS)
        return self.found

    def _by_place(self) -> dict[str, StoredDocument]:
        by_path: dict[str, StoredDocument] = {}
        by_id = {one.row.id: one for one in self.own if one.place is None}
        for one in self.own:
            if one.place is not None:
                by_path.setdefault(one.place.path, one)
        at_place: dict[str, StoredDocument] = {}
        for document in self.documents:
            natural = by_id.get(natural_note_id(self.folder, document.path))
            stored = by_path.get(document.path, natural)
            if stored is not None:
                at_place[document.path] = stored
        return at_place

    def _take(self, path: str, stored: StoredDocument) -> None:
        self.found[path] = stored
        self.taken.add(stored.row.id)

    def _take_alike_content(self, candidates: Iterable[StoredDocument], fewest_words: int) -> None:
        """Take stored notes with the very content; first those whose own place has no file any more."""
        by_content: dict[tuple[str, ...], list[StoredDocument]] = {}
        for one in candidates:
            by_content.setdefault(one.content, []).append(one)
        for document in self.documents:
            if document.path in self.found or _count_words(document) < fewest_words:
                continue
            alike = [one for one in by_content.get(document.content, ()) if one.row.id not in self.taken]
            if alike:
                self._take(document.path, min(alike, key=lambda one: (one.gone, _path(one) in self.contents)))

    def _take_similar(self) -> None:
        """Take stored notes without a file that are like new ones, the most alike first."""
        here = [one for one in self.own if not one.gone and one.row.id not in self.taken]
        lost_lines = [(one, _lines(one.content)) for one in here if _path(one) not in self.contents]
        new = [document for document in self.documents if document.path not in self.found]
        pairs: list[tuple[float, str, StoredDocument]] = []
        for document in new if lost_lines else ():
            lines = _lines(document.content)
            shares = ((_shared(lines, theirs), document.path, one) for one, theirs in lost_lines)
            pairs += [pair for pair in shares if pair[0] >= ALIKE]
        for _, path, one in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2].row.id)):
            if path not in self.found and one.row.id not in self.taken:
                self._take(path, one)


def _path(stored: StoredDocument) -> str | None:
    return None if stored.place is None else stored.place.path


def _count_words(document: Document) -> int:
    return sum(len(text.split()) for text in document.content)


def _lines(content: Iterable[str]) -> Counter[str]:
    lines = "\n".join(content).split("\n")
    return Counter(line.strip() for line in lines if line.strip())


def _shared(one: Counter[str], other: Counter[str]) -> float:
    """The share of lines that two notes have in common, in [0, 1] (Jaccard, of multisets)."""
    union = (one | other).total()
    return (one & other).total() / union if union else 0.0


def is_same_folder(documents: Sequence[Document], matched: Mapping[str, StoredDocument], stored: int) -> bool:
    """True when a folder is the stored one with `stored` notes, as its content tells: half of it is alike."""
    alike = 0
    for document in documents:
        one = matched.get(document.path)
        if one is not None:
            ours, theirs = document.content, one.content
            alike += ours == theirs or _shared(_lines(theirs), _lines(ours)) >= RELATED
    return alike > 0 and 2 * alike >= min(len(documents), stored)


def folder_of_content(documents: Sequence[Document], shelf: Shelf) -> str | None:
    """The stored folder that these notes were before it was moved or renamed; None when there is none.

    Half of the notes must be there with the very content, and be half of what that folder holds.
    """
    folders: dict[tuple[str, ...], list[str]] = {}
    sizes: Counter[str] = Counter()
    for one in shelf.documents:
        if one.place is not None and not one.gone:
            sizes[one.place.folder] += 1
            folders.setdefault(one.content, []).append(one.place.folder)
    telling = [document for document in documents if _count_words(document) >= FEWEST_WORDS]
    counts = Counter(folder for document in telling for folder in set(folders.get(document.content, ())))
    folder, count = max(counts.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
    return folder if count and 2 * count >= len(documents) and 2 * count >= sizes[folder] else None


def match_sections(document: Document, stored: StoredDocument) -> dict[str, NoteRow]:
    """The stored section that each section of a note is, by key; new ones are left out.

    In turn: the same heading and text, the same text under another heading, the same heading; sections that
    ended before come last.
    """
    tests: tuple[Callable[[Section, NoteRow], bool], ...] = (
        lambda section, row: (section.heading, section.text) == (row.name, row.text),
        lambda section, row: section.text == row.text != "",
        lambda section, row: section.heading == row.name,
    )
    found: dict[str, NoteRow] = {}
    for rows in (stored.sections, stored.former):
        free = {row.id: row for row in rows}
        for test in tests:
            for section in document.sections:
                row = next((row for row in free.values() if test(section, row)), None)
                if section.key not in found and row is not None:
                    found[section.key] = free.pop(row.id)
    return found


def free_ids(wanted: Iterable[str], taken: Iterable[str]) -> Iterator[str]:
    """For each wanted id this id, or one like it when that is taken."""
    used = set(taken)
    for name in wanted:
        free, number = name, 2
        while free in used:
            free, number = identifier(f"{name}~{number}"), number + 1
        used.add(free)
        yield free


class Planner:
    """Decides what becomes of each part of the notes of a folder and of what is stored. `matched`: by path.

    A note that is dated ahead of the clock holds from now on. `new`: commands of what is there for the first time;
    `changes` of what is stored; `links`: new ones of stored notes, which may have been stored and ended before;
    `unchanged`: what is there already.
    """

    def __init__(
        self, notebook: Notebook, matched: Mapping[str, StoredDocument], shelf: Shelf, *, now: Instant
    ) -> None:
        self.matched = matched
        self.shelf = shelf
        self.now = now
        documents = tuple(replace(one, date=not_ahead(one.date, now)) for one in notebook.documents)
        self.notebook = replace(notebook, documents=documents, ids=dict(self._ids(notebook)))
        self.new: list[Command] = []
        self.changes: list[Command] = []
        self.links: list[Command] = []
        self.unchanged: list[Command] = []
        self.told = Telling()

    def plan(self, *, is_whole: bool, unread: Collection[str]) -> None:
        """Decide. `is_whole`: the notes are all of the folder. `unread`: files that are there beside them."""
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
        removed |= self._remove_documents(is_whole, unread)
        self.changes += self._ended_links(wanted, removed)
        for path, stored in self.matched.items():
            place = stored.place
            if place is not None and place != (self.notebook.id, path):
                former = place.path if place.folder == self.notebook.id else f"{place.folder}/{place.path}"
                self.told.moved.append(f"{former} is now {path}")

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

    def _remove_documents(self, is_whole: bool, unread: Collection[str]) -> set[str]:
        removed: set[str] = set()
        met = {stored.row.id for stored in self.matched.values()}
        own = (one for one in self.shelf.of_folder(self.notebook.id) if not one.gone and one.row.id not in met)
        for stored in own:
            path = stored.row.name if stored.place is None else stored.place.path
            if any(path == left_out or path.startswith(f"{left_out}/") for left_out in unread):
                continue
            if not is_whole:
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
                self.changes.append(Retract(**self._ending(row), reason="reality_changed"))
        return ended

    def _ending(self, record: NoteRow | NoteLink) -> dict[str, Any]:
        named = {"citizen_id": self.notebook.citizen_id, "id": record.id, "source": Source.INGESTION}
        return {**named, **({"effective_at": to_datetime(self.now)} if record.valid_at < self.now else {})}

    def _ended_links(self, wanted: Collection[str], removed: Collection[str]) -> Iterator[Command]:
        """Links between parts of these notes that the notes do not have any more."""
        here = {stored.row.id for stored in self.matched.values()}
        here |= {row.id for stored in self.matched.values() for row in stored.sections}
        for link in self.shelf.links.values():
            ends = {link.source_id, link.target_id}
            if link.id not in wanted and ends <= here and not ends & set(removed):
                yield Unrelate(**self._ending(link), reason="reality_changed")


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
