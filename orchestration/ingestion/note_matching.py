"""Finds the stored notes that the notes of a folder are: by their place, else by their content. Pure.

The place of a note is its folder and its path in it. A note that was stored at this place has it in its id; one
that was moved has it in `extra`, under `folder` and `path`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from orchestration.identifiers import identifier
from orchestration.ingestion.formats.notebook import Document, Section, content_of, natural_note_id
from schemas.temporal import END_OF_TIME, Instant
from substrate.store.notes import NoteLink, NoteRow

ALIKE: Final = 0.5
"""A note at a new place whose lines are those of a stored one to this share was moved and edited."""
RELATED: Final = 0.25
"""A note at the place of a stored one is that one if they share so many lines, when nothing else tells."""
FEWEST_WORDS: Final = 5
"""A shorter note is not recognised in another folder: two people write "to do" and mean different things."""
_CUT: Final = re.compile(r"~[0-9a-f]{20}\Z")
"""The end of an id whose text was too long or not fit for an id."""


class Place(NamedTuple):
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
    place: Place | None
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


def _place(row: NoteRow) -> Place | None:
    """Where a note lies; None when only its id could tell and that was cut."""
    folder, path = row.extra.get("folder"), row.extra.get("path")
    if isinstance(folder, str) and isinstance(path, str):
        return Place(folder, path)
    prefix = f"{row.episode_id}:"
    if not row.id.startswith(prefix) or _CUT.search(row.id) or _CUT.search(row.episode_id):
        return None
    return Place(row.episode_id, row.id.removeprefix(prefix))


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
    alike = sum(
        one.content == document.content or _shared(_lines(one.content), _lines(document.content)) >= RELATED
        for document in documents
        if (one := matched.get(document.path)) is not None
    )
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
