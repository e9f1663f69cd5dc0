"""Names: a class or a function at the top of a module is called by a noun or a verb, never by a participle alone.

"Told", "kept" and their like do not say of what they speak. `Kept`, what a feature keeps beside the records, is a
term of the glossary; `Told`, `Reached` and `Shown` are names of the OpenAPI document.
"""

from __future__ import annotations

import ast
from pathlib import Path

from scripts.walks import PACKAGES, ROOT

PARTICIPLES = frozenset(
    ("told", "kept", "shown", "given", "found", "asked", "heard", "held", "listed", "said", "taken", "made",
     "named", "seen", "known", "weighed", "drawn", "sent", "planned", "reached", "stated")
)  # fmt: skip
TERMS = frozenset(("Kept", "Told", "Reached", "Shown"))


def names_of(file: Path) -> list[str]:
    tree = ast.parse(file.read_text("utf-8"))
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [node.name for node in tree.body if isinstance(node, kinds)]


def test_no_class_or_function_is_named_by_a_participle_alone() -> None:
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    assert len(files) > 300
    named = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for name in names_of(file)
        if name.strip("_").lower() in PARTICIPLES and name not in TERMS
    }
    assert named == set()
