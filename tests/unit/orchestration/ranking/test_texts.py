"""What is read of a memory is read once, and kept with its record."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.relevance import count_each, count_held
from orchestration.ranking.texts import ReadText, told_by
from substrate.language.text import stem, stems, words
from tests.builders import a_memory

WORDS = st.sampled_from(
    ["house", "houses", "Hausboot", "haus", "掃除機", "掃除", "came", "lay-by", "don't", "straße"]
)
BREAKS = st.sampled_from([" ", ", ", ". ", "\n", " - ", "; ", ""])


@given(st.lists(st.tuples(WORDS, BREAKS)), st.sets(WORDS), st.sampled_from(["en", "de", "ja"]))
def test_a_clause_holds_no_stem_that_its_text_does_not_hold(
    written: list[tuple[str, str]], asked: set[str], language: str
) -> None:
    text = ReadText("".join(f"{word}{end}" for word, end in written))
    roots = {stem(word, language) for each in asked for word in words(each)}
    held = set(count_held(text, roots, language))
    assert all(held.issuperset(count_held(clause, roots, language)) for clause in text.clauses)


# What a record may hold: control characters are refused at every door.
PLAIN = st.characters(exclude_categories=("Cc", "Cs"))
TEXTS = st.text(PLAIN, max_size=40) | st.lists(WORDS | BREAKS).map("".join)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["en", "de", "ja"]))
def test_the_first_question_finds_in_a_text_what_later_ones_count(
    name: str, description: str, asked: str, language: str
) -> None:
    lexical = told_by(a_memory("m", name=name, description=description)).lexical
    roots = stems(asked, language)
    first, later = (dict(count_held(lexical, roots, language)) for _ in range(2))
    assert first == later


@given(st.lists(TEXTS), st.sets(WORDS), st.sampled_from(["en", "de", "ja"]))
def test_texts_are_searched_together_as_one_by_one(written: list[str], asked: set[str], language: str) -> None:
    roots = {stem(word, language) for each in asked for word in words(each)}
    texts = list(map(ReadText, written))
    expected = {place: count_held(text, roots, language) for place, text in enumerate(map(ReadText, written))}
    for _ in range(2):
        assert count_each(texts, roots, language) == {place: held for place, held in expected.items() if held}
