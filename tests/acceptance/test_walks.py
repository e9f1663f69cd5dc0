"""The walks that the architecture page tells are the walks that requests take, and they grow no longer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from ast import literal_eval

import pytest

from scripts.shape import FILE, exceeded
from tests.docs_pages import ROOT

HEADINGS = {"question": "### One question", "waking": "### One waking", "write": "### One write"}
STEP = re.compile(r"^\d+\. `([\w/]+\.py)` `([\w.]+)`", re.MULTILINE)
COUNTS = re.compile(r"^(\w+): (\{.*\})$", re.MULTILINE)
TRACED = re.compile(r"^\d+\. (\S+) ([\w.]+)\(", re.MULTILINE)


def page_steps(walk: str) -> list[tuple[str, str]]:
    """The steps of a walk as the page has them: file and function."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    _, _, after = page.partition(HEADINGS[walk])
    return STEP.findall(re.split(r"^##", after, maxsplit=1, flags=re.MULTILINE)[0])


@pytest.fixture(scope="module")
def output() -> str:
    """What `scripts.walks` prints of each walk, as a service takes it: its counts and its steps."""
    program = [sys.executable, "-m", "scripts.walks", *HEADINGS]
    return subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def traced_steps(walk: str, output: str) -> list[tuple[str, str]]:
    """The steps of a walk as a service takes it: file and function."""
    parts = re.split(r"^(\w+): \{.*\}$", output, flags=re.MULTILINE)
    return TRACED.findall(parts[parts.index(walk) + 1])


@pytest.mark.parametrize("walk", HEADINGS)
def test_the_steps_of_the_page_are_taken_in_their_order(walk: str, output: str) -> None:
    steps, traced = page_steps(walk), traced_steps(walk, output)
    assert len(steps) >= 10
    assert [step for step in steps if step not in traced] == []
    places = [traced.index(step) for step in steps]
    assert places == sorted(places)


@pytest.mark.parametrize("walk", HEADINGS)
def test_no_walk_is_longer_than_its_limits(walk: str, output: str) -> None:
    counts = dict(COUNTS.findall(output))
    lengths = {f"walks/{walk}/{part}": count for part, count in literal_eval(counts[walk]).items()}
    assert len(lengths) == 3
    assert exceeded(json.loads((ROOT / FILE).read_text("utf-8")), {"limits": lengths}) == []
