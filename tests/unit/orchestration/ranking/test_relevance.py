"""Words of a question in the text of a candidate."""

from __future__ import annotations

import random
from collections import Counter

import bm25s
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.relevance import bm25_scores, count_stems, word_weights
from schemas.memory import GraphKey, Level
from substrate.language.text import stem, stop_words, words
from tests.builders import key

N1, N2 = Level.N1, Level.N2
VOCABULARY = ("dying", "die", "dies", "category", "cat", "cats", "catalogue", "naïve", "Café", "the", "running")


def test_bm25_by_hand() -> None:
    # Three texts of 8, 16 and 24 characters: the mean is 16. "cat" stands in two of three:
    # ln(1 + 1.5/2.5) = 0.470004; "dog" in one: ln(1 + 2.5/1.5) = 0.980829.
    # Norms: 1.2 x (0.25 + 0.75 x length/16) = 0.75, 1.2, 1.65.
    texts = {
        key("a"): "cat fish",
        key("b"): "cat cat dog bird",
        key("c"): "bird fish cow pig horses",
    }
    weights: dict[GraphKey, dict[str, float]] = {N1: word_weights({"cat": 2, "dog": 1}, 3)}
    assert weights[N1]["cat"] == pytest.approx(0.470004, abs=1e-6)
    assert weights[N1]["dog"] == pytest.approx(0.980829, abs=1e-6)
    scores = bm25_scores(texts, weights)
    assert scores[key("a")] == pytest.approx(0.470004 * 1 * 2.2 / 1.75, abs=1e-5)
    assert scores[key("b")] == pytest.approx(0.470004 * 2 * 2.2 / 3.2 + 0.980829 * 2.2 / 2.2, abs=1e-5)
    assert scores[key("c")] == 0.0


def test_a_text_without_the_words_scores_nothing_and_still_counts_for_the_mean_length() -> None:
    # 4 and 12 characters: the mean is 8. The norm of the first is 1.2 x (0.25 + 0.75 x 4/8) = 0.75.
    scores = bm25_scores({key("a"): "cats", key("b"): "catalog bird"}, {N1: {"cat": 1.0}})
    assert scores == {key("a"): pytest.approx(2.2 / 1.75), key("b"): 0.0}
    assert bm25_scores({key("a"): "", key("b"): "cat"}, {N1: {}}) == {key("a"): 0.0, key("b"): 0.0}
    assert bm25_scores({}, {N1: {"cat": 1.0}}) == {}


@given(st.integers(0, 2**32))
def test_bm25_scores_as_bm25s_does(seed: int) -> None:
    chance = random.Random(seed)
    vocabulary = ["cat", "dog", "bug", "hen", "cow", "pig", "owl", "elk"]
    corpus = [chance.choices(vocabulary, k=chance.randint(1, 12)) for _ in range(chance.randint(2, 8))]
    asked = chance.sample(vocabulary, 3)
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(corpus, show_progress=False)
    held = {word: sum(word in text for text in corpus) for word in asked}
    expected = peer.get_scores([word for word in asked if held[word]]) if any(held.values()) else None
    # Words of one length, each with its space: the length in characters is four times that in words.
    texts = {key(f"{place}"): "".join(f"{word} " for word in text) for place, text in enumerate(corpus)}
    scores = bm25_scores(texts, {N1: word_weights(held, len(corpus))})
    for place in range(len(corpus)):
        # Lucene leaves out the constant factor k1 + 1.
        theirs = 0.0 if expected is None else 2.2 * float(expected[place])
        assert scores[key(f"{place}")] == pytest.approx(theirs, abs=1e-4)


@given(st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=12).map(", ".join), max_size=6))
def test_stems_are_counted_as_if_every_word_were_stemmed(texts: list[str]) -> None:
    wanted = {"die", "cat", "categori", "naiv", "run"}
    counted = {
        place: Counter(stem(word) for word in words(text) if word not in stop_words() and stem(word) in wanted)
        for place, text in enumerate(texts)
    }
    assert count_stems(texts, wanted) == {place: counts for place, counts in counted.items() if counts}
