"""The shape of the packages, held by a file of limits that only fall: `python -m scripts.shape` lowers them.

The tree may not exceed `tests/golden/shape.json`, and no number there may stand higher than in any version that
`git log` shows: nobody can raise a limit in silence. The command lowers each limit to what the tree measures. It
raises none, and prints what exceeds.

- `walks`: how long three requests are; see `scripts.walks`.
- `comprehensions` of a package, and their share of 1,000 lines. `helpers`: private functions at the top of its
  modules, and their share of the public functions and classes there. A package is above when number *and* share
  are: a share also rises where the rest shrinks, and that is no fault.
- `entries` at the top of a package.
- `doubled`: names of modules, and of classes at the top of one, that stand more than twice. Others may not.
- `outside_imports` of features: measured from the day on which the folder `orchestration/features` exists.
- `multiplied`: tests of `tests/unit/project` that run once for each thing of a list made from the tree.
- `base`: modules (without `__init__.py`) and lines (with blank ones and docstrings) of all packages. The command
  leaves it as it is: what one takes away, another may use. More than that needs an entry in `additions`, written
  by hand: its `name`, `why`, the dotted `module` or folder where it stands, its `lines`, and how many `modules` it
  makes (0 for lines in a module of before). They may have `most_added_lines` all together. Those of
  later work name it as their `round`: an entry of `rounds`, with its `name`, `why` and own `most_added_lines`.
- `rooms`: modules and lines of each room when the file was written. No limit: it shows where the packages grew.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from scripts.shape_lint import COMPREHENSIONS, FUNCTIONS
from scripts.walks import PACKAGES, ROOT, counted, walks

FILE: Final = "tests/golden/shape.json"
FEATURES: Final = "orchestration/features/"
TOOLS: Final = "tests/unit/project"
MOST_ALIKE: Final = 2
_OUTSIDE: Final = re.compile(r"^\s*(?:from|import) orchestration\.features(?:\.| import [(a-z])", re.MULTILINE)
_MULTIPLIED: Final = re.compile(r"mark\.parametrize\(\s*(?:\"\w+\"|\([^)]*\)),\s*[^\s\[(]")

type Shape = dict[str, Any]
type Numbers = dict[str, float]


def measure(root: Path = ROOT) -> Shape:
    """The shape of the packages below `root`, without the walks and with no addition."""
    files = [file for package in PACKAGES for file in sorted((root / package).rglob("*.py"))]
    texts = {file.relative_to(root).as_posix(): file.read_text("utf-8") for file in files}
    trees = {file: ast.parse(text) for file, text in texts.items()}
    found: Numbers = {}
    for package in PACKAGES:
        inside = [file for file in texts if file.startswith(f"{package}/")]
        lines = _size({file: texts[file] for file in inside})["lines"]
        count = sum(map(_comprehensions, map(trees.__getitem__, inside)))
        found |= _share(f"comprehensions/{package}", count, lines / 1000)
        found |= _helpers(package, [node for file in inside for node in trees[file].body])
        found[f"entries/{package}"] = len({file.split("/")[1] for file in inside} - {"__init__.py"})
    alike = Counter(noun for file, tree in trees.items() for noun in _nouns(file, tree))
    found |= {f"doubled/{noun}": count for noun, count in sorted(alike.items()) if count > MOST_ALIKE}
    if (root / FEATURES).is_dir():
        outside = [text for file, text in texts.items() if not file.startswith(FEATURES)]
        found["outside_imports"] = sum(len(_OUTSIDE.findall(text)) for text in outside)
    tools = [file.read_text("utf-8") for file in (root / TOOLS).rglob("*.py")]
    found["multiplied"] = sum(len(_MULTIPLIED.findall(text)) for text in tools)
    rooms = groupby(sorted(texts, key=_room), key=_room)
    sizes = {room: _size({file: texts[file] for file in room_files}) for room, room_files in rooms}
    shown = {room: f"{size['modules']} modules, {size['lines']} lines" for room, size in sizes.items()}
    return {
        "limits": found,
        "base": _size(texts),
        "most_added_lines": 600,
        "rounds": [],
        "additions": [],
        "rooms": shown,
    }


def _size(texts: Mapping[str, str]) -> dict[str, int]:
    modules = sum(not file.endswith("__init__.py") for file in texts)
    return {"modules": modules, "lines": sum(len(text.splitlines()) for text in texts.values())}


def _share(name: str, number: int, whole: float) -> Numbers:
    return {f"{name}/number": number, f"{name}/share": round(number / whole, 3) if whole else 0}


def _comprehensions(tree: ast.Module) -> int:
    return sum(isinstance(node, COMPREHENSIONS) for node in ast.walk(tree))


def _helpers(package: str, top: list[ast.stmt]) -> Numbers:
    names = [node.name for node in top if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    private = [node.name for node in top if isinstance(node, FUNCTIONS) and node.name.startswith("_")]
    return _share(f"helpers/{package}", len(private), sum(not name.startswith("_") for name in names))


def _room(file: str) -> str:
    return "/".join(file.split("/")[:-1][:2])


def _nouns(file: str, tree: ast.Module) -> Iterator[str]:
    """The module, unless every package or feature has one of this name, and the classes at its top."""
    if not Path(file).stem.startswith("__") and not file.startswith(FEATURES):
        yield f"module {Path(file).stem}"
    yield from (f"class {node.name}" for node in tree.body if isinstance(node, ast.ClassDef))


def raised(now: Shape, before: Shape) -> list[str]:
    """The numbers that stand higher than in an earlier version of the file, and the limits that are gone."""
    new, old = _numbers(now), _numbers(before)
    gone = [path for path in old if path not in new and not path.startswith(("doubled/", "additions/"))]
    higher = [path for path, value in new.items() if value > _most(old, path, value)]
    return [f"{path}: {new.get(path, 'gone')}, was {_most(old, path, 0)}" for path in (*gone, *higher)]


def _numbers(file: Shape) -> Numbers:
    """Every number of a file that only falls, by its path."""
    base = {f"base/{part}": size for part, size in file["base"].items()}
    added = {f"additions/{each['name']}/{part}": each[part] for each in file["additions"] for part in file["base"]}
    rounds = {f"rounds/{each['name']}": each["most_added_lines"] for each in file.get("rounds", [])}
    return {**file["limits"], **base, **added, **rounds, "most_added_lines": file["most_added_lines"]}


def _most(known: Numbers, path: str, otherwise: float) -> float:
    return known.get(path, MOST_ALIKE if path.startswith("doubled/") else otherwise)


def exceeded(file: Shape, measured: Shape) -> list[str]:
    """What is above its limit in the tree; of what was not measured, nothing."""
    found, limits = measured["limits"], file["limits"]
    above = {path for path, value in found.items() if value > _most(limits, path, -1)}
    shares = {path for path in above if path.endswith("/share")}
    harmless = {
        path for path in above if path.endswith("/number") and path.replace("number", "share") not in shares
    }
    faults = [
        f"{path}: {found[path]}, at most {_most(limits, path, -1)}" for path in sorted(above - shares - harmless)
    ]
    for part, size in measured.get("base", {}).items():
        most = file["base"][part] + sum(each[part] for each in file["additions"])
        faults += [f"{part}: {size}, at most {most}"] if size > most else []
    return faults


def unfounded(file: Shape, root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the additions: too many lines, no reason, or less to be found than they name."""
    yield from _beyond_their_round(file)
    if len({each["name"] for each in file["additions"]}) < len(file["additions"]):
        yield "two additions have one name"
    for each in file["additions"]:
        place = root / each["module"].replace(".", "/")
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
        size = _size({path.as_posix(): path.read_text("utf-8") for path in files if path.is_file()})
        if not each["module"].startswith(PACKAGES) or any(not 0 <= each[part] <= size[part] for part in size):
            yield f"{each['name']}: {each['module']} has not as much as it names"
        if not each["why"].strip():
            yield f"{each['name']}: say why"


