"""Every query of the store, formatted for reading, in a file a module: `python -m scripts.queries` writes them.

A test compares the files with the code, so a change of a query shows in their diff. What many queries share is
written once: a part of `substrate.cypher.fragments` stands in them by its name, as `<visible s>`, and its text is
in `fragments.cypher`; a query much like another of its file is written as the lines in which it differs.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import substrate
from orchestration import features
from orchestration.features.registry import FEATURES
from substrate.cypher import fragments, schema, transaction
from substrate.cypher.query import Query
from substrate.store.archive import put_lone

FOLDER: Final = Path(__file__).parents[1] / "tests" / "golden" / "queries"
WIDTH: Final = 110
INDENT: Final = "  "
MOST_CHANGED: Final = 0.5
"""A query is written as its difference to another where that has at most this share of its lines."""
HEAD: Final = """\
// The queries of `{module}`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.
"""
_SHARED: Final[Sequence[Callable[..., str]]] = (
    fragments.uncrowded_now, fragments.uncrowded_then, fragments.records_of, fragments.past_of,
    fragments.found_columns, fragments.node_columns,
    fragments.link_columns, fragments.felt, fragments.is_evidence, fragments.fits, fragments.tells,
    fragments.is_statement, fragments.visible, fragments.lasting,
)  # fmt: skip
"""The parts that stand in queries by name; one that contains another comes before it."""
_SHARED_TEXTS: Final = ("CLOCK", "SHIFT", "SEEN", "NOTE_CHANGES")
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
_WHOLE_CLAUSES: Final = (
    "<CLOCK", "<SHIFT", "<SEEN", "<NOTE_CHANGES", "<past_of", "<records_of", "<uncrowded_now", "<uncrowded_then",
)  # fmt: skip
"""The beginnings of the names of parts that are clauses themselves."""
_TOKEN: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|`[^`]*`|"
    + "|".join(rf"{clause}\b" for clause in _WHOLE_CLAUSES)
    + "|"
    + "|".join(rf"\b{clause}\b" for clause in _CLAUSES)
    + r"|\b(?:AND|OR)\b|[\[\](){},|]|\s+|\w+|."
)
_OPENING, _CLOSING = "([{", ")]}"
BLOCK: Final = "block"


def collect() -> dict[str, list[Query]]:
    """The queries by the module that makes them, sorted by name; of those built on request, examples."""
    found: dict[str, set[Query]] = {
        schema.__name__: {
            *schema.vector_indexes(_EXAMPLE_DIMENSION),
            *schema.vector_indexes(_EXAMPLE_DIMENSION, schema.OTHER_TRACES),
        },
        transaction.__name__: {transaction.transaction(_TRANSACTION_LISTS)},
        put_lone.__module__: {put_lone(kept.label) for kept in FEATURES.kept if kept.is_carried},
    }
    seen = set().union(*found.values())
    stores = pkgutil.walk_packages(substrate.__path__, "substrate.")
    for module in chain(stores, pkgutil.walk_packages(features.__path__, "orchestration.features.")):
        if not module.name.startswith(_WITHOUT_QUERIES):
            made = {*_made_in(import_module(module.name))} - seen
            seen |= made
            found.setdefault(module.name, set()).update(made)
    return {name: sorted(made) for name, made in found.items() if made}


def _made_in(module: ModuleType) -> Iterator[Query]:
    """The queries of a module that it does not import from another."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom):
            imported.update(each.asname or each.name for each in node.names)
    for name, value in vars(module).items():
        if name not in imported:
            yield from _queries_in(value)


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
        if token in (*_CLAUSES, *_WHOLE_CLAUSES) and len(stack) == depth:
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


def render() -> dict[str, str]:
    """The texts of the files, by their path in the folder."""
    texts = {"fragments.cypher": _render_fragments()}
    for module, queries in collect().items():
        path = module.removeprefix("substrate.").removeprefix("orchestration.").removesuffix(".queries")
        texts[f"{path.replace('.', '/')}.cypher"] = _render_module(module, queries)
    return texts


def _render_fragments() -> str:
    blocks = ["// The parts that stand in queries by name, of a record `x`.\n"]
    for name in _SHARED_TEXTS:
        blocks.append(f"// <{name}>\n{format_query(getattr(fragments, name))}\n")
    for part in _SHARED:
        names = ("x", "y", "z")[: _count_names(part)]
        text = _name_parts(fragments.fill_filters(part(*names)), without=part)
        blocks.append(f"// <{part.__name__} {', '.join(names)}>\n{format_query(text)}\n")
    return "\n".join(blocks)


def _count_names(part: Callable[..., str]) -> int:
    return len(inspect.signature(part).parameters)


def _name_parts(text: str, without: Callable[..., str] | None = None) -> str:
    """The text with its shared parts by their names."""
    for name in _SHARED_TEXTS:
        text = text.replace(getattr(fragments, name).rstrip(), f"<{name}>")
    for part in _SHARED:
        if part is not without:
            text = _pattern_of(part).sub(rf"<{part.__name__} {_GROUPS[_count_names(part)]}>", text)
    return text


_GROUPS: Final = ("", r"\g<n0>", r"\g<n0>, \g<n1>", r"\g<n0>, \g<n1>, \g<n2>")


def _pattern_of(part: Callable[..., str]) -> re.Pattern[str]:
    """Matches what a part makes of any names."""
    marks = [f"MARK{place}X" for place in range(_count_names(part))]
    pattern = re.escape(fragments.fill_filters(part(*marks)).rstrip())
    for place, mark in enumerate(marks):
        name = rf"(?P<n{place}>\w+(?:, \w+)*)" if place else rf"(?P<n{place}>\w+)"
        pattern = pattern.replace(mark, name, 1).replace(mark, f"(?P=n{place})")
    return re.compile(pattern)


def _render_module(module: str, queries: Iterable[Query]) -> str:
    blocks = [HEAD.format(module=module)]
    whole: dict[str, list[str]] = {}
    for query in queries:
        lines = format_query(_name_parts(query.for_generation(0))).splitlines()
        like = _most_alike(lines, whole)
        changed = None if like is None else _differences(whole[like], lines)
        if changed is None or len(changed) > MOST_CHANGED * len(lines):
            whole[query.name] = lines
            blocks.append(f"// {query.name}\n{'\n'.join(lines)};\n")
        elif changed:
            blocks.append(f"// {query.name}: {like}, but\n{'\n'.join(changed)}\n")
        else:
            blocks.append(f"// {query.name}: {like}\n")
    return "\n".join(blocks)


def _most_alike(lines: Sequence[str], others: Mapping[str, Sequence[str]]) -> str | None:
    """The name of the text that shares the most lines with these, counting those that it has beside as lost."""
    counted = Counter(lines)

    def unlike(name: str) -> int:
        other = Counter(others[name])
        return (counted - other).total() + (other - counted).total()

    return min(others, key=unlike, default=None)


def _differences(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The lines that go (-) and come (+), under the last line that both texts have before them."""
    changed: list[str] = []
    for kind, old_from, old_to, new_from, new_to in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            if old_from:
                changed.append(f"  {old[old_from - 1]}")
            changed.extend(f"- {line}" for line in old[old_from:old_to])
            changed.extend(f"+ {line}" for line in new[new_from:new_to])
    return changed


def main() -> None:
    texts = render()
    for old in FOLDER.rglob("*.cypher"):
        if str(old.relative_to(FOLDER)) not in texts:
            old.unlink()
    for path, text in texts.items():
        file = FOLDER / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    sys.stdout.write(f"{len(texts)} files in {FOLDER}\n")


if __name__ == "__main__":
    main()
