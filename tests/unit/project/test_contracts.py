"""The import contracts: each kind of fault breaks one; they hold for all pure modules. No module is too short."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.docs_pages import ROOT

PACKAGES = ("schemas", "substrate", "orchestration", "api")
LAYERS = "layers: substrate_client <- schemas <- substrate <- orchestration <- api"
CYCLES = "no cycles between the modules of a room"
PURE = "pure rooms: no clock, chance, concurrency, logging, environment or store"
FLOWS = "ways of asking do not import each other"
SMALL_LINES = 50
SMALL_ON_PURPOSE = {
    "substrate.inference.embeddings.openai_client": "imported only when the settings choose it",
    "substrate.inference.language.openai_client": "imported only when the settings choose it",
    "api.client.models": "written from the operations; the client imports it by its name",
    "api.service": "builds the service without the command line",
}
NO_CODE = shutil.ignore_patterns("__pycache__", "carried", "*.js")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]


def modules() -> Iterator[tuple[str, Path]]:
    """The dotted name and the file of each module of the packages."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def is_pure(module: str) -> bool:
    """Whether the contract of the pure rooms holds for the module."""
    [contract] = [each for each in CONTRACTS if each["name"] == PURE]
    return any(fnmatch(module, room) or fnmatch(module, f"{room}.*") for room in contract["source_modules"])


def calls_itself_pure(file: Path) -> bool:
    """Whether the first paragraph of the module's docstring ends with "Pure."."""
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return text.split("\n\n")[0].endswith(" Pure.")


def reads_a_clock(node: ast.AST) -> bool:
    """Whether the node is one of the clocks of `datetime`, which need no import of their own."""
    clocks = ("datetime.now", "datetime.utcnow", "datetime.today", "date.today")
    return isinstance(node, ast.Attribute) and ast.unparse(node) in clocks


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of import-linter on a copy of the packages with one fault of each kind."""
    home = tmp_path_factory.mktemp("faults")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, home / package, ignore=NO_CODE)
    shutil.copy(ROOT / "pyproject.toml", home)
    for file, line in (
        ("schemas/memory.py", "import substrate.language.text"),
        ("orchestration/ranking/candidates.py", "import orchestration.ranking.activation"),
        ("orchestration/ranking/relevance.py", "import time"),
        ("orchestration/waking/ask.py", "import orchestration.retrieval"),
    ):
        with (home / file).open("a", encoding="utf-8") as module:
            module.write(f"\n{line}\n")
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(home)},  # noqa: TID251  # the paths of the test's own process
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    return done.stdout


@pytest.mark.parametrize("contract", [LAYERS, CYCLES, PURE, FLOWS])
def test_each_kind_of_fault_breaks_its_contract(report: str, contract: str) -> None:
    assert f"{contract} BROKEN" in " ".join(report.split())


def test_a_contract_without_a_fault_is_kept(report: str) -> None:
    assert "only api imports fastapi KEPT" in " ".join(report.split())


def test_every_module_that_calls_itself_pure_is_under_the_contract() -> None:
    called = [name for name, file in modules() if calls_itself_pure(file)]
    assert len(called) > 40
    assert [name for name in called if not is_pure(name)] == []


def test_no_pure_module_reads_a_clock() -> None:
    pure = {name: file for name, file in modules() if is_pure(name)}
    del pure["schemas.intention"]  # the default of its `generated_at` is the present moment
    reading = [
        f"{name}:{node.lineno}"  # type: ignore[attr-defined]
        for name, file in pure.items()
        for node in filter(reads_a_clock, ast.walk(ast.parse(file.read_text("utf-8"))))
    ]
    assert reading == []


def imported_modules(file: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules of the packages that a file imports; a name of a package counts as the package."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            full = {f"{node.module}.{name.name}" for name in node.names}
            imported.update((full & known.keys()) or {node.module})
    return imported & known.keys()


def may_be_small(module: str) -> bool:
    """Whether a module of its own is right, however short: a route, a command, a format, part of a feature."""
    rooms = ("api.routes.", "api.cli.", "orchestration.ingestion.formats.", "orchestration.features.")
    return module in SMALL_ON_PURPOSE or module.startswith(rooms) or module.endswith(".__main__")


def test_a_short_module_with_a_single_importer_is_part_of_that_importer() -> None:
    known = dict(modules())
    importers = Counter(each for file in known.values() for each in imported_modules(file, known))
    short = {
        name: file
        for name, file in known.items()
        if file.name != "__init__.py" and len(file.read_text("utf-8").splitlines()) < SMALL_LINES
    }
    assert [name for name in short if importers[name] <= 1 and not may_be_small(name)] == []
    assert set(SMALL_ON_PURPOSE) <= set(short)
