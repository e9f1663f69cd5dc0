"""The file of all queries: it is what the code sends, and formatting changes nothing but white space."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scripts.queries import FILE, WIDTH, collect, format_query, parameters_of, render, split_clauses

QUERIES = collect()
LOWERED_EACH_TIME = re.compile(r"(any|all|none|single)\((\w+) IN \$\w+ WHERE (?!toLower\(\2)toLower\(")


def test_the_file_holds_the_queries_that_the_code_sends() -> None:
    assert FILE.read_text("utf-8") == render(QUERIES), "run `python -m scripts.queries`, and look at the diff"


def test_each_query_has_a_name_of_its_own() -> None:
    assert {name: count for name, count in Counter(query.name for query in QUERIES).items() if count > 1} == {}


def test_formatting_changes_white_space_only() -> None:
    changed = [
        query.name
        for query in QUERIES
        if written_together(format_query(query.text)) != written_together(query.text)
    ]
    assert changed == []


def written_together(text: str) -> str:
    return "".join(text.split())


def test_no_query_lowers_a_text_once_for_each_word_that_it_looks_for() -> None:
    """A person of 3,000 mentions took four times as long to read."""
    assert [query.name for query in QUERIES if LOWERED_EACH_TIME.search(query.text)] == []


def test_each_clause_begins_a_line_and_subqueries_are_indented() -> None:
    text = "MATCH (n) WHERE n.id IN [i IN $ids WHERE i > 0] CALL { WITH n SET n.a = 'RETURN' RETURN 1 } RETURN n"
    assert split_clauses(text) == [
        "MATCH (n)",
        "WHERE n.id IN [i IN $ids WHERE i > 0]",
        "CALL {",
        "  WITH n",
        "  SET n.a = 'RETURN'",
        "  RETURN 1",
        "}",
        "RETURN n",
    ]


def test_the_body_of_a_loop_is_indented() -> None:
    assert split_clauses("FOREACH (r IN $rows | CREATE (n) SET n = r) RETURN 1") == [
        "FOREACH (r IN $rows |",
        "  CREATE (n)",
        "  SET n = r",
        ")",
        "RETURN 1",
    ]


def test_a_long_clause_is_broken_at_its_commas() -> None:
    lines = format_query(f"RETURN {', '.join(f'column_{number}' for number in range(40))}").splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= WIDTH


def test_parameters_are_named_once_in_order() -> None:
    assert parameters_of("RETURN $b, $a, $b") == ["a", "b"]


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_list_of_any_length_keeps_its_items(first: int, second: int) -> None:
    names, columns = (", ".join(f"a{n}" for n in range(count + 1)) for count in (first, second))
    text = f"WITH {names} RETURN {columns}"
    assert " ".join(format_query(text).split()) == text
