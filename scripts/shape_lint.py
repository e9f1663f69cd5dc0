"""Checks the shape of code that a linter does not know: comprehensions and parameters that are hard to read.

`python -m scripts.shape_lint [FILE...]` prints one line for each finding and ends with 1 when there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("clients/python/substrate_client", "schemas", "substrate", "orchestration", "api")
MOST_POSITIONAL: Final = 4

type Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_faults(source: str) -> Iterator[tuple[int, str]]:
    """The line and the fault of each finding in a module's source, in no order."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, COMPREHENSIONS):
            yield from _check_comprehension(node)
        elif isinstance(node, FUNCTIONS):
            yield from _check_parameters(node)


def _check_comprehension(node: Comprehension) -> Iterator[tuple[int, str]]:
    inner = (part for child in ast.iter_child_nodes(node) for part in ast.walk(child))
    if any(isinstance(part, COMPREHENSIONS) for part in inner):
        yield node.lineno, "a comprehension inside a comprehension; name the inner one"
    if len(node.generators) > 1 and any(generator.ifs for generator in node.generators):
        yield node.lineno, "two `for`s with a condition in one comprehension; write a loop or name a part"


def _check_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[int, str]]:
    positional = [*node.args.posonlyargs, *node.args.args]
    counted = [parameter for parameter in positional if parameter.arg not in ("self", "cls")]
    if len(counted) > MOST_POSITIONAL and not node.decorator_list:
        yield node.lineno, f"`{node.name}` has {len(counted)} positional parameters; {MOST_POSITIONAL} at most"
    for parameter in (*positional, *node.args.kwonlyargs):
        if parameter.annotation is not None and _is_unlike_tuple(parameter.annotation):
            yield (
                parameter.lineno,
                f"parameter `{parameter.arg}` is a tuple of unlike things; give the parts names",
            )


def _is_unlike_tuple(annotation: ast.expr) -> bool:
    if not (isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "tuple"):
        return False
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    return len({ast.unparse(part) for part in parts if ast.unparse(part) != "..."}) > 1


def main(names: list[str]) -> int:
    """Check the named files, or all of the packages. Returns the exit code."""
    files = [Path(name) for name in names] or [
        file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))
    ]
    count = 0
    for file in files:
        for line, fault in sorted(find_faults(file.read_text("utf-8"))):
            count += 1
            print(f"{file}:{line}: {fault}")  # noqa: T201  # this is its output
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
