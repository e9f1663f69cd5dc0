"""Which stored note each note of a folder is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.formats.notebook import Document, Section
from orchestration.ingestion.note_changes import (
    Shelf,
    folder_of_content,
    match_documents,
    match_sections,
)
from schemas.temporal import END_OF_TIME
from substrate.store.notes import NoteLink, NoteRow

NOW = 1_000
LONG = "the crane lifts ten tons of grain each day"
WORDS = st.lists(st.sampled_from(["red hull", "two sails", "one oar", "no wind"]), max_size=4)


def row(
    memory_id: str, text: str, *, name: str = "a", kind: str = "Document", until: int = END_OF_TIME, **extra: str
) -> NoteRow:
    episode = memory_id.partition(":")[0]
    return NoteRow(
        memory_id, kind, name, text, (), (), (), 1, until, END_OF_TIME, 1, "ingestion", episode, dict(extra), ()
    )  # fmt: skip


def note(path: str, text: str, *sections: tuple[str, str]) -> Document:
    parts = tuple(Section(f"{heading}{n}", heading, said) for n, (heading, said) in enumerate(sections))
    return Document(path, path, text, None, parts)


def shelf(*rows: NoteRow) -> Shelf:
    """The rows; a section belongs to the note before the `#` of its id."""
    links = [
        NoteLink(f"{one.id}|PART_OF", one.id, "PART_OF", one.id.partition("#")[0], 1, END_OF_TIME)
        for one in rows
        if one.node_type == "Note"
    ]
    return Shelf.of(rows, links, NOW)


def matches(documents: list[Document], stored: Shelf, *, whole: bool = True) -> dict[str, str]:
    found = match_documents(documents, "n", stored, whole=whole)
    return {path: one.row.id for path, one in found.items()}


@given(st.dictionaries(st.sampled_from("abcdef"), WORDS), st.dictionaries(st.sampled_from("abcdef"), WORDS))
def test_each_stored_note_is_taken_once(held: dict[str, list[str]], new: dict[str, list[str]]) -> None:
    stored = shelf(*(row(f"n:{name}.md", "\n".join(lines)) for name, lines in held.items()))
    found = matches([note(f"{name}.md", "\n".join(lines)) for name, lines in new.items()], stored)
    assert len(set(found.values())) == len(found)


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("xyz")), max_size=5))
def test_unchanged_sections_are_all_found_wherever_they_stand(sections: list[tuple[str, str]]) -> None:
    rows = [
        row(f"n:a.md#{n}", text, name=heading, kind="Note") for n, (heading, text) in enumerate(reversed(sections))
    ]
    (stored,) = shelf(row("n:a.md", ""), *rows).documents
    document = note("a.md", "", *sections)
    found = match_sections(document, stored)
    assert len(found) == len({one.id for one in found.values()}) == len(sections)
    for section in document.sections:
        assert (found[section.key].name, found[section.key].text) == (section.heading, section.text)


def test_half_of_the_notes_tell_a_folder() -> None:
    stored = shelf(row("m:a.md", LONG), row("m:b.md", f"{LONG} and more"), row("m:c.md", f"{LONG} or less"))
    documents = [
        note("a.md", LONG),
        note("b.md", f"{LONG} and more"),
        note("z.md", "a quite different thing here"),
    ]
    assert folder_of_content(documents, stored) == "m"
    assert folder_of_content(documents[2:], stored) is None
