"""Texts, times and scores as the command line prints them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.formatting import (
    choose_handle,
    choose_title,
    describe_end,
    describe_likeness,
    describe_measures,
    describe_missing,
    explain_match,
    format_emotions,
    format_moment,
    format_score,
    format_time,
    shorten,
    strip_controls,
    to_line,
)
from tests.builders import a_node

MAY = datetime(2023, 5, 8, tzinfo=UTC)


@given(st.text())
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    assert all(char.isprintable() or char == "\n" for char in strip_controls(text))
    assert to_line(text).isprintable()


@given(st.text(), st.integers(4, 60))
def test_a_shortened_text_is_no_longer_than_its_width(text: str, width: int) -> None:
    short = shorten(text, width)
    assert len(short) <= width
    assert (short == to_line(text)) is (len(to_line(text)) <= width) or short.endswith("…")


def test_a_text_is_cut_between_words() -> None:
    assert shorten("the harbour of Porto, at night", 24) == "the harbour of Porto …"


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (None, "–"),
        (MAY, "2023-05-08 00:00"),
        (datetime(2023, 5, 8, 1, 30, tzinfo=timezone(timedelta(hours=2))), "2023-05-07 23:30"),
    ],
)
def test_a_time_is_printed_to_the_minute_in_utc(moment: datetime | None, text: str) -> None:
    assert format_time(moment) == text


def test_midnight_is_a_day_and_no_time_of_day() -> None:
    assert format_moment(MAY) == "8 May 2023"
    assert format_moment(MAY.replace(hour=9)) == "8 May 2023 09:00 UTC"


@pytest.mark.parametrize(
    ("fields", "title", "handle"),
    [
        ({"name": "walk"}, "walk", "walk"),
        ({"name": "D1:3", "speaker": "Ada\n"}, "Ada", "Ada D1:3"),
    ],
)
def test_a_memory_is_called_by_its_speaker_or_its_name(fields: dict[str, Any], title: str, handle: str) -> None:
    assert (choose_title(a_node(**fields)), choose_handle(a_node(**fields))) == (title, handle)


def test_the_strongest_emotions_come_first_and_absent_ones_not_at_all() -> None:
    assert format_emotions({"calm": 0.4, "joy": 0.7, "fear": 0.0, "hope": 0.4, "awe": 0.1}) == (
        "joy 0.7, calm 0.4, hope 0.4"
    )
    assert format_emotions(None) == ""


def test_measures_that_are_the_defaults_are_not_printed() -> None:
    assert describe_measures(a_node(energy=0.5, confidence=0.5)) == []
    assert describe_measures(
        a_node(energy=0.75, confidence=0.5, emotion_vector={"joy": 0.5}, resolution_state="in_progress")
    ) == ["energy 0.75", "joy 0.5", "in progress"]


def test_the_reason_stands_behind_the_last_end() -> None:
    assert describe_end(a_node(invalidation_reason="reality_changed")) == []
    ends = a_node(invalid_at=MAY, expired_at=MAY, invalidation_reason="discovered_false")
    assert describe_end(ends) == ["held until 8 May 2023", "believed until 8 May 2023: it was found to be false"]


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


def test_a_score_is_printed_with_the_sign_of_each_term() -> None:
    node = a_node(
        consciousness_adjusted_score=0.7, score_terms={"words": 0.4, "energy": 0.8, "missing_metadata": -0.1}
    )
    assert format_score(node) == "score 0.70 = energy 0.80 − missing metadata 0.10"


def test_a_missing_part_is_a_sentence() -> None:
    assert describe_missing(["N1_graph", "it was cut"]) == ["N1_graph was not answered", "it was cut"]


def test_likeness_is_printed_where_a_memory_was_found_by_it() -> None:
    assert describe_likeness(a_node(likeness=0.4321)) == ["likeness 0.43"]
    assert describe_likeness(a_node()) == []
