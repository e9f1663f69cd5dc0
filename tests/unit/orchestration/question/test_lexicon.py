"""Which memories a question names, and which of its words are searched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import person_id
from orchestration.question.lexicon import (
    Entity,
    Lexicon,
    WordRuns,
    build_fuzzy_queries,
    build_lexicon,
    build_name_queries,
    discriminative_terms,
    embedding_text,
    estimate_holders,
    find_named,
    list_phrases,
    match_names,
    without_names,
)
from substrate.language.text import has_unspaced
from substrate.store.lexicon import LexiconRows, NamedMemory
from substrate.store.search import NAMED_STARTS

letters = st.from_regex(r"[b-z]{5,10}", fullmatch=True)


def named(memory_id: str, name: str, aliases: tuple[str, ...] = (), node_type: str = "Person") -> NamedMemory:
    return NamedMemory(memory_id, name, aliases, node_type)


def rows(*names: NamedMemory, **fields: Any) -> LexiconRows:
    sizes = {"memories": 0, "traces": 0, "past_traces": 0, "past_versions": 0, "records": {}, "past_records": {}}
    return LexiconRows(**{**sizes, **fields}, names=list(names))


def entities(query: str, *names: NamedMemory) -> list[str]:
    return [entity.id for entity in build_lexicon(rows(*names), query).entities]


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
    assert WordRuns(query).names(name) is is_named


@given(letters, st.integers(0, 9))
def test_a_long_name_is_known_with_one_letter_missing(name: str, place: int) -> None:
    place = 1 + place % (len(name) - 1)
    misspelt = name[:place] + name[place + 1 :]
    assert WordRuns(f"tell me of {name} now").names(name)
    # One letter of n gone leaves a likeness of 2(n-1)/(2n-1): above 0.85 from four letters on.
    assert WordRuns(f"tell me of {misspelt} now").names(name)


@given(st.from_regex(r"[b-z]{1,4}", fullmatch=True), st.from_regex(r"[b-z]{1,4}", fullmatch=True))
def test_a_short_name_must_be_exact(name: str, other: str) -> None:
    assert not WordRuns(f"a {other}").names(name) or name == other


@pytest.mark.parametrize(
    ("memory", "query", "found"),
    [
        (named("p1", "person_Luca"), "What does Luca think?", ["p1"]),
        (named("p1", "person_Luca"), "Which person?", []),
        (named("p1", "Luca", ("Il Professore", "Luc")), "ask il professore", ["p1"]),
        (named("p1", "Luca", ("Il Professore", "Luc")), "ask Luc", ["p1"]),
        (named("p1", "Luca", ("Il Professore",)), "ask the professore", []),
        (named("c1", "concept_spreading_activation", (), "Concept"), "spreading activation", ["c1"]),
        (named("p1", "person_Luca", (), "Concept"), "Luca", []),
    ],
)
def test_a_memory_is_named_by_its_name_without_type_or_by_an_alias(
    memory: NamedMemory, query: str, found: list[str]
) -> None:
    assert entities(query, memory) == found


@pytest.mark.parametrize(
    ("speakers", "query", "found"),
    [
        (["Fahim Khan"], "What did Fahim cook?", ["Fahim Khan"]),
        (["Fahim Khan"], "What did Khan cook?", []),
        (["Fahim Khan", "Fahim"], "What did Fahim cook?", ["Fahim"]),
        (["Frau Meier"], "Where is the Frau?", []),
        (["Will Byers"], "Will it rain?", []),
    ],
)
def test_a_speaker_is_named_by_the_given_name_unless_it_is_a_whole_name(
    speakers: list[str], query: str, found: list[str]
) -> None:
    lexicon = build_lexicon(rows(*(named(person_id(name), name) for name in speakers)), query)
    assert list(lexicon.speakers()) == found


def test_the_given_name_of_a_speaker_is_left_out_of_the_embedded_text() -> None:
    lexicon = Lexicon(entities=(Entity("person:ada_king", "Ada King", speaks=True),))
    assert embedding_text("What did Ada and Ada King build?", [lexicon]) == "What did and build?"


def test_the_lexicon_knows_sizes_words_and_whom_the_query_names() -> None:
    known = rows(
        named("p1", "Luca"),
        named("p2", "Marco"),
        memories=120,
        traces=118,
        past_traces=7,
        records={"bridge": 3, "luca": 0},
    )
    assert build_lexicon(known, "Luca and the bridge") == Lexicon(
        memories=120,
        traces=118,
        past_traces=7,
        frequencies={"bridge": 3, "luca": 0},
        entities=(Entity("p1", "Luca"),),
    )


def test_past_records_count_for_the_number_of_memories_that_left_them() -> None:
    """A word in 250 records or more of 2,000 that 100 memories left is as rare as one in 13 of these."""
    known = rows(
        memories=100,
        past_versions=2_000,
        records={"bridge": 30, "ferry": 0, "harbour": 0},
        past_records={"bridge": 250, "ferry": 250, "harbour": 1},
    )
    assert build_lexicon(known, "").frequencies == {"bridge": 30, "ferry": 13, "harbour": 1}


def test_an_empty_graph_has_an_empty_lexicon() -> None:
    assert build_lexicon(rows(), "Luca") == Lexicon(frequencies={})


def test_a_memory_that_is_named_twice_is_one_to_start_from() -> None:
    assert entities("Luca", named("p1", "Luca"), named("p1", "Luca")) == ["p1"]


def test_a_query_starts_from_so_many_names_at_most_best_first() -> None:
    memories = [named(f"p{n}", "Caroline") for n in range(NAMED_STARTS + 3)]
    assert entities("Caroline", *memories) == [f"p{n}" for n in range(NAMED_STARTS)]


def test_the_longer_a_word_the_more_slips_are_allowed() -> None:
    assert build_fuzzy_queries([]) == build_name_queries([]) == []
    assert build_name_queries(["luca", "bridge"]) == ["@entity_names:luca", "@entity_names:bridge"]
    assert build_fuzzy_queries(["luca", "bridge", "analytical"]) == [
        "@entity_names:%bridge%",
        "@entity_names:%%analytical%%",
    ]


def test_a_name_may_be_any_run_of_words_of_the_query() -> None:
    assert list_phrases("Ada, and Il-Professore!") == [
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
    assert list_phrases("the") == list_phrases("?!") == []


@given(st.text(max_size=400))
def test_the_phrases_of_a_query_are_few_and_distinct(query: str) -> None:
    runs = list_phrases(query)
    assert len(runs) == len(set(runs)) <= (960 if has_unspaced(query) else 200)
    assert all(len(run.split()) <= 5 for run in runs)


@given(st.text("田中さんは昨日Lisa東京 ケマル・", max_size=200), st.sampled_from(["田中", "ケマル", "Lisa"]))
def test_a_name_inside_running_text_is_one_of_its_phrases(text: str, name: str) -> None:
    query = f"{text[:20]}{name}{text[20:]}"
    alone = "" if name.isascii() else name
    assert alone in ["", *list_phrases(query)]


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("田中", True),
        ("ケマル・アタ", True),
        ("iPhone15", True),
        ("猫", True),
        ("田", False),
        ("中さ田", False),
        ("佐藤", False),
    ],
)
def test_a_text_without_blanks_names_what_stands_in_it_but_by_no_single_character(name: str, named: bool) -> None:
    runs = WordRuns("田中さんとケマル・アタがｉＰｈｏｎｅ１５を買った。猫")
    assert (runs.contains(name), runs.names(name)) == (named, named)


def test_a_name_is_left_out_of_running_text_and_a_word_that_begins_like_one_is_not() -> None:
    assert without_names("田中さんはLisaに何を言った？", ["田中", "Lisa"]) == "さんはLisaに何を言った？"
    assert without_names("What did Lisa say of Lisabon?", ["Lisa"]) == "What did say of Lisabon?"


@given(st.integers(0, 5_000), st.integers(0, 5_000), st.integers(0, 5_000))
def test_no_more_memories_hold_a_word_than_there_are_past_versions_with_it(
    count: int, past_versions: int, memories: int
) -> None:
    assert 0 <= estimate_holders(count, past_versions=past_versions, memories=memories) <= count


def test_common_words_are_searched_only_when_none_is_rarer() -> None:
    common = {"day": 90, "time": 80, "thing": 70, "work": 60, "never": 0}
    assert discriminative_terms(Lexicon(memories=100, frequencies=common)) == ["work", "thing", "time"]
    assert discriminative_terms(Lexicon(memories=100, frequencies={**common, "bridge": 2})) == ["bridge"]
    assert discriminative_terms(Lexicon()) == []


def test_the_embedded_text_leaves_out_those_who_speak() -> None:
    lexicon = Lexicon(entities=(Entity("person:ada", "Ada", speaks=True), Entity("m1", "Porto")))
    assert embedding_text("What did Ada say of Porto?", [lexicon]) == "What did say of Porto?"
    assert embedding_text("What did Ada say of Porto?", []) == "What did Ada say of Porto?"


def test_names_match_up_to_spelling_and_word_order_the_best_ones_only() -> None:
    memories = [named("p1", "Luca Rossi"), named("p2", "Luka Rossi"), named("p3", "Marco")]
    assert match_names(memories, ["person_Rossi Luca"]) == (Entity("p1", "Luca Rossi"),)
    assert match_names(memories, ["Ada"]) == ()


def test_an_exact_name_is_found_by_name_or_alias_with_its_type() -> None:
    memories = [named("p1", "Luca", ("Il Professore",)), named("c1", "Luca", (), "Concept")]
    assert find_named(memories, "il professore", "person") == "p1"
    assert find_named(memories, "LUCA", "Concept") == "c1"
    assert find_named(memories, "Lucas", "Person") is None


def test_a_failed_lookup_is_noted_and_takes_every_word_as_rare() -> None:
    lexicon = Lexicon.fallback(["bridge"])
    assert discriminative_terms(lexicon) == ["bridge"]
    assert lexicon.notes("N1") == ["N1: the words of the question could not be looked up in time"]
    assert Lexicon().notes("N1") == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("What did Caroline research?", "What did research?"),
        ("What is Caroline's identity?", "What is identity?"),
        ("What did caroline and Carolines dog do?", "What did and Carolines dog do?"),
        ("Caroline?", "Caroline?"),
        ("What did Ann do?", "What did Ann do?"),
    ],
)
def test_a_question_without_a_name_is_what_else_it_says(text: str, left: str) -> None:
    assert without_names(text, {"Caroline"}) == left
    assert without_names(text, ()) == text
