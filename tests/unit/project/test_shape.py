"""The limits of the shape: the tree keeps them, no version of their file raised one, each kind of rise is seen."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from scripts.shape import FILE, Shape, earlier, exceeded, lowered, measure, raised, unfounded
from tests.docs_pages import ROOT

GOLDEN: Shape = json.loads((ROOT / FILE).read_text("utf-8"))
ADDITION = {"name": "a room", "why": "it was asked for", "module": "api.room", "lines": 3, "modules": 1}
TREE = {
    "schemas/__init__.py": "",
    "substrate/store/words.py": "class Told: ...\n",
    "orchestration/words.py": "class Told: ...\ndef _a(): ...\ndef _b(): ...\ndef c(): ...\n",
    "orchestration/mind/words.py": "class Told: ...\nclass _Made: ...\nlist(x for x in [])\n",
    "api/room.py": "import os\n\nos = [{y for y in []}]\n",
}


def written(root: Path, tree: Mapping[str, str]) -> Path:
    """The folder, with these files in it."""
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small tree of the four packages."""
    return written(tmp_path, TREE)


def test_the_tree_exceeds_no_limit() -> None:
    assert exceeded(GOLDEN, measure()) == []


def test_no_limit_is_higher_than_in_any_version_of_the_history() -> None:
    if (versions := earlier()) is None:
        pytest.skip("there is no history, or only a part of it")
    assert [fault for version in versions for fault in raised(GOLDEN, version)] == []


def test_every_addition_of_the_file_is_in_the_tree_and_has_a_reason() -> None:
    assert list(unfounded(GOLDEN)) == []


def test_a_tree_is_measured_by_what_stands_in_it(root: Path) -> None:
    shape = measure(root)
    assert shape["base"] == {"modules": 4, "lines": 11}
    assert shape["rooms"]["orchestration/mind"] == "1 modules, 3 lines"
    expected = {
        "doubled/class Told": 3,
        "doubled/module words": 3,
        "helpers/orchestration/number": 2,
        "helpers/orchestration/share": 0.667,
        "comprehensions/api/number": 1,
        "comprehensions/api/share": 333.333,
        "entries/orchestration": 2,
        "entries/schemas": 0,
    }
    assert shape["limits"].items() >= expected.items()
    assert "outside_imports" not in shape["limits"]


def test_imports_of_features_are_measured_once_there_are_features(root: Path) -> None:
    features = {
        "orchestration/features/__init__.py": "from orchestration.features import mirror\n",
        "orchestration/features/mirror/flow.py": "from orchestration.features.mirror import values\n",
        "orchestration/ask.py": "from orchestration.features import FEATURES\n",
        "api/door.py": "from orchestration.features.mirror.flow import f\nimport orchestration.features.rules\n",
        "api/other.py": "from orchestration.features import mirror\n",
    }
    assert measure(written(root, features))["limits"]["outside_imports"] == 3


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (
            {"api/second.py": "a = 1\n"},
            ["entries/api: 2, at most 1", "modules: 5, at most 4", "lines: 12, at most 11"],
        ),
        ({"api/room.py": "import os\n" * 4}, ["lines: 12, at most 11"]),
        ({"api/room.py": "class Told: ...\n"}, ["doubled/class Told: 4, at most 3"]),
        ({"api/room.py": "class _Made: ...\nclass Place: ...\n"}, []),
        (
            {"api/room.py": "class _Made: ...\n", "schemas/__init__.py": "class _Made: ...\n"},
            ["doubled/class _Made: 3, at most 2"],
        ),
        ({"orchestration/words.py": "class Told: ...\ndef _a(): ...\n"}, []),
        (
            {"orchestration/words.py": "def _a(): ...\ndef _b(): ...\ndef _c(): ...\n"},
            ["helpers/orchestration/number: 3, at most 2"],
        ),
        ({"api/room.py": "[{y for y in []}]\n"}, []),
        (
            {"api/room.py": "[1 for x in [y for y in []]]\n"},
            ["comprehensions/api/number: 2, at most 1"],
        ),
    ],
)
def test_what_grows_exceeds_its_limit_and_what_shrinks_none(
    root: Path, change: dict[str, str], faults: list[str]
) -> None:
    before = measure(root)
    assert exceeded(before, measure(written(root, change))) == faults


def test_a_named_addition_makes_room_for_its_lines_and_modules(root: Path) -> None:
    file = measure(root)
    after = measure(written(root, {"orchestration/mind/room.py": "a = 1\nb = 2\n"}))
    assert exceeded(file, after) == ["modules: 5, at most 4", "lines: 13, at most 11"]
    assert exceeded({**file, "additions": [{**ADDITION, "lines": 2}]}, after) == []
    assert exceeded({**file, "additions": [{**ADDITION, "lines": 1}]}, after) == ["lines: 13, at most 12"]


