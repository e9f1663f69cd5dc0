"""The files of all queries are what the code sends."""

from __future__ import annotations

import re
from collections import Counter

from scripts.queries import FOLDER, collect, render

QUERIES = [query for queries in collect().values() for query in queries]
LOWERED_EACH_TIME = re.compile(r"(any|all|none|single)\((\w+) IN \$\w+ WHERE (?!toLower\(\2)toLower\(")


def test_the_files_hold_the_queries_that_the_code_sends() -> None:
    written = {str(file.relative_to(FOLDER)): file.read_text("utf-8") for file in FOLDER.rglob("*.cypher")}
    assert written == render(), "run `python -m scripts.queries`, and look at the diff"


def test_each_query_has_a_name_of_its_own() -> None:
    assert {name: count for name, count in Counter(query.name for query in QUERIES).items() if count > 1} == {}


def test_no_query_lowers_a_text_once_for_each_word_that_it_looks_for() -> None:
    """A person of 3,000 mentions took four times as long to read."""
    assert [query.name for query in QUERIES if LOWERED_EACH_TIME.search(query.text)] == []
