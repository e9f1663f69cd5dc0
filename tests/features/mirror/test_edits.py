"""What a person changed in a mirror becomes commands; what nobody changed becomes none, however stale it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from orchestration.features.mirror.text import (
    Atom,
    Edits,
    FoundAtom,
    Owner,
    StoredMemory,
    WrittenPlace,
    decide,
    label_of,
    parse_file,
    render_atom,
)
from schemas.commands import Correct, Remember, Retract
from tests.features.mirror.test_text import ATOMS

OWNER = Owner({"citizen_id": "ada"}, 7)
BASE = Atom(
    "tide",
    3,
    "The tide comes at noon.",
    {
        "name": "The tide",
        "node_type": "Memory",
        "tags": ("sea",),
        "valid_at": "2026-01-01T00:00:00Z",
        "created_at": "2026-01-01T00:00:00Z",
        "energy": 0.5,
        "goal": "sail",
        "source": "citizen",
    },
)


def written(atom: Atom) -> str:
    return render_atom(atom, label_of(atom), [], 0)


def decided(text: str, known: StoredMemory, missing: dict[str, WrittenPlace] | None = None) -> Edits:
    found = [FoundAtom("@home/#sea/talk_1.md", section, "home", "sea") for section in parse_file(text).sections]
    return decide(OWNER, found, missing or {}, {BASE.id: known})


def the_command(edits: Edits) -> Any:
    assert edits.refusals == []
    [edit] = edits.edits
    return edit.command


@given(ATOMS)
def test_an_unedited_atom_gives_no_command(atom: Atom) -> None:
    found = [FoundAtom("@a/#b/c_1.md", section) for section in parse_file(written(atom)).sections]
    for version in (atom.version, 99_999, None):
        assert decide(OWNER, found, {}, {atom.id: StoredMemory(atom, version)}) == Edits([], [])


def test_an_editor_that_strips_white_space_changes_nothing() -> None:
    base = BASE._replace(text="one  \ntwo\t\n\nthree")
    stripped = "\n".join(line.rstrip() for line in written(base).split("\n"))
    assert decided(stripped, StoredMemory(base, 3)) == Edits([], [])


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("at noon.", "at one.", {"description": "The tide comes at one."}),
        ("tags: [sea]", "tags: [sea, moon]", {"tags": ("sea", "moon")}),
        ("tags: [sea]\n", "", {"tags": ()}),
        ("energy: 0.5", "energy: 1", {"energy": 1.0}),
        ("goal: sail", "goal:", {"goal": None}),
        ("goal: sail", "goal: sail\nimportance: 0.9", {"importance": 0.9}),
        ("## [tide] The tide", "## [tide] The ebb", {"name": "The ebb"}),
        ("energy: 0.5\n", "", None),
    ],
)
def test_an_edit_is_a_correction_of_the_version_that_was_written(old: str, new: str, fields: Any) -> None:
    edits = decided(written(BASE).replace(old, new), StoredMemory(BASE, 3))
    if fields is None:
        assert edits == Edits([], [])
        return
    command = the_command(edits)
    assert isinstance(command, Correct)
    assert (command.id, command.citizen_id, command.expected_version) == ("tide", "ada", 3)
    said = command.model_dump(exclude_unset=True)
    assert {name: said[name] for name in fields} == fields
    assert said.keys() - {"command_id", "citizen_id", "id", "expected_version"} == fields.keys()


def test_the_same_edit_has_the_same_command_id() -> None:
    text = written(BASE).replace("noon", "one")
    first, again = (the_command(decided(text, StoredMemory(BASE, 3))).command_id for _ in range(2))
    other = the_command(decided(text.replace("one", "two"), StoredMemory(BASE, 3))).command_id
    assert first == again != other


@pytest.mark.parametrize(
    ("old", "new", "known", "reason"),
    [
        ("noon", "one", StoredMemory(BASE, 4), "has version 4 now, and the file was written of 3"),
        ("noon", "one", StoredMemory(BASE, None), "was retracted, or ended"),
        ("noon", "one", StoredMemory(None, 4), "never had version 3"),
        ("source: citizen", "source: system", StoredMemory(BASE, 3), "source of tide cannot be changed"),
        ("energy: 0.5", "energy: 7", StoredMemory(BASE, 3), "energy"),
        ("energy: 0.5", "energy: x", StoredMemory(BASE, 3), "no number"),
        ('2026-01-01T00:00:00Z"\ncreated', 'yesterday"\ncreated', StoredMemory(BASE, 3), "valid_at"),
    ],
)
def test_what_cannot_be_applied_is_refused_and_named(old: str, new: str, known: StoredMemory, reason: str) -> None:
    text = written(BASE)
    assert old in text
    edits, refusals = decided(text.replace(old, new), known)
    assert edits == []
    assert reason in refusals[0].reason
    assert refusals[0].reason.startswith("@home/#sea/talk_1.md:1")


def test_a_removed_part_is_a_retraction_unless_the_memory_changed_since() -> None:
    missing = {"tide": WrittenPlace("@home/#sea/talk_1.md", 3)}
    command = the_command(decided("", StoredMemory(BASE, 3), missing))
    assert (type(command), command.expected_version) == (Retract, 3)
    assert "has version 4 now" in decided("", StoredMemory(BASE, 4), missing).refusals[0].reason
    assert decided("", StoredMemory(BASE, None), missing) == Edits([], [])


def test_a_file_with_a_part_that_cannot_be_read_removes_nothing() -> None:
    edits = decided(
        "## [tide] The tide\n\nno block\n",
        StoredMemory(BASE, 3),
        {"tide": WrittenPlace("@home/#sea/talk_1.md", 3)},
    )
    assert (edits.edits, len(edits.refusals)) == ([], 1)


def test_an_added_part_is_a_new_memory_under_the_tag_of_its_file() -> None:
    command = the_command(decided("## [new] Low water\n\nAt six.\n", StoredMemory(BASE, 3)))
    assert isinstance(command, Remember)
    assert (command.name, command.description, command.tags, command.buckets) == (
        "Low water",
        "At six.",
        ("sea",),
        ("home",),
    )


def test_copies_that_say_the_same_are_one_edit_and_others_are_refused() -> None:
    edited, other = (written(BASE).replace("noon", word) for word in ("one", "two"))
    assert the_command(decided(edited + edited + written(BASE), StoredMemory(BASE, 3))).description.endswith(
        "one."
    )
    assert "in several places" in decided(edited + other, StoredMemory(BASE, 3)).refusals[0].reason


def test_a_heading_that_was_made_of_the_text_cannot_be_edited() -> None:
    base = BASE._replace(fields={**BASE.fields, "name": "x" * 200})
    text = written(base).replace("## [tide] xxx", "## [tide] yyy")
    assert "is made of its text" in decided(text, StoredMemory(base, 3)).refusals[0].reason
