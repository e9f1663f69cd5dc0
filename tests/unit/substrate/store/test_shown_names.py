from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from substrate.store.shown_names import SHOWN_WORDS, SUBJECTS, shown_name, shown_session

words = st.text("abc ", min_size=1, max_size=200)


def test_a_turn_is_shown_as_its_speaker_and_first_words() -> None:
    assert shown_name("talk:1:2", "2", "Ada", "We  moved\nto Bergen") == "Ada: We moved to Bergen"
    assert shown_name("talk:1:2", "2", "user", "Hello") == "User: Hello"


def test_a_name_given_later_and_a_memory_without_speaker_are_shown_as_named() -> None:
    assert shown_name("talk:1:2", "The move", "Ada", "We moved") == "The move"
    assert shown_name("talk:1:2", "2", None, "We moved") == "2"


@given(words)
def test_no_more_of_a_turn_is_shown_than_the_limit(text: str) -> None:
    shown = shown_name("talk:1", "1", "Ada", text).removeprefix("Ada: ")
    whole = " ".join(text.split())
    assert len(shown) <= SHOWN_WORDS + 1
    assert shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1]))


def test_a_session_is_shown_with_its_day_and_subjects() -> None:
    about = {SUBJECTS: ["ferry", "tea"]}
    assert shown_session("Trip · 3 May", "3 May", about) == "Trip · 3 May: ferry, tea"
    assert shown_session("session 4 · 3 May", "3 May", about) == "3 May: ferry, tea"


def test_a_session_without_subjects_keeps_its_name() -> None:
    extras: tuple[Any, ...] = (None, {}, {SUBJECTS: []}, {SUBJECTS: "ferry"})
    for extra in extras:
        assert shown_session("session 4", "3 May", extra) == "session 4"
