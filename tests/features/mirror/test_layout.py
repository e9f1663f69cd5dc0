"""Where memories lie in a mirror: bounded files, and paths that no name can lead astray."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.mirror.layout import (
    AtomKey,
    citizen_folder,
    folder_name,
    is_place,
    make_plan,
)
from orchestration.features.mirror.text import Atom

ODD = (
    "..",
    ".",
    "a/b",
    "../../etc",
    "a\nb",
    "\x00",
    "🦊",
    "x" * 300,
    "Work",
    "work",
    "WORK",
    "a\\b",
    "con",
    "~",
    " ",
)
NAMES = st.one_of(st.sampled_from(ODD), st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
KEYS = st.lists(
    st.builds(
        AtomKey,
        id=st.text("abcdef[]() é", min_size=1, max_size=6),
        version=st.integers(1, 9),
        created_at=st.integers(0, 10**15),
        valid_at=st.integers(0, 10**15),
        label=st.just("words"),
        source=NAMES,
        tags=st.lists(NAMES, max_size=2),
        buckets=st.lists(NAMES, max_size=2),
        made=st.booleans(),
        length=st.integers(0, 10**6),
    ),
    max_size=12,
    unique_by=lambda key: key.id,
)


@given(KEYS)
def test_every_path_is_a_place_of_a_mirror_and_no_two_meet_where_case_is_ignored(held: list[AtomKey]) -> None:
    plan = make_plan(held, [])
    written = [bundle.path for bundle in plan.bundles]
    assert all(map(is_place, written))
    assert len({path.lower() for path in written}) == len(written)
    assert all(len(part.encode()) < 200 for path in written for part in path.split("/"))
    assert sorted(atom.id for bundle in plan.bundles for atom in bundle.atoms) == sorted(key.id for key in held)


@given(KEYS, st.randoms())
def test_the_order_in_which_memories_are_read_makes_no_difference(held: list[AtomKey], chance: object) -> None:
    mixed = list(held)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    plan, other = make_plan(held, []), make_plan(mixed, [])
    assert [plan.digest(bundle) for bundle in plan.bundles] == [other.digest(bundle) for bundle in other.bundles]


@pytest.mark.parametrize(
    "names", [("Work", "work"), ("a/b", "a\\b"), ("x" * 300, "x" * 301), ("🦊", "🐻"), ("..", ".")]
)
def test_names_that_look_alike_get_folders_of_their_own(names: tuple[str, str]) -> None:
    one, other = (folder_name("#", name, "untagged").lower() for name in names)
    assert one != other


@pytest.mark.parametrize(("citizen_id", "plain"), [("ada", True), ("Ada", False), ("con", False), ("a.", False)])
def test_a_citizen_has_a_folder_that_every_file_system_keeps(citizen_id: str, plain: bool) -> None:
    folder = citizen_folder(citizen_id)
    assert (folder == citizen_id) is plain
    assert folder.rpartition("~")[0] in ("", citizen_id.rstrip("."))


@pytest.mark.parametrize(
    "path",
    ["../x.md", "@a/../x.md", "@a/#b/../x.md", "/etc/passwd", "@a/#b", "@a/#b/x", "a/b/c.md", "@a/#b/c\n.md", ""],
)
def test_what_leads_elsewhere_is_no_place(path: str) -> None:
    assert not is_place(path)


def atoms(count: int) -> dict[str, Atom]:
    fields = {"name": "words", "valid_at": "2026-01-01T00:00:00Z", "energy": 0.5, "emotion_vector": {"joy": 0.5}}
    return {f"m{place:04}": Atom(f"m{place:04}", 1, "text", fields) for place in range(count)}
