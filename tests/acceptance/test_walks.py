"""The walks that the architecture page tells are the walks that requests take."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.docs_pages import ROOT

HEADINGS = {"question": "### One question", "waking": "### One waking", "write": "### One write"}
STEP = re.compile(r"^\d+\. `([\w/]+\.py)` `([\w.]+)`", re.MULTILINE)
TRACED = re.compile(r"^\d+\. (\S+) ([\w.]+)\(", re.MULTILINE)


def page_steps(walk: str) -> list[tuple[str, str]]:
    """The steps of a walk as the page has them: file and function."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    _, _, after = page.partition(HEADINGS[walk])
    return STEP.findall(re.split(r"^##", after, maxsplit=1, flags=re.MULTILINE)[0])


type Walks = dict[str, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def traces() -> Walks:
    """The steps of each walk as a service takes it."""
    program = [sys.executable, "-m", "scripts.walks", *HEADINGS]
    output = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^(\w+): \{.*\}$", output, flags=re.MULTILINE)
    return {name: TRACED.findall(steps) for name, steps in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("walk", HEADINGS)
def test_the_steps_of_the_page_are_taken_in_their_order(
    walk: str, traces: dict[str, list[tuple[str, str]]]
) -> None:
    steps = page_steps(walk)
    assert len(steps) >= 10
    assert [step for step in steps if step not in traces[walk]] == []
    places = [traces[walk].index(step) for step in steps]
    assert places == sorted(places)
