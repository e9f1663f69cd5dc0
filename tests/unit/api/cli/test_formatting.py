"""Texts, times and scores as the command line prints them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.formatting import (
    choose_handle,
    choose_title,
    describe_measures,
    explain_match,
    shorten,
    strip_controls,
    to_line,
)
from tests.builders import a_node


@given(st.text())
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    assert all(char.isprintable() or char == "\n" for char in strip_controls(text))
    assert to_line(text).isprintable()


@given(st.text(), st.integers(4, 60))
def test_a_shortened_text_is_no_longer_than_its_width(text: str, width: int) -> None:
    short = shorten(text, width)
    assert len(short) <= width
    assert (short == to_line(text)) is (len(to_line(text)) <= width) or short.endswith("…")


@pytest.mark.parametrize(
    ("fields", "title", "handle"),
    [
        ({"name": "walk"}, "walk", "walk"),
        ({"name": "D1:3", "speaker": "Ada\n"}, "Ada", "Ada D1:3"),
    ],
)
def test_a_memory_is_called_by_its_speaker_or_its_name(fields: dict[str, Any], title: str, handle: str) -> None:
    assert (choose_title(a_node(**fields)), choose_handle(a_node(**fields))) == (title, handle)


def test_measures_that_are_the_defaults_are_not_printed() -> None:
    assert describe_measures(a_node(energy=0.5, confidence=0.5)) == []
    assert describe_measures(
        a_node(energy=0.75, confidence=0.5, emotion_vector={"joy": 0.5}, resolution_state="in_progress")
    ) == ["energy 0.75", "joy 0.5", "in progress"]


@pytest.mark.parametrize(
    ("fields", "entities", "reason"),
    [
        ({"score_terms": {"likeness": 0.5, "words": 0.25}}, (), "found by meaning 0.50, words 0.25"),
        ({"name": "Ada", "score_terms": {"words": 0.001}}, ("Ada",), "named in the question"),
        ({"retrieval_source": "N1_vector"}, (), "found by meaning"),
        ({"retrieval_source": "N1_graph"}, (), "found over links"),
        ({"retrieval_source": "N1_graph", "score_terms": {"plurality": 0.1}}, (), "found by plurality"),
    ],
)
def test_a_match_is_explained_by_its_strongest_channel(
    fields: dict[str, Any], entities: tuple[str, ...], reason: str
) -> None:
    assert explain_match(a_node(**fields), entities) == reason
