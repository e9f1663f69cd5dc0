"""A notebook as commands: notes, their sections, and the links between them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.formats.notebook import Document, Notebook, Section
from schemas.commands import Relate, Remember
from tests.unit.orchestration.ingestion.formats.exports import read_raw

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


def read(text: str) -> tuple[Document, ...]:
    (notes,) = read_raw("house.md", text.encode()).items
    assert isinstance(notes, Notebook)
    return notes.documents


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


@pytest.mark.parametrize(
    ("line", "name", "state"),
    [
        ("- [ ] pour the foundation 📅 2026-06-20", "pour the foundation", "in_progress"),
        ("* [x] buy cement ✅ 2026-03-01", "buy cement", "resolved"),
        ("    1. [/] dig ⏳ 2026-05-01 🛫 2026-04-01", "dig", "in_progress"),
        ("> - [-] paint the fence ❌ 2026-02-02", "paint the fence", "resolved"),
        ("- [ ] order sand [due:: 2026-06-01]", "order sand", "in_progress"),
        ("- call the mason @due(2026-06-20)", "call the mason", "in_progress"),
        ("- sign the lease @done(2026-01-03)", "sign the lease", "resolved"),
        ("- [ ] 📅 2026-06-20", "📅 2026-06-20", "in_progress"),
    ],
)
def test_a_task_is_a_memory_of_its_own_beside_the_text_that_it_stands_in(line: str, name: str, state: str) -> None:
    (document,) = read(f"## Plan\n{line}\n")
    plan, task = document.sections
    assert (plan.heading, plan.text, plan.state) == ("Plan", line.strip(), None)
    assert (task.heading, task.state) == (name, state)
    assert line.endswith(task.text)


@pytest.mark.parametrize("line", ["- buy cement", "[ ] no list", "- [1] a source", "- []", "- me@done.org"])
def test_another_line_is_no_task(line: str) -> None:
    (document,) = read(f"Text.\n{line}\n\n```\n- [ ] code\n```\n")
    assert document.sections == ()
