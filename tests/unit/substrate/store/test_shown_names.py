from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from substrate.store.rows import SHOWN_WORDS, shown_name

words = st.text("abc ", min_size=1, max_size=200)


@given(words)
def test_no_more_of_a_turn_is_shown_than_the_limit(text: str) -> None:
    shown = shown_name("talk:1", "1", "Ada", text).removeprefix("Ada: ")
    whole = " ".join(text.split())
    assert len(shown) <= SHOWN_WORDS + 1
    assert shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1]))
