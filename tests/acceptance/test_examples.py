"""The examples run as they stand, each against an empty citizen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import ADMIN_KEY, Service

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_an_example_says_what_it_promises(service: Service, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"SUBSTRATE_BASE_URL": service.url, "SUBSTRATE_API_KEY": ADMIN_KEY, "PYTHONPATH": str(ROOT)}
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "tea with milk" in done.stdout