@pytest.mark.parametrize(
    ("additions", "faults"),
    [
        ([ADDITION], []),
        ([{**ADDITION, "module": "orchestration.mind"}], []),
        ([{**ADDITION, "why": " "}], ["a room: say why"]),
        ([ADDITION, ADDITION], ["two additions have one name"]),
        ([{**ADDITION, "lines": 4}], ["a room: api.room has not as much as it names"]),
        ([{**ADDITION, "modules": 2}], ["a room: api.room has not as much as it names"]),
        ([{**ADDITION, "lines": -1}], ["a room: api.room has not as much as it names"]),
        ([{**ADDITION, "module": "api.absent"}], ["a room: api.absent has not as much as it names"]),
        ([{**ADDITION, "module": "tests.unit"}], ["a room: tests.unit has not as much as it names"]),
        ([{**ADDITION, "name": str(n)} for n in range(3)], ["the additions have more than 8 lines"]),
        ([{**ADDITION, "name": str(n), "round": "a" if n else None} for n in range(3)], []),
        (
            [{**ADDITION, "name": str(n), "round": "a"} for n in range(3)],
            ["the additions of a have more than 6 lines"],
        ),
        ([{**ADDITION, "round": "b"}], ["the additions of b have more than 0 lines"]),
    ],
)
def test_an_addition_is_where_it_says_and_has_a_reason(
    root: Path, additions: list[dict[str, Any]], faults: list[str]
) -> None:
    rounds = [{"name": "a", "why": "it was asked for", "most_added_lines": 6}]
    file = {**measure(root), "most_added_lines": 8, "rounds": rounds, "additions": additions}
    assert list(unfounded(file, root)) == faults
    rounds[0]["why"] = ""
    assert "a: say why" in unfounded(file, root)


def put(path: str, value: Any) -> Callable[[Shape], None]:
    """Sets a part of the file; the path has a bar between the keys."""

    def change(file: Shape) -> None:
        part, _, key = path.partition("|")
        file[part][key] = value

    return change


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda file: None, []),
        (put("limits|entries/api", 0), []),
        (put("limits|entries/api", 2), ["entries/api: 2, was 1"]),
        (put("limits|helpers/orchestration/share", 0.7), ["helpers/orchestration/share: 0.7, was 0.667"]),
        (put("limits|doubled/class New", 3), ["doubled/class New: 3, was 2"]),
        (put("limits|doubled/class Told", 4), ["doubled/class Told: 4, was 3"]),
        (lambda file: file["limits"].pop("doubled/class Told"), []),
        (lambda file: file["limits"].pop("entries/api"), ["entries/api: gone, was 1"]),
        (put("limits|outside_imports", 44), []),
        (put("base|lines", 12), ["base/lines: 12, was 11"]),
        (lambda file: file.update(most_added_lines=601), ["most_added_lines: 601, was 600"]),
        (lambda file: file["rounds"].append({"name": "b", "why": "", "most_added_lines": 9}), []),
        (lambda file: file["rounds"][0].update(most_added_lines=7), ["rounds/a: 7, was 6"]),
        (lambda file: file["rounds"].clear(), ["rounds/a: gone, was 6"]),
        (lambda file: file["additions"].clear(), []),
        (lambda file: file["additions"].append({**ADDITION, "name": "another"}), []),
        (lambda file: file["additions"][0].update(lines=4), ["additions/a room/lines: 4, was 3"]),
        (lambda file: file["additions"][0].update(modules=2), ["additions/a room/modules: 2, was 1"]),
    ],
)
def test_a_number_of_the_file_only_falls(root: Path, change: Callable[[Shape], object], faults: list[str]) -> None:
    rounds = [{"name": "a", "why": "it was asked for", "most_added_lines": 6}]
    before = {**measure(root), "rounds": rounds, "additions": [ADDITION]}
    now = deepcopy(before)
    change(now)
    assert raised(now, before) == faults


def test_the_file_is_written_downwards_and_keeps_what_was_added_by_hand(root: Path) -> None:
    file = {**measure(root), "additions": [ADDITION]}
    better = measure(written(root, {"orchestration/words.py": "class Told: ...\n", "api/second.py": "a = 1\n"}))
    new = lowered(file, better)
    assert new["limits"]["helpers/orchestration/number"] == 0
    assert new["limits"]["entries/api"] == 1
    assert raised(new, file) == []
    assert {**new, "limits": 0, "rooms": 0} == {**file, "limits": 0, "rooms": 0}
    assert "2 modules" in new["rooms"]["api"]
    (root / "orchestration/mind/words.py").unlink()
    assert "doubled/class Told" not in lowered(new, measure(root))["limits"]


def git(root: Path, *arguments: str) -> None:
    """Runs git there, as nobody."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_history_has_the_versions_of_merged_branches(tmp_path: Path) -> None:
    def commit(most: int) -> None:
        written(tmp_path, {FILE: json.dumps({"entries/api": most})})
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-m", f"{most}")

    assert earlier(tmp_path) is None
    git(tmp_path, "init", "-b", "main")
    commit(5)
    git(tmp_path, "checkout", "-b", "side")
    commit(2)
    commit(3)
    git(tmp_path, "checkout", "main")
    git(tmp_path, "commit", "--allow-empty", "-m", "other")
    git(tmp_path, "merge", "--no-ff", "-s", "ours", "side", "-m", "merged")
    assert {version["entries/api"] for version in earlier(tmp_path) or []} == {2, 3, 5}
