"""Every query of the store in one file, formatted for reading: `python -m scripts.queries` writes it.

A test compares the file with the code, so a change of a query shows in the diff of the file.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final

import substrate
from orchestration import features
from orchestration.features.registry import FEATURES
from substrate.cypher import schema, transaction
from substrate.cypher.query import Query
from substrate.store.import_rows import put_lone

FILE: Final = Path(__file__).parents[1] / "tests" / "golden" / "queries.cypher"
WIDTH: Final = 110
INDENT: Final = "  "
HEAD: Final = """\
// Every query of the store, by name, as it is sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `:params` lists the parameters of the query below it.
"""
_WITHOUT_QUERIES: Final = ("substrate.inference", "substrate.engine", "substrate.backup")
_EXAMPLE_DIMENSION: Final = 384
_TRANSACTION_LISTS: Final = frozenset(
    "held handles new past closing carried moved touched withdrawn restored tagged links".split()
)

_CLAUSES: Final = (
    "OPTIONAL MATCH", "MATCH", "WHERE", "WITH", "UNWIND", "RETURN", "ORDER BY", "LIMIT", "SKIP", "UNION ALL",
    "CREATE FULLTEXT INDEX", "CREATE INDEX", "DROP VECTOR INDEX", "OPTIONS", "CREATE", "UNION",
    "CREATE VECTOR INDEX", "MERGE", "ON CREATE SET", "ON MATCH SET", "SET", "REMOVE", "DELETE", "FOREACH",
    "CALL", "YIELD",
)  # fmt: skip
_TOKEN: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|`[^`]*`|"
    + "|".join(rf"\b{clause}\b" for clause in _CLAUSES)
    + r"|\b(?:AND|OR)\b|[\[\](){},|]|\s+|\w+|."
)
_OPENING, _CLOSING = "([{", ")]}"
BLOCK: Final = "block"


def collect() -> list[Query]:
    """Every query of the store, sorted by name; of those built on request, an example."""
    queries = {*_built_queries()}
    stores = pkgutil.walk_packages(substrate.__path__, "substrate.")
    for module in chain(stores, pkgutil.walk_packages(features.__path__, "orchestration.features.")):
        if not module.name.startswith(_WITHOUT_QUERIES):
            for value in vars(import_module(module.name)).values():
                queries.update(_queries_in(value))
    return sorted(queries)


def _built_queries() -> Iterator[Query]:
    yield from schema.vector_indexes(_EXAMPLE_DIMENSION)
    yield from schema.vector_indexes(_EXAMPLE_DIMENSION, schema.OTHER_TRACES)
    yield transaction.transaction(_TRANSACTION_LISTS)
    yield from (put_lone(kept.label) for kept in FEATURES.kept if kept.is_carried)


def _queries_in(value: Any) -> Iterator[Query]:
    if isinstance(value, Query):
        yield value
    elif isinstance(value, dict):
        yield from _queries_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _queries_in(item)


def format_query(text: str) -> str:
    """The text with one clause a line; long clauses are broken at commas, AND and OR. Changes white space only."""
    return "\n".join(line for clause in split_clauses(text) for line in wrap(clause))


def split_clauses(text: str) -> list[str]:
    """The clauses of a text, indented by the depth of the CALL and FOREACH that they are in."""
    lines: list[str] = []
    line = ""
    stack: list[str] = []
    for token in _TOKEN.findall(" ".join(text.split())):
        depth = stack.count(BLOCK)
        if token in _CLAUSES and len(stack) == depth:
            lines.append(line)
            line = INDENT * depth
        if token in _OPENING:
            stack.append(_kind_of_bracket(token, line))
        elif token in _CLOSING and stack.pop() == BLOCK:
            lines.append(line)
            line = INDENT * stack.count(BLOCK)
        line += token
        if token == "|" and stack[-1:] == ["FOREACH"]:
            stack[-1] = BLOCK
    return [line.rstrip() for line in (*lines, line) if line.strip()]


def _kind_of_bracket(token: str, before: str) -> str:
    """`BLOCK` for the brace of a subquery, FOREACH for its parenthesis, else the bracket itself."""
    if token == "{" and before.rstrip().endswith("CALL"):
        return BLOCK
    return "FOREACH" if token == "(" and before.rstrip().endswith("FOREACH") else token


def wrap(clause: str) -> list[str]:
    """The clause on lines of at most `WIDTH` characters, broken at commas, AND and OR inside few brackets."""
    for depth in range(3):
        lines = _wrap_at(clause, depth)
        if max(map(len, lines)) <= WIDTH:
            break
    return lines


def _wrap_at(clause: str, depth: int) -> list[str]:
    indent = clause[: len(clause) - len(clause.lstrip())]
    lines: list[str] = []
    line = indent
    for part in _breakable_parts(clause.strip(), depth):
        if len(line) + len(part) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent + INDENT * 2
            part = part.lstrip()
        line += part
    return [*lines, line.rstrip()]


def _breakable_parts(clause: str, deepest: int) -> Iterator[str]:
    part = ""
    depth = 0
    for token in _TOKEN.findall(clause):
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth <= deepest and token in ("AND", "OR"):
            yield part
            part = ""
        part += token
        if depth <= deepest and token == ",":
            yield part
            part = ""
    yield part


def parameters_of(text: str) -> list[str]:
    return sorted(set(re.findall(r"\$(\w+)", text)))


def render(queries: Iterable[Query]) -> str:
    """The text of the file."""
    blocks = [HEAD]
    for query in queries:
        text = query.for_generation(0)
        names = ", ".join(f"${name}" for name in parameters_of(text))
        params = f"// :params {names}\n" if names else ""
        blocks.append(f"// {query.name}\n{params}{format_query(text)};\n")
    return "\n".join(blocks)


def main() -> None:
    queries = collect()
    FILE.write_text(render(queries), "utf-8")
    sys.stdout.write(f"{len(queries)} queries in {FILE}\n")


if __name__ == "__main__":
    main()