def _beyond_their_round(file: Shape) -> Iterator[str]:
    most = {None: file["most_added_lines"]} | {each["name"]: each["most_added_lines"] for each in file["rounds"]}
    used = Counter[str | None]()
    for each in file["additions"]:
        used[each.get("round")] += each["lines"]
    for name, lines in used.items():
        if lines > most.get(name, -1):
            yield f"the additions{f' of {name}' if name else ''} have more than {most.get(name, 0)} lines"
    for each in file["rounds"]:
        if not each["why"].strip():
            yield f"{each['name']}: say why"


def lowered(file: Shape, measured: Shape) -> Shape:
    """The file with each limit as low as the tree allows; what was never measured before is new there."""
    least = {path: min(value, _most(file["limits"], path, value)) for path, value in measured["limits"].items()}
    limits = {path: most for path, most in least.items() if most > MOST_ALIKE or not path.startswith("doubled/")}
    return {**file, "limits": limits, "rooms": measured["rooms"]}


def earlier(root: Path = ROOT) -> list[Shape] | None:
    """Every version of the file in the history; None where there is no history, or only a part of it."""
    if shutil.which("git") is None or _git(root, "rev-parse", "--is-shallow-repository") != "false":
        return None
    log = _git(root, "log", "--full-history", "-m", "--diff-filter=AM", "--format=%H", "--", FILE)
    return [json.loads(_git(root, "show", f"{commit}:./{FILE}")) for commit in dict.fromkeys(log.split())]


def _git(root: Path, *arguments: str) -> str:
    """What git says; nothing where it fails."""
    return subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
    ).stdout.strip()


def main() -> int:
    """Lower the file to what the tree measures. Returns 1 when the tree exceeds it."""
    measured = measure()
    for name, walk in asyncio.run(walks()).items():
        measured["limits"] |= {f"walks/{name}/{part}": count for part, count in counted(walk)._asdict().items()}
    path = ROOT / FILE
    file = json.loads(path.read_text("utf-8")) if path.exists() else measured
    path.write_text(json.dumps(lowered(file, measured), indent=2) + "\n", "utf-8")
    faults = [*exceeded(file, measured), *unfounded(file)]
    print(*faults, sep="\n", end="\n" if faults else "")  # noqa: T201  # this is its output
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
