"""The statement of an atomic list has a part for each list of rows that is not empty."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from substrate.cypher.transaction import _PARTS, transaction

LISTS = tuple(_PARTS)
subsets = st.frozensets(st.sampled_from(LISTS))


@given(subsets)
def test_the_statement_names_the_lists_that_it_reads_and_no_other(lists: frozenset[str]) -> None:
    parameters = set(re.findall(r"\$(\w+)", transaction(lists).text))
    assert parameters & set(LISTS) == lists


@given(subsets)
def test_the_parts_stand_in_one_order(lists: frozenset[str]) -> None:
    text = transaction(lists).text
    places = [text.index(_PARTS[name]) for name in LISTS if name in lists]
    assert places == sorted(places)


@given(subsets)
def test_a_statement_without_its_parts_is_the_shortest_one(lists: frozenset[str]) -> None:
    text = transaction(lists).text
    for name in lists:
        text = text.replace(f" {_PARTS[name]}", "")
    assert text == transaction(frozenset()).text
