"""What the project depends on: each package is declared, used by the code, and has its row in the docs."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import files, packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "substrate", "orchestration", "api")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TABLE = (ROOT / "docs" / "dependencies.md").read_text("utf-8").split("\nDevelopment:")[0].lower()
FILES = [path.read_text("utf-8") for room in PACKAGES for path in (ROOT / room).rglob("*.py")]
CODE = "\n".join(FILES)
NAMES = [
    re.split(r"[\[<>=]", said)[0]
    for said in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["langgraph"])
]
OWNERS = packages_distributions()


def modules_of(name: str) -> set[str]:
    """What is imported of a package, whose name may be written with `-`, `_` or `.`."""
    return {
        module
        for module, owners in OWNERS.items()
        if name in {re.sub(r"[-_.]+", "-", one).lower() for one in owners}
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_package_is_used_and_has_its_row(name: str) -> None:
    assert re.search(rf"^\| .*(?<![\w-]){re.escape(name)}(?![\w-])", TABLE, re.MULTILINE), "no row says what for"
    spoken = {name, *(module for module in modules_of(name) if module != "google")}
    assert any(re.search(rf"\b{re.escape(one)}\b", CODE) for one in spoken), "nothing uses it"


def imported(code: str) -> Iterator[str]:
    """Every module that a file imports, at its head, in a function, or by name."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "find_spec"):
            yield from (str(said.value) for said in node.args[:1] if isinstance(said, ast.Constant))


FOREIGN = sorted(
    {
        module
        for code in FILES
        for module in imported(code)
        if module.partition(".")[0] not in (*PACKAGES, *sys.stdlib_module_names)
    }
)


def owners_of(module: str) -> set[str]:
    """The packages that hold this very module: `google` and `llama_index` are folders that several share."""
    path = module.replace(".", "/")
    return {
        re.sub(r"[-_.]+", "-", owner).lower()
        for owner in set(OWNERS.get(module.partition(".")[0], []))
        if any(str(file).startswith((f"{path}/", f"{path}.")) for file in files(owner) or ())
    }


@pytest.mark.parametrize("module", FOREIGN)
def test_what_is_imported_is_declared(module: str) -> None:
    assert owners_of(module) & set(NAMES), f"no package of pyproject.toml brings {module}"
