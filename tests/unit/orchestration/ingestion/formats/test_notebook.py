"""A notebook as commands: notes, their sections, and the links between them."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.formats.notebook import Document, Notebook, Section
from schemas.commands import Relate, Remember

MAY = datetime(2026, 5, 8, tzinfo=UTC)

documents = st.lists(
    st.builds(
        lambda sections, mentions: (sections, mentions), st.integers(0, 4), st.lists(st.integers(0, 4), max_size=3)
    ),
    min_size=1,
    max_size=5,
)


def notebook(shape: list[tuple[int, list[int]]]) -> Notebook:
    """A document for each number of sections, which mentions the documents with these numbers."""
    return Notebook(
        "notes",
        "ada",
        tuple(
            Document(
                f"n{place}.md", f"Note {place}", "text", MAY,
                tuple(Section(f"s{each}", f"Part {each}", "text") for each in range(sections)),
                mentions=tuple(f"n{mentioned % len(shape)}.md" for mentioned in mentions),
            )
            for place, (sections, mentions) in enumerate(shape)
        ),
    )  # fmt: skip


@given(documents)
def test_a_link_comes_after_both_of_its_ends(shape: list[tuple[int, list[int]]]) -> None:
    there: set[str | None] = set()
    for command in notebook(shape).commands():
        if isinstance(command, Remember):
            there.add(command.id)
        elif isinstance(command, Relate):
            assert {command.source_id, command.target_id} <= there


@given(documents)
def test_the_size_is_the_number_of_commands(shape: list[tuple[int, list[int]]]) -> None:
    notes = notebook(shape)
    assert notes.size == len(list(notes.commands()))


def test_a_note_lies_in_its_folder() -> None:
    assert Document("a/b/c.md", "C", "", None).buckets == ("a/b",)
    assert Document("c.md", "C", "", None).buckets == ()


def test_the_time_of_a_note_that_names_no_date_is_assumed() -> None:
    dated, undated = (
        next(Notebook("n", "ada", (Document("a.md", "A", "text", MAY, dated=dated),)).commands())
        for dated in (True, False)
    )
    assert isinstance(dated, Remember)
    assert isinstance(undated, Remember)
    assert dated.valid_at == undated.valid_at == MAY
    assert dated.model_fields_set - undated.model_fields_set == {"valid_at"}
