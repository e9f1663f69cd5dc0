"""What the project depends on: each package is used by its code and has its row in the documentation."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "substrate", "orchestration", "api")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TABLE = (ROOT / "docs" / "dependencies.md").read_text("utf-8").split("\nDevelopment:")[0].lower()
CODE = "\n".join(path.read_text("utf-8") for room in PACKAGES for path in (ROOT / room).rglob("*.py"))
NAMES = [
    re.split(r"[\[<>=]", said)[0]
    for said in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["langgraph"])
]


def modules_of(name: str) -> set[str]:
    """What is imported of a package, whose name may be written with `-`, `_` or `.`."""
    owned = packages_distributions().items()
    return {module for module, owners in owned if name in {re.sub(r"[-_.]+", "-", one).lower() for one in owners}}


@pytest.mark.parametrize("name", NAMES)
def test_a_package_is_used_and_has_its_row(name: str) -> None:
    assert re.search(rf"^\| .*(?<![\w-]){re.escape(name)}(?![\w-])", TABLE, re.MULTILINE), "no row says what for"
    spoken = {name, *(module for module in modules_of(name) if module != "google")}
    assert any(re.search(rf"\b{re.escape(one)}\b", CODE) for one in spoken), "nothing uses it"
