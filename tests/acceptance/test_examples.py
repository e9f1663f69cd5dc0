"""The examples run as they stand, each against an empty citizen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import ADMIN_KEY, Service

ROOT = Path(__file__).parents[2]


EXAMPLES = ROOT / "examples"
ALSO_SAID = {
    "mind/s6_cycle.py": (
        "decides  broad:", "decides  similar:", "decides  state:", "decides  nothing:", "  learns   I believed:",
        "  resolved ", "  energy   0.50 → ", "  learned   1, resolved 3",
    ),
    "mind/cycle.py": (
        "; asks once more", "; left out", "pain: ", "block     write to the principal", "overridden",
        "sleeps    on", "again: Imagined: to send Mira a long plan went badly before",
        "Send Mira one small step, never a long plan. (warn; held 3, failed 0",
        "without asking Mira first. (block; held 1, failed 0, blocked 3, overridden 1)",
    ),
}  # fmt: skip
"""What an example tells of beside the tea: a loop of the mind, each thing that it is there for."""


@pytest.mark.parametrize("name", sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py")))
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
    for words in ("tea with milk", *ALSO_SAID.get(name, ())):
        assert words in done.stdout
