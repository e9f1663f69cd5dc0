"""The fenced blocks of the pages in docs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
RUN = (
    "quickstart.md",
    "concepts.md",
    "time.md",
    "recipes.md",
    "formats.md",
    "offers.md",
    "situation.md",
    "upkeep.md",
    "loops.md",
)
"""The pages whose blocks `tests/acceptance/test_docs_examples.py` runs."""
_FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: `bash` and `python` are run, `text` and `json` are shown, `sh` is for the reader alone."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that name a language."""
    return [Block(*parts) for parts in _FENCED.findall(page.read_text("utf-8"))]
