"""The documentation: the site builds without a warning, and the names and defaults on its pages are true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.cli.program import COMMANDS, load_command
from api.client import Substrate
from api.mcp.tools import TOOLS
from scripts.reference import PAGES
from scripts.reference.configuration import GROUPS, default_of, names_of
from scripts.reference.document import openapi
from tests.docs_pages import ROOT, RUN, blocks
from tests.unit.project.test_deploy import read_by_settings

WRITTEN = {
    path.relative_to(ROOT): path.read_text("utf-8")
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"))
}
README = WRITTEN[Path("README.md")]
FOREIGN_LINK = re.compile(r"<(?:script|link|img|iframe)[^>]*? (?:src|href)=[\"']?(?:https?:)?//[^\"'> ]+")
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w.-]+\.py)`")
PROGRAM = re.compile(r"python -m ((?:api|benchmarks|scripts|tests)[\w.]*)")
IMPORT = re.compile(r"from ([a-z_.]+) import (\w+(?:, \w+)*)")
ROOMS = ("schemas", "substrate", "orchestration", "api", "scripts", "benchmarks", "tests", "examples", "deploy")
MADE_BY_READER = {"deploy/.env"}
SOURCES = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
ROW = re.compile(r"^\| (`[^|]*`) \| [^|]* \| ([^|]*) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a broken link, an unknown anchor or a page without a place is an error."""
    target = tmp_path_factory.mktemp("site")
    program = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return target


def test_the_site_loads_nothing_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(PAGES)
    assert [link for page in pages for link in FOREIGN_LINK.findall(page.read_text("utf-8"))] == []


def test_a_link_of_a_written_page_leads_to_a_file_that_is_there_without_the_site() -> None:
    links = [
        (page, target)
        for page, text in WRITTEN.items()
        for target in re.findall(r"\]\((?!https?://|mailto:|#)([^)#\s]+)", text)
    ]
    assert [link for link in links if not (ROOT / link[0].parent / link[1]).exists()] == []


def test_the_reference_names_every_route_tool_command_method_and_setting() -> None:
    made = {name: page() for name, page in PAGES.items()}
    routes = [f"### {m.upper()} {path}\n" for path, methods in openapi()["paths"].items() for m in methods]
    methods = [f"### {name}\n" for name in vars(Substrate) if name[0] != "_" and name not in ("embedded", "close")]
    assert [route for route in routes if route not in made["rest.md"]] == []
    assert [name for name in openapi()["components"]["schemas"] if f"## {name}\n" not in made["values.md"]] == []
    assert [tool.name for tool in TOOLS if f"## {tool.name}\n" not in made["tools.md"]] == []
    assert [name for name in COMMANDS if f"## substrate {name}" not in made["cli.md"]] == []
    assert [method for method in methods if method not in made["python.md"]] == []
    assert [name for name in read_by_settings() if f"`{name}`" not in made["configuration.md"]] == []


def test_the_page_on_mcp_names_and_counts_the_tools_that_there_are() -> None:
    page = WRITTEN[Path("docs/mcp.md")]
    named = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert named == [tool.name for tool in sorted(TOOLS, key=lambda tool: tool.extra)]
    numbers = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
    counted = re.search(r"through (\w+) tools and one resource, and through (\w+) more", page)
    assert counted is not None
    assert [numbers.index(word) for word in counted.groups()] == [
        sum(tool.extra is extra for tool in TOOLS) for extra in (False, True)
    ]


def test_every_setting_says_what_it_is_for() -> None:
    fields = [(group, name, field) for _, group in GROUPS for name, field in group.model_fields.items()]
    assert [f"{group.__name__}.{name}" for group, name, field in fields if not field.description] == []


def test_the_settings_in_the_readme_have_their_names_and_defaults() -> None:
    defaults = {
        variable: default_of(field)
        for _, group in GROUPS
        for name, field in group.model_fields.items()
        for variable in names_of(name, field)
    }
    rows = ROW.findall(README[README.index("## Configuration") :])
    assert len(rows) > 5
    for variables, default in rows:
        named = re.findall(r"`([A-Z_]+)`", variables)
        assert set(named) <= defaults.keys()
        if re.fullmatch(r"(`[^`]*`(, )?)+", default):
            assert default.split(", ") == [defaults[name] for name in named if defaults[name]]


def options_of(command: Any) -> set[str]:
    """The options of a command, or of all commands of a group."""
    subcommands = getattr(command, "commands", {}).values()
    nested = [option for subcommand in subcommands for option in options_of(subcommand)]
    return {"--help", *nested, *(name for parameter in command.params for name in parameter.opts)}


def test_every_command_option_and_target_that_a_page_shows_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page, text in WRITTEN.items():
        shown = "\n".join(re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL)).replace("\\\n", "")
        for command, words in re.findall(
            r"(?:^|[`/ (])substrate (?:--data \S+ )?([a-z]+)([^#`\n]*)", shown, re.MULTILINE
        ):
            assert command in COMMANDS, page
            assert set(re.findall(r"(?<= )--?[a-z-]+", words)) <= options_of(load_command(command)), (
                page,
                command,
            )
        assert set(re.findall(r"(?:^|`)make ([a-z]+)", shown, re.MULTILINE)) <= targets, page


def test_a_block_that_claims_a_language_is_run_or_read_by_a_program() -> None:
    for page in WRITTEN:
        for language, text in blocks(ROOT / page):
            run = language in ("bash", "python")
            assert not run or page.name in RUN, f"no test runs the {language} of {page}"
            if language == "json" and page.name not in RUN:
                json.loads(text)
            if language == "yaml":
                yaml.safe_load(text)


def test_every_file_and_folder_that_a_page_names_exists() -> None:
    known = {path.name for path in SOURCES} | MADE_BY_READER
    for page, text in WRITTEN.items():
        named = {path for path in PATH.findall(text) if "/" not in path or path.split("/")[0] in ROOMS}
        there = (path for path in sorted(named - known) if "NAME" not in path)
        assert [path for path in there if not (ROOT / path).exists()] == [], page


def test_every_program_and_import_that_a_page_shows_exists() -> None:
    for page, text in WRITTEN.items():
        assert [name for name in PROGRAM.findall(text) if find_spec(name) is None] == [], page
        for module, names in IMPORT.findall(text):
            if module.split(".")[0] in ROOMS:
                assert set(names.split(", ")) <= vars(import_module(module)).keys(), (page, module)
