"""What a folder of notes changes of what is stored of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from orchestration.ingestion.formats.notebook import Document, Notebook, Section
from orchestration.ingestion.note_changes import Keeping, NotebookPlan, Shelf, match_documents, plan_notebook
from schemas.commands import Correct, Remember, Retract, Supersede
from schemas.memory import ResolutionState
from schemas.temporal import END_OF_TIME, to_instant
from substrate.store.notes import NoteLink
from tests.unit.orchestration.ingestion.test_note_matching import row

NOW = to_instant(datetime(2024, 6, 1, tzinfo=UTC))
MAY = datetime(2024, 5, 1, tzinfo=UTC)


def plan(shelf: Shelf, *documents: Document, kept: Keeping | None = None) -> NotebookPlan:
    notebook = Notebook("n", "ada", documents)
    matched = match_documents(documents, "n", shelf)
    return plan_notebook(notebook, matched, shelf, now=NOW, kept=kept or Keeping())


def holding(*texts: str) -> Shelf:
    return Shelf.of([row(f"n:{place}.md", text, name=str(place)) for place, text in enumerate(texts)], [], NOW)


def note(place: int, text: str, **fields: datetime | bool) -> Document:
    return Document(f"{place}.md", str(place), text, None, dated=False, **fields)  # type: ignore[arg-type]


def test_a_new_folder_is_stored_as_it_is() -> None:
    sections = (Section("a", "A", "one"), Section("b", "B", "two"))
    made = plan(Shelf([], {}, {}), Document("0.md", "0", "text", MAY, sections))
    assert len(made.new) == 6
    assert (made.changes, made.links, made.unchanged, made.notes) == ((), (), (), ())


def test_an_edited_note_is_superseded_from_the_change_of_its_file_on() -> None:
    made = plan(holding("old"), note(0, "new", modified=MAY))
    (change,) = made.changes
    assert isinstance(change, Supersede)
    assert (change.description, change.effective_at) == ("new", MAY)
    assert change.model_fields_set >= {"description"}
    assert "name" not in change.model_fields_set


def test_an_edited_note_whose_file_says_no_usable_time_changes_now() -> None:
    later = datetime(2030, 1, 1, tzinfo=UTC)
    for modified in ({}, {"modified": later}):
        (change,) = plan(holding("old"), note(0, "new", **modified)).changes
        assert isinstance(change, Supersede)
        assert change.effective_at is None


def test_a_note_that_is_dated_anew_is_corrected_and_not_superseded() -> None:
    (change,) = plan(holding("text"), Document("0.md", "0", "text", MAY)).changes
    assert isinstance(change, Correct)
    assert change.valid_at == MAY


def test_a_note_that_is_dated_ahead_is_stored_without_its_date_and_stays_so() -> None:
    ahead = Document("0.md", "0", "text", datetime(2030, 1, 1, tzinfo=UTC))
    (new,) = plan(Shelf([], {}, {}), ahead).new
    assert isinstance(new, Remember)
    assert new.valid_at is None
    assert plan(holding("text"), ahead).changes == ()


def test_a_ticked_task_changes_its_state_alone_from_the_change_of_its_file_on() -> None:
    task = Section("sweep", "sweep", "sweep", state=ResolutionState.RESOLVED)
    open_task = row("n:0.md#sweep", "sweep", name="sweep", kind="Note")._replace(resolution_state="in_progress")
    link = NoteLink("n:0.md#sweep|PART_OF|n:0.md", "n:0.md#sweep", "PART_OF", "n:0.md", 1, END_OF_TIME)
    shelf = Shelf.of([row("n:0.md", "text", name="0"), open_task], [link], NOW)
    made = plan(shelf, replace(note(0, "text", modified=MAY), sections=(task,)))
    (change,) = made.changes
    assert isinstance(change, Supersede)
    assert (change.resolution_state, change.description, change.effective_at) == ("resolved", None, MAY)
    assert made.notes == ("0.md changed: 1 superseded",)


def test_a_missing_note_ends_unless_it_could_not_be_read_or_others_were_left_out() -> None:
    both = holding("one", "two")
    (change,) = plan(both, note(0, "one")).changes
    assert isinstance(change, Retract)
    assert change.id == "n:1.md"
    assert plan(both, note(0, "one"), kept=Keeping(paths=["1.md"])).changes == ()
    some = plan(both, note(0, "one"), kept=Keeping(everything=True))
    assert some.changes == ()
    assert "1.md" in some.notes[0]


def test_a_new_note_where_a_moved_one_was_gets_another_id() -> None:
    moved = row("n:0.md", "one two three four five", folder="n", path="x/0.md")
    shelf = Shelf.of([moved], [], NOW)
    made = plan(shelf, note(0, "new"), Document("x/0.md", "a", "one two three four five", None, dated=False))
    (new,) = made.new
    assert isinstance(new, Remember)
    assert new.id == "n:0.md~2"
    assert new.extra == {"folder": "n", "path": "0.md"}
