"""Names in a query → memories to start from."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.lexicon import (
    MAX_ENTITIES,
    Entity,
    Lexicon,
    holding,
    names_in,
    phrases,
    read_lexicon,
    sounding,
)

letters = st.from_regex(r"[b-z]{5,10}", fullmatch=True)


def named(memory_id: str, name: str, aliases: list[str] | None = None, node_type: str = "Person") -> list[Any]:
    return ["name", memory_id, 1.0, name, orjson.dumps(aliases).decode() if aliases else None, node_type]


def entities(query: str, *rows: list[Any]) -> list[str]:
    return [entity.id for entity in read_lexicon(rows, query).entities]


@pytest.mark.parametrize(
    ("query", "name", "is_named"),
    [
        ("What did Caroline say?", "Caroline", True),
        ("what did CAROLINE's sister say", "caroline", True),
        ("What did Carolin say?", "Caroline", True),
        ("What did Carolyne say?", "Caroline", True),
        ("What did Karoline say?", "Caroline", False),
        ("What did Catherine say?", "Caroline", False),
        ("Carol was there", "Caroline", False),
        ("where is Zoë", "Zoe", True),
        ("Where is Ada?", "Ada", True),
        ("Where is Adam?", "Ada", False),
        ("Where is Abe?", "Ada", False),
        ("We were adamant", "Ada", False),
        ("the Analytical Engine project", "Analytical Engine", True),
        ("the Analitical Engine project", "analytical-engine", True),
        ("the engine, analytical as ever", "Analytical Engine", False),
        ("the engine", "Analytical Engine", False),
        ("will you come?", "Will", False),
        ("", "Ada", False),
        ("anything", "", False),
        ("anything", "!!!", False),
    ],
)
def test_a_query_names_a_name_as_a_whole_and_up_to_spelling(query: str, name: str, is_named: bool) -> None:
    assert names_in(query, name) is is_named


@given(letters, st.integers(0, 9))
def test_a_long_name_is_known_with_one_letter_missing(name: str, place: int) -> None:
    place = 1 + place % (len(name) - 1)
    misspelt = name[:place] + name[place + 1 :]
    assert names_in(f"tell me of {name} now", name)
    # One letter of n gone leaves a likeness of 2(n-1)/(2n-1): above 0.85 from four letters on.
    assert names_in(f"tell me of {misspelt} now", name)


@given(st.from_regex(r"[b-z]{1,4}", fullmatch=True), st.from_regex(r"[b-z]{1,4}", fullmatch=True))
def test_a_short_name_must_be_exact(name: str, other: str) -> None:
    assert not names_in(f"a {other}", name) or name == other


@pytest.mark.parametrize(
    ("row", "query", "found"),
    [
        (named("p1", "person_Luca"), "What does Luca think?", ["p1"]),
        (named("p1", "person_Luca"), "Which person?", []),
        (named("p1", "Luca", ["Il Professore", "Luc"]), "ask il professore", ["p1"]),
        (named("p1", "Luca", ["Il Professore", "Luc"]), "ask Luc", ["p1"]),
        (named("p1", "Luca", ["Il Professore"]), "ask the professore", []),
        (named("c1", "concept_spreading_activation", None, "Concept"), "spreading activation", ["c1"]),
        (named("p1", "person_Luca", None, "Concept"), "Luca", []),
    ],
)
def test_a_memory_is_named_by_its_name_without_type_or_by_an_alias(
    row: list[Any], query: str, found: list[str]
) -> None:
    assert entities(query, row) == found


def test_the_lexicon_knows_sizes_words_and_whom_the_query_names() -> None:
    rows: list[list[Any]] = [
        ["size", None, 120, 118, 7, None],
        ["word", "bridge", 3, None, None, None],
        ["word", "luca", 0, None, None, None],
        named("p1", "Luca"),
        named("p2", "Marco"),
    ]
    assert read_lexicon(rows, "Luca and the bridge") == Lexicon(
        memories=120,
        traces=118,
        past_traces=7,
        frequencies={"bridge": 3, "luca": 0},
        entities=(Entity("p1", "Luca"),),
    )


def test_of_past_records_a_memory_has_one_at_a_time() -> None:
    """A word in 250 records or more of 2,000 that 100 memories left is as rare as one in 13 of these."""
    rows: list[list[Any]] = [
        ["size", None, 100, 100, 900, 2_000],
        ["word", "bridge", 30, None, None, None],
        ["word", "ferry", 0, None, None, None],
        ["word", "harbour", 0, None, None, None],
        ["was", "bridge", 250, None, None, None],
        ["was", "ferry", 250, None, None, None],
        ["was", "harbour", 1, None, None, None],
    ]
    assert read_lexicon(rows, "").frequencies == {"bridge": 30, "ferry": 13, "harbour": 1}


def test_an_empty_graph_has_an_empty_lexicon() -> None:
    assert read_lexicon([["size", None, None, None, None, None]], "Luca") == Lexicon(frequencies={})


def test_a_memory_that_is_named_twice_is_one_to_start_from() -> None:
    assert entities("Luca", named("p1", "Luca"), named("p1", "Luca")) == ["p1"]


def test_a_query_starts_from_so_many_names_at_most_best_first() -> None:
    rows = [named(f"p{n}", "Caroline") for n in range(MAX_ENTITIES + 3)]
    assert entities("Caroline", *rows) == [f"p{n}" for n in range(MAX_ENTITIES)]


def test_the_longer_a_word_the_more_slips_are_allowed() -> None:
    assert sounding([]) == holding([]) == []
    assert holding(["luca", "bridge"]) == ["@entity_names:luca", "@entity_names:bridge"]
    assert sounding(["luca", "bridge", "analytical"]) == ["@entity_names:%bridge%", "@entity_names:%%analytical%%"]


def test_a_name_may_be_any_run_of_words_of_the_query() -> None:
    assert phrases("Ada, and Il-Professore!") == [
        "ada",
        "il",
        "professore",
        "ada and",
        "and il",
        "il professore",
        "ada and il",
        "and il professore",
        "ada and il professore",
    ]
    assert phrases("the") == phrases("?!") == []


@given(st.text(max_size=400))
def test_the_phrases_of_a_query_are_few_and_distinct(query: str) -> None:
    runs = phrases(query)
    assert len(runs) == len(set(runs)) <= 200
    assert all(len(run.split()) <= 5 for run in runs)
