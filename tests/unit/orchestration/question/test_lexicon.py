"""Which memories a question names, and which of its words are searched."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import person_id
from orchestration.question.lexicon import (
    WordRuns,
    build_fuzzy_queries,
    build_lexicon,
    build_name_queries,
    embedding_text,
    estimate_holders,
    list_phrases,
    without_names,
)
from substrate.language.text import has_unspaced
from substrate.store.lexicon import LexiconRows, NamedMemory

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


def test_the_longer_a_word_the_more_slips_are_allowed() -> None:
    assert build_fuzzy_queries([], "") == build_name_queries([]) == []
    assert build_name_queries(["luca", "bridge"]) == ["@entity_names:luca", "@entity_names:bridge"]
    assert build_fuzzy_queries(["luca", "bridge", "analytical"], "luca bridge analytical") == [
        "@entity_names:%bridge%",
        "@entity_names:%%analytical%%",
    ]
    assert build_fuzzy_queries(["mel", "muhamad", "is"], "Is Mel at Muhamad's?") == [
        "@entity_names:%mel%",
        "@entity_names:mel*",
        "@entity_names:%%muhamad%%",
        "@entity_names:muhamad*",
    ]


@pytest.mark.parametrize(
    ("speakers", "query", "found"),
    [
        (["Muhammad", "Anne"], "What did Muhhamed cook?", ["Muhammad"]),
        (["Muhammad", "Anne"], "What did Mohammed's sister cook?", ["Muhammad"]),
        (["Catherine", "Tom"], "Where did Kathryn go?", ["Catherine"]),
        (["Stephen", "Tom"], "Where did Steven go?", ["Stephen"]),
        (["Melanie", "Tom"], "Where did Mel go?", ["Melanie"]),
        (["Melanie Hart", "Tom"], "Where did Mel go?", ["Melanie Hart"]),
        (["Melanie", "Melvin"], "Where did Mel go?", []),
        (["Catherine", "Kathryn Moss"], "Where did Catrin go?", []),
        (["Melanie", "Tom"], "where did mel go?", []),
        (["Jon", "Gina"], "Where did John meet Ginna?", ["Jon", "Gina"]),
        (["Anna", "Tom"], "Where did Ines go?", []),
        (["Maddie", "Tom"], "Where did Muhammad go?", []),
        (["Marid", "Tom"], "Is anybody married?", []),
        (["Rosemary", "Tom"], "Where is the Rose?", ["Rosemary"]),
    ],
)
def test_a_speaker_is_called_by_a_nickname_or_by_what_sounds_alike_unless_two_may_be_meant(
    speakers: list[str], query: str, found: list[str]
) -> None:
    lexicon = build_lexicon(rows(*(named(person_id(name), name) for name in speakers)), query)
    assert list(lexicon.speakers()) == found


def test_a_word_that_calls_a_speaker_is_no_unknown_word_and_is_not_embedded() -> None:
    known = rows(named(person_id("Muhammad"), "Muhammad"), records={"muhhamed": 0, "cook": 3})
    lexicon = build_lexicon(known, "What did Muhhamed cook?")
    assert lexicon.frequencies == {"cook": 3}
    assert embedding_text("What did Muhhamed cook?", [lexicon]) == "What did cook?"
    held = known._replace(records={"muhhamed": 1, "cook": 3})
    assert build_lexicon(held, "What did Muhhamed cook?").speakers() == ()


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


@given(st.integers(0, 5_000), st.integers(0, 5_000), st.integers(0, 5_000))
def test_no_more_memories_hold_a_word_than_there_are_past_versions_with_it(
    count: int, past_versions: int, memories: int
) -> None:
    assert 0 <= estimate_holders(count, past_versions=past_versions, memories=memories) <= count


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
