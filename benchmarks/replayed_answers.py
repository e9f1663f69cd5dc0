"""Whole answers of two checkouts to the same questions of the same store: `benchmarks.replay --base DIR`.

The base makes the store and asks there, this checkout asks on a copy (`benchmarks/sides/whole_answers.py`).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final

from benchmarks.sides.side import KEY

HERE: Final = Path(__file__).parent / "sides"
OURS: Final = Path(__file__).parents[1]
SETTINGS: Final = (
    f"PYTHONPATH={HERE}",
    f"SUBSTRATE_ADMIN_KEY={KEY}",
    "SUBSTRATE_EMBEDDING=word_vectors:WordVectors",
    "SUBSTRATE_RATE_LIMIT=off",
    "SUBSTRATE_UPKEEP=off",
    "SUBSTRATE_LOG_LEVEL=error",
    "SUBSTRATE_QUERY_TIMEOUT_MS=30000",
    "SUBSTRATE_STREAM_NOTES_DAYS=36500",
    "SUBSTRATE_STREAM_CACHE_MB=0",
)
SHOWN: Final = 5


def compare_with(base: Path, streams: int) -> int:
    """Print how many answers differ, and where the first of them do; 1 when any does."""
    with tempfile.TemporaryDirectory(prefix="substrate-replay-") as temporary:
        folder = Path(temporary)
        store, noted, copy = folder / "store", folder / "noted", folder / "copy"
        run(base, store, "fill", noted, streams)
        shutil.copytree(store, copy)
        run(base, store, "ask", noted, folder / "before")
        run(OURS, copy, "ask", noted, folder / "after")
        asked, differ = 0, 0
        for before, after in read_pairs(folder / "before", folder / "after"):
            asked += 1
            if before != after:
                differ += 1
                if differ <= SHOWN:
                    print(before["path"], json.dumps(before["body"]))
                    print(*(f"  {line}" for line in islice(differences(before, after), SHOWN)), sep="\n")
    print(f"answers: {asked}, of them streams asked again: {streams}\ndifferent: {differ}")
    return int(differ > 0)


def run(checkout: Path, data: Path, what: str, noted: Path, last: object) -> None:
    """Run the script of the sides with the code of a checkout. Raises CalledProcessError."""
    words = (HERE / "whole_answers.py", checkout, data, what, noted, last)
    settings = (*SETTINGS, f"SUBSTRATE_DATA={data}")
    subprocess.run(["env", *settings, sys.executable, *map(str, words)], cwd=checkout, check=True)


def read_pairs(before: Path, after: Path) -> Iterator[tuple[Any, Any]]:
    """The answers of two files, line by line."""
    with before.open() as one, after.open() as other:
        for line, beside in zip_longest(one, other, fillvalue="{}"):
            yield json.loads(line), json.loads(beside)


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Say where two values differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            yield from differences(one.get(name), other.get(name), f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (part, beside) in enumerate(zip(one, other, strict=True)):
            yield from differences(part, beside, f"{path}[{place}]")
    elif one != other:
        yield f"{path}: {str(one)[:100]} against {str(other)[:100]}"
