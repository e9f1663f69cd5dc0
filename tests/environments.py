"""Environments that tests make: a program without what this environment knows, Pythons, and uv with an index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs_pages import ROOT


def run(*words: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A program in a directory, without what this environment knows of Python."""
    own = ("PYTHON", "VIRTUAL_ENV", "SUBSTRATE", "FALKORDB", "OPENAI", "COVERAGE")
    env = {name: value for name, value in os.environ.items() if not name.startswith(own)} | variables  # noqa: TID251
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def find_python(version: str) -> str:
    """The interpreter of this version. Skips where there is none."""
    home = Path.home()
    on_path = shutil.which(f"python{version}")
    found = [*home.glob(f".pyenv/versions/{version}.*/bin/python"), *([Path(on_path)] if on_path else [])]
    check = f"import sys; assert sys.version.startswith('{version}.')"
    for candidate in found:
        if run(candidate, "-c", check, cwd=home).returncode == 0:
            return str(candidate)
    pytest.skip(f"no Python {version} here")


def find_uv(empty: Path) -> str:
    """uv, where it reaches a package index, which it asks from an empty folder. Skips elsewhere."""
    found = run("scripts/bootstrap.sh", "uv", cwd=ROOT).stdout.strip()
    if not found:
        pytest.skip("no uv here")
    path = str(ROOT / found) if found.startswith(".") else found
    run(path, "venv", "--quiet", "--python", sys.executable, "index", cwd=empty)
    words = ("install", "--quiet", "--dry-run", "--refresh-package", "six", "--python", "index", "six")
    asked = run(path, "pip", *words, cwd=empty)
    if asked.returncode:
        pytest.skip(f"no package index here: {asked.stderr.strip()[-200:]}")
    return path
