"""The examples in docs: blocks run in order, and each prints what the page shows below it."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import ADMIN_KEY, Service
from tests.docs_pages import ROOT, RUN, Block, blocks

SHOWN = ("text", "json")
ANYTHING = "…"
FRACTION = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])")
OPEN_SERVICE = """
curl() {
    command curl -H "Authorization: Bearer $SUBSTRATE_API_KEY" "${@/localhost:8000/${SUBSTRATE_BASE_URL#http://}}"
}
"""
"""The README calls a service that was started with `--open` on the usual port; the one of the test needs a key."""
BESIDE_THE_SERVICE = 'substrate() { env -u SUBSTRATE_BASE_URL substrate "$@"; }'
"""A reader calls the command where no service is named: it opens the store itself, which the service serves."""
NOTHING_YET = "#"


class Reader:
    """Follows a page with one shell and one Python, from its first block to its last."""

    def __init__(self, home: Path, service: Service) -> None:
        self.home = home
        self.names: dict[str, Any] = {}
        self.exported = home / "exported"
        given = {
            "PATH": f"{Path(sys.executable).parent}:{os.defpath}",
            "PYTHONPATH": str(ROOT),
            "SUBSTRATE_DATA": str(service.data),
            "SUBSTRATE_BASE_URL": service.url,
            "SUBSTRATE_API_KEY": ADMIN_KEY,
            "COLUMNS": "100",
        }
        self.exported.write_text("".join(f"export {name}='{value}'\n" for name, value in given.items()))

    def run(self, block: Block) -> str:
        return self.shell(block.text) if block.language == "bash" else self.python(block.text)

    def shell(self, text: str) -> str:
        script = f"source {self.exported}\n{BESIDE_THE_SERVICE}\n{text}\nexport -p > {self.exported}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, text: str) -> str:
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(text, "docs", "exec"), self.names)
        return out.getvalue()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service for this file alone, so that its citizens are new."""
    running = Service(tmp_path_factory.mktemp("docs"))
    yield running
    running.stop()


def as_shown(shown: str, out: str) -> bool:
    """Whether the output is what the page shows; `…` matches any text.

    Embeddings differ a little between processors, and so do fractions that are made of them: by up to a tenth.
    """
    parts = [FRACTION.split(part.strip()) for part in squeezed(shown).split(ANYTHING)]
    pattern = ".*?".join(r"(\d+\.\d+)".join(map(re.escape, texts)) for texts in parts)
    matched = re.fullmatch(pattern, squeezed(out), re.DOTALL)
    if matched is None:
        return False
    wanted = map(float, FRACTION.findall(squeezed(shown)))
    return [float(found) for found in matched.groups()] == [
        pytest.approx(one, rel=0.1, abs=0.01) for one in wanted
    ]


def squeezed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())


@pytest.mark.parametrize("page", RUN)
def test_a_page_shows_what_comes_out(
    page: str, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(tmp_path, service)
    monkeypatch.setenv("SUBSTRATE_BASE_URL", service.url)
    monkeypatch.setenv("SUBSTRATE_API_KEY", ADMIN_KEY)
    for block, below in pairwise([*blocks(ROOT / "docs" / page), Block(NOTHING_YET, "")]):
        if block.language in ("bash", "python"):
            out = reader.run(block)
            if below.language in SHOWN:
                assert as_shown(below.text, out), f"{block.text}\n--- shown\n{below.text}\n--- came out\n{out}"


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Each command behind a `$ `, over as many lines as its quotes are open, and what is shown below it."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", text, re.MULTILINE | re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = step.splitlines()
            end = next(number for number in range(1, len(lines) + 1) if whole("\n".join(lines[:number])))
            yield "\n".join(lines[:end]), "\n".join(lines[end:])


def whole(command: str) -> bool:
    try:
        shlex.split(command)
    except ValueError:
        return False
    return True


def test_the_readme_shows_what_comes_out(service: Service, tmp_path: Path) -> None:
    reader = Reader(tmp_path, service)
    shown = list(sessions((ROOT / "README.md").read_text("utf-8")))
    assert shown
    for command, below in shown:
        out = reader.shell(f"{OPEN_SERVICE}{command}")
        assert "/problems/" not in out, out
        assert not below or as_shown(below, out), f"{command}\n--- shown\n{below}\n--- came out\n{out}"
