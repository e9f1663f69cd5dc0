"""The deletion test: each feature can be taken out of the tree. `python -m scripts.deletion` (`make deletion`).

For each feature a copy of the tree is made without its folder, its face, its routes, its tests and its line in the
list of features, and without the features that need it. What the scripts write of the operations is written anew.
The copy must pass types and contracts; for one feature a run, the next one each day, also the tests of all other
features. `--feature NAME` takes one alone; `--no-tests` leaves the tests out.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from orchestration.features.registry import FEATURES
from scripts.walks import PACKAGES, ROOT

FOLDER: Final = Path("orchestration/features")
REGISTRY: Final = FOLDER / "registry.py"
A_DAY: Final = 86_400


def take_out(feature: str, root: Path) -> None:
    """Remove a feature, and those that need it, from the tree at `root`, and each line that lists it."""
    for other in FEATURES.all:
        if feature in other.needs:
            take_out(other.name, root)
    shutil.rmtree(root / FOLDER / feature)
    shutil.rmtree(root / "tests/features" / feature, ignore_errors=True)
    named = re.compile(rf"\bfeatures(?:\.| import .*\b){feature}\b")
    for test in (root / "tests/features").rglob("test_*.py"):
        if named.search(test.read_text("utf-8")):  # a test of two features goes with either
            test.unlink()
    for room in ("api/faces", "api/routes"):
        (root / room / f"{feature}.py").unlink(missing_ok=True)
    listed = re.compile(rf'^ *"{feature}": \[.*$', re.MULTILINE)
    _drop_lines(root / REGISTRY, listed)
    _drop_lines(root / "pyproject.toml", re.compile(rf'^ *"orchestration\.features\.{feature}\b.*$', re.MULTILINE))


def _drop_lines(file: Path, lines: re.Pattern[str]) -> None:
    file.write_text(re.sub(r"\n{4,}", "\n\n\n", lines.sub("", file.read_text("utf-8"))), "utf-8")


def copy_tree(target: Path) -> None:
    """Copy what git has of the tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def faults_without(feature: str, tree: Path, *, cache: Path, tests: bool) -> Iterator[str]:
    """What fails in the tree, from which the feature was taken out; the end of its output."""
    python = sys.executable
    checks: list[Sequence[str]] = [
        [python, "-m", "mypy", "--cache-dir", str(cache), *PACKAGES],
        [str(Path(python).with_name("lint-imports")), "--no-cache"],
    ]
    if (tree / "scripts/client.py").is_file():
        checks.insert(0, [python, "-m", "scripts.client"])
    if tests:
        checks.append([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/features"])
    for check in checks:
        done = subprocess.run(check, cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{feature}: {' '.join(check[1:4])}\n{(done.stdout + done.stderr)[-2000:]}"


def main(arguments: Sequence[str] | None = None) -> int:
    names = sorted(feature.name for feature in FEATURES.all)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feature", choices=names)
    parser.add_argument("--no-tests", action="store_true")
    chosen = parser.parse_args(arguments)
    names = [chosen.feature] if chosen.feature else names
    tested = names[int(time.time() // A_DAY) % len(names)]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        tree, whole, cache = Path(folder) / "tree", Path(folder) / "whole", Path(folder) / "types"
        copy_tree(tree)
        # Types are checked of the whole tree first: then only what a feature touches has to be checked again.
        subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(whole), *PACKAGES], cwd=tree, check=False)
        for name in names:
            shutil.rmtree(tree)
            shutil.rmtree(cache, ignore_errors=True)
            copy_tree(tree)
            shutil.copytree(whole, cache)
            take_out(name, tree)
            found = list(faults_without(name, tree, cache=cache, tests=name == tested and not chosen.no_tests))
            faults += len(found)
            sys.stdout.write(("\n".join(found) or f"{name}: can be taken out") + "\n")
            sys.stdout.flush()
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
