"""The limits of the shape: the tree keeps them, no version of their file raised one, each kind of rise is seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scripts.shape import FILE, Shape, earlier, exceeded, measure, raised, unfounded
from tests.docs_pages import ROOT

GOLDEN: Shape = json.loads((ROOT / FILE).read_text("utf-8"))
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
