"""What the project depends on: each package is declared, used by the code, and has its row in the docs."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import files, packages_distributions

import pytest

from tests.docs_pages import ROOT

PACKAGES = ("schemas", "substrate", "orchestration", "api")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = SETTINGS["project"]
NOT_IN_WHEEL = {ROOT / file for file in SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]}
TABLE = (ROOT / "docs" / "dependencies.md").read_text("utf-8").split("\nDevelopment:")[0].lower()
FILES = {path: path.read_text("utf-8") for room in PACKAGES for path in (ROOT / room).rglob("*.py")}
CODE = "\n".join(FILES.values())


def bare(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=]", requirement)[0] for requirement in requirements]


EXTRAS = [name for extra in PROJECT["optional-dependencies"].values() for name in extra]
NAMES = bare([*PROJECT["dependencies"], *EXTRAS])
MODEL = bare(SETTINGS["dependency-groups"]["model"])
OWNERS = packages_distributions()
"""The packages of each module, read once, because it opens the files of every installed package."""


def modules_of(name: str) -> set[str]:
    """The modules of a package, whose name may be written with `-`, `_` or `.`."""
    return {
        module
        for module, owners in OWNERS.items()
        if name in {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners}
    }


@pytest.mark.parametrize("name", NAMES + MODEL)
def test_a_package_is_used_and_has_its_row(name: str) -> None:
    assert re.search(rf"^\| .*(?<![\w-]){re.escape(name)}(?![\w-])", TABLE, re.MULTILINE), "no row says what for"
    names = {name, *(module for module in modules_of(name) if module != "google")}
    assert any(re.search(rf"\b{re.escape(word)}\b", CODE) for word in names), "nothing uses it"


def imported(code: str) -> Iterator[str]:
    """Every module that a file imports: at its top, in a function, or by name."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "find_spec"):
            yield from (str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant))


FOREIGN = sorted(
    {
        (module, path in NOT_IN_WHEEL)
        for path, code in FILES.items()
        for module in imported(code)
        if module.partition(".")[0] not in (*PACKAGES, *sys.stdlib_module_names)
    }
)


def owners_of(module: str) -> set[str]:
    """The packages that contain this module; several packages share the folders `google` and `llama_index`."""
    path = module.replace(".", "/")
    return {
        re.sub(r"[-_.]+", "-", owner).lower()
        for owner in set(OWNERS.get(module.partition(".")[0], []))
        if any(str(file).startswith((f"{path}/", f"{path}.")) for file in files(owner) or ())
    }


@pytest.mark.parametrize(("module", "making"), FOREIGN)
def test_every_imported_package_is_declared(module: str, making: bool) -> None:
    """Modules that only make the local model's file are in no wheel, and neither are their imports."""
    declared = {*NAMES, *MODEL} if making else set(NAMES)
    assert owners_of(module) & declared, f"no package of pyproject.toml brings {module}"
