"""Emotions: one name for one feeling, and how alike two feelings are."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from substrate.emotions import (
    DIMENSION,
    VOCABULARY,
    cosine_similarities,
    cosine_similarity,
    emotion_trace,
    emotion_vector,
    normal_emotion,
    normal_emotions,
)

units = st.floats(0.0, 1.0, allow_nan=False)
names = st.sampled_from(
    (*VOCABULARY, "excited", "Happy", "worried", " Calm ", "afraid", "saudade", "a_b")
) | st.text(max_size=6)
maps = st.dictionaries(names, units, max_size=8)


@given(names)
def test_the_normal_form_of_a_name_is_its_own_normal_form(name: str) -> None:
    assert normal_emotion(normal_emotion(name)) == normal_emotion(name)


@given(maps)
def test_the_normal_form_of_a_map_is_its_own_normal_form(emotions: dict[str, float]) -> None:
    once = normal_emotions(emotions)
    assert normal_emotions(once) == once


@pytest.mark.parametrize("name", VOCABULARY)
def test_the_words_of_the_vocabulary_are_normal(name: str) -> None:
    assert normal_emotion(name) == name


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("excited", "excitement"),
        ("Excitement", "excitement"),
        (" EXCITING ", "excitement"),
        ("cautious", "caution"),
        ("happy", "joy"),
        ("worried", "fear"),
        ("deep_sorrow", "deep sorrow"),
        ("deep  Sorrow", "deep sorrow"),
    ],
)
def test_variants_of_an_emotion_are_one(said: str, meant: str) -> None:
    assert normal_emotion(said) == meant


def test_the_stronger_of_two_names_for_one_emotion_counts() -> None:
    assert normal_emotions({"happy": 0.3, "Joy": 0.8, "joyful": 0.5}) == {"joy": 0.8}


@given(maps, maps)
def test_likeness_lies_between_zero_and_one_and_is_symmetric(
    one: dict[str, float], other: dict[str, float]
) -> None:
    alike = cosine_similarity(one, other)
    assert 0.0 <= alike <= 1.0
    assert alike == pytest.approx(cosine_similarity(other, one), abs=1e-12)


felt = st.just(0.0) | st.floats(1e-6, 1.0)


@given(st.lists(st.none() | st.dictionaries(names, felt, max_size=5), max_size=6), st.dictionaries(names, felt))
def test_many_are_as_alike_as_each_by_itself(many: list[dict[str, float] | None], to: dict[str, float]) -> None:
    normal = normal_emotions(to)
    each = [cosine_similarity(normal_emotions(one or {}), normal) for one in many]
    assert cosine_similarities(many, normal).tolist() == pytest.approx(each)


@given(st.dictionaries(names, st.floats(0.01, 1.0), min_size=1, max_size=8))
def test_a_feeling_is_wholly_like_itself_whatever_its_strength(emotions: dict[str, float]) -> None:
    halved = {name: intensity / 2 for name, intensity in emotions.items()}
    assert cosine_similarity(emotions, emotions) == pytest.approx(1.0)
    assert cosine_similarity(emotions, halved) == pytest.approx(1.0)


@given(maps)
def test_nothing_is_like_no_feeling(emotions: dict[str, float]) -> None:
    for nothing in (None, {}, {"joy": 0.0}):
        assert cosine_similarity(emotions, nothing) == 0.0
        assert cosine_similarity(nothing, emotions) == 0.0


def test_likeness_by_hand() -> None:
    # 003's example: (0.8 x 0.7 + 0.3 x 0.4) / (sqrt(0.64 + 0.09) x sqrt(0.49 + 0.16 + 0.04))
    asked = normal_emotions({"excited": 0.8, "cautious": 0.3})
    felt = normal_emotions({"excitement": 0.7, "caution": 0.4, "fear": 0.2})
    assert cosine_similarity(asked, felt) == pytest.approx(0.9581267)
    assert cosine_similarity({"joy": 0.6, "fear": 0.8}, {"joy": 1.0}) == pytest.approx(0.6)
    assert cosine_similarity({"joy": 1.0}, {"fear": 1.0}) == 0.0


@given(maps)
def test_the_vector_has_one_place_for_every_known_emotion(emotions: dict[str, float]) -> None:
    vector = emotion_vector(emotions)
    normal = normal_emotions(emotions)
    if not any(normal.values()):
        assert vector is None
        return
    assert vector is not None
    assert len(vector) == DIMENSION
    for place, name in enumerate(VOCABULARY):
        assert vector[place] == normal.get(name, 0.0)
    unknown = [intensity for name, intensity in normal.items() if name not in VOCABULARY]
    assert sum(vector[len(VOCABULARY) :]) == pytest.approx(sum(unknown))


@given(maps)
def test_names_of_one_emotion_have_one_vector(emotions: dict[str, float]) -> None:
    assert emotion_vector(emotions) == emotion_vector(normal_emotions(emotions))


@given(maps, st.text(max_size=20))
@example({"joy": 5e-324}, "")
def test_a_record_is_indexed_by_the_direction_of_its_feeling(emotions: dict[str, float], of: str) -> None:
    vector, trace = emotion_vector(emotions), emotion_trace(emotions, of)
    if vector is None:
        assert trace is None
        return
    assert trace == emotion_trace(emotions, of)
    assert trace is not None
    length = math.hypot(*vector)
    dot = math.fsum(one / length * other for one, other in zip(vector, trace, strict=True))
    assert dot / math.hypot(*trace) == pytest.approx(1.0, abs=1e-5)


def test_no_two_records_of_one_feeling_have_equal_vectors() -> None:
    traces = {tuple(emotion_trace({"joy": 0.7}, f"memory {place}") or ()) for place in range(500)}
    assert len(traces) == 500
