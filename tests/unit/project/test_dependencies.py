"""What the project depends on: each package is declared, used by the code, and has its row in the docs."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import files, packages_distributions
from pathlib import Path

from tests.docs_pages import ROOT

PACKAGES = ("schemas", "substrate", "orchestration", "api")
CLIENT = ROOT / "clients" / "python"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = SETTINGS["project"]
NOT_IN_WHEEL = {ROOT / file for file in SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]}
TABLE = (ROOT / "docs" / "dependencies.md").read_text("utf-8").split("\nDevelopment:")[0].lower()


def bare(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=]", requirement)[0] for requirement in requirements]


EXTRAS = [name for extra in PROJECT["optional-dependencies"].values() for name in extra]
NAMES = [name for name in bare([*PROJECT["dependencies"], *EXTRAS]) if name != "substrate-client"]
MODEL = bare(SETTINGS["dependency-groups"]["model"])


@cache
def sources() -> dict[Path, str]:
    return {path: path.read_text("utf-8") for room in PACKAGES for path in (ROOT / room).rglob("*.py")}


@cache
def owners() -> Mapping[str, list[str]]:
    """The packages of each module, read once, because it opens the files of every installed package."""
    return packages_distributions()


def plain(name: str) -> str:
    """The name of a package, which may be written with `-`, `_` or `.`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_each_package_is_used_and_has_its_row() -> None:
    code = "\n".join(sources().values())
    for name in NAMES + MODEL:
        row = rf"^\| .*(?<![\w-]){re.escape(name)}(?![\w-])"
        assert re.search(row, TABLE, re.MULTILINE), f"no row says what {name} is for"
        modules = {module for module, those in owners().items() if name in map(plain, those)} - {"google"}
        assert any(re.search(rf"\b{re.escape(word)}\b", code) for word in {name, *modules}), f"nothing uses {name}"


def imported(code: str) -> Iterator[str]:
    """Every module that a file imports: at its top, in a function, or by name."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("import_module", "find_spec"):
            yield from (str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant))


def owners_of(module: str) -> set[str]:
    """The packages that contain this module; several packages share the folders `google` and `llama_index`."""
    path = module.replace(".", "/")
    return {
        plain(owner)
        for owner in set(owners().get(module.partition(".")[0], []))
        if any(str(file).startswith((f"{path}/", f"{path}.")) for file in files(owner) or ())
    }


def test_every_imported_package_is_declared() -> None:
    """Modules that only make the local model's file are in no wheel, and neither are their imports."""
    foreign = {
        (module, path in NOT_IN_WHEEL)
        for path, code in sources().items()
        for module in imported(code)
        if module.partition(".")[0] not in (*PACKAGES, "substrate_client", *sys.stdlib_module_names)
    }
    for module, making in sorted(foreign):
        declared = {*NAMES, *MODEL} if making else set(NAMES)
        assert owners_of(module) & declared, f"no package of pyproject.toml brings {module}"


def test_the_client_needs_httpx_and_pydantic_alone_and_nothing_of_the_service() -> None:
    """anyio comes with httpx, typing-extensions with pydantic; pydantic-core is a part of pydantic."""
    settings = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))
    assert bare(settings["project"]["dependencies"]) == ["httpx", "pydantic"]
    codes = [path for path in (CLIENT / "substrate_client").rglob("*.py") if path.parent.name != "adapters"]
    assert foreign_to_client(codes) == {"anyio", "httpx", "pydantic", "typing_extensions"}


def foreign_to_client(paths: list[Path]) -> set[str]:
    """The packages that these files of the client import, besides itself and what Python brings."""
    found = {module.partition(".")[0] for path in paths for module in imported(path.read_text("utf-8"))}
    return found - sys.stdlib_module_names - {"substrate_client"}


def test_an_adapter_of_the_client_needs_its_own_framework_alone() -> None:
    """Each framework is an extra of the client, and has a lock for its test."""
    settings = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))
    extras = settings["project"]["optional-dependencies"]
    assert {path.stem for path in (CLIENT / "locks").iterdir()} == set(extras)
    adapters = {path.stem: path for path in (CLIENT / "substrate_client" / "adapters").glob("*.py")}
    own = {"openai-agents": {"agents"}, "google-adk": {"google"}}
    for extra in extras:
        name = extra.replace("-", "_")
        paths = [path for stem, path in adapters.items() if stem.startswith(name)]
        assert foreign_to_client(paths) - {"typing_extensions"} == own.get(extra, {name})
        for path in paths:
            adapters.pop(path.stem)
    assert foreign_to_client(list(adapters.values())) == set()


def test_the_client_and_the_service_have_one_version() -> None:
    version = tomllib.loads((CLIENT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert version == PROJECT["version"]
    assert f"substrate-client=={version}" in PROJECT["dependencies"]
