"""Where memories lie in a mirror: bounded files, and paths that no name can lead astray."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.mirror.layout import (
    INDEX,
    AtomKey,
    LinkKey,
    MirrorOf,
    citizen_folder,
    folder_name,
    is_place,
    key_of,
    make_plan,
    render_bundle,
    render_index,
)
from orchestration.features.mirror.queries import KeyRow
from orchestration.features.mirror.text import Atom, parse_file
from schemas.memory import Level

ADA = MirrorOf(Level.N1, "ada")

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


def keys(count: int, **fields: Any) -> list[AtomKey]:
    return [
        AtomKey(f"m{place:04}", 1, place, place, f"words {place}", "talk")._replace(**fields)
        for place in range(count)
    ]


def paths(plan_keys: Sequence[AtomKey]) -> list[str]:
    return [bundle.path for bundle in make_plan(plan_keys, []).bundles]


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


def test_a_file_has_at_most_a_hundred_memories_in_the_order_of_time() -> None:
    plan = make_plan(keys(250, tags=["sea"], buckets=["home"]), [])
    assert [len(bundle.atoms) for bundle in plan.bundles] == [100, 100, 50]
    assert [bundle.path.split("_")[-1] for bundle in plan.bundles[1:]] == ["2.md", "3.md"]
    assert plan.bundles[1].before == plan.bundles[0].path
    assert plan.bundles[0].path.startswith("@home/#sea/talk_")


def test_a_file_has_fewer_long_memories_and_one_that_is_longer_stands_alone() -> None:
    lengths = [600_000, 300_000, 300_000, 6_000_000, 5]
    held = [key._replace(length=length) for key, length in zip(keys(5), lengths, strict=True)]
    assert [len(bundle.atoms) for bundle in make_plan(held, []).bundles] == [2, 1, 1, 1]


def test_a_memory_lies_under_its_most_common_given_tag() -> None:
    common = keys(3, tags=["sea"])
    both = AtomKey("z", 1, 0, 0, "z", "talk", ["rare", "sea"])
    assert len(paths([*common, both])) == 1
    assert paths([both._replace(made=True)])[0].startswith("@general/#untagged/")


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


def test_linked_memories_are_reached_by_relative_links() -> None:
    near, far = keys(2, tags=["sea"]), AtomKey("far", 1, 9, 9, "Far off", "talk", ["hill"])
    plan = make_plan([*near, far], [LinkKey("m0000", "m0001", "NEXT"), LinkKey("m0000", "far", "ABOUT")])
    sea = next(bundle for bundle in plan.bundles if "#sea" in bundle.path)
    hill = next(bundle for bundle in plan.bundles if "#hill" in bundle.path)
    text = render_bundle(plan, sea, ADA, atoms(2)).decode()
    assert "- NEXT → [words 1](#m0001-words-1)" in text
    assert f"- ABOUT → [Far off](../../{hill.path.replace('#', '%23')}#far-far-off)" in text


def test_only_a_file_whose_memories_or_links_changed_has_another_digest() -> None:
    held = [*keys(2, tags=["sea"]), AtomKey("far", 1, 9, 9, "Far off", "talk", ["hill"])]
    links = [LinkKey("m0000", "far", "ABOUT")]
    before = make_plan(held, links)
    renamed = make_plan([*held[:2], held[2]._replace(version=2, label="Farther")], links)
    changed = make_plan([held[0]._replace(version=2), *held[1:]], links)

    def differing(other: object) -> list[str]:
        pairs = zip(before.bundles, other.bundles, strict=True)  # type: ignore[attr-defined]
        return [a.path for a, b in pairs if before.digest(a) != other.digest(b)]  # type: ignore[attr-defined]

    assert [path.split("/")[1] for path in differing(changed)] == ["#sea"]
    assert [path.split("/")[1] for path in differing(renamed)] == ["#hill", "#sea"]


def test_front_matter_has_times_and_felt_metadata() -> None:
    plan = make_plan(keys(2, tags=["sea side"], buckets=["home"]), [])
    front = parse_file(render_bundle(plan, plan.bundles[0], ADA, atoms(2)).decode()).front
    assert (front["bucket"], front["tag"], front["memories"]) == ("home", "sea side", "2")
    assert (front["from"], front["energy"], front["emotions"]) == ("2026-01-01T00:00:00Z", "0.5", {"joy": "0.5"})
    assert front["tags"] == ["sea-side"]


def test_the_index_leads_to_every_file() -> None:
    plan = make_plan([*keys(2, tags=["sea", "salt"]), *keys(1, id="x", buckets=["home"])], [])
    index = render_index(plan, ADA)
    assert all(bundle.path.replace("#", "%23") in index for bundle in plan.bundles)
    assert "- \\#salt: " in index
    assert INDEX == "README.md"


def test_a_note_lies_with_the_file_that_it_came_from() -> None:
    row = KeyRow(
        "a",
        1,
        0,
        0,
        9,
        "Note",
        "Tide",
        None,
        None,
        None,
        "ingestion",
        "notes",
        "tags",
        None,
        0,
        '{"path": "a/b.md"}',
    )
    assert (key_of(row).source, key_of(row).made, key_of(row).label) == ("a/b.md", True, "Tide")
    assert key_of(row._replace(extra=None)).source == "notes"
    assert key_of(row._replace(extra=None, episode_id=None)).source == "ingestion"
