"""Where the messages of a list stand among the stored turns of their episode."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.episodes import Message, Turn
from orchestration.ingestion.transcript import StoredTurn, Transcript, TurnOrder, align, said

SPEAKERS = ("user", "assistant")


def message(text: str, place: int = 0, *, message_id: str | None = None, second: int | None = None) -> Message:
    time = None if second is None else datetime.fromtimestamp(second, UTC)
    return Message(Turn("", SPEAKERS[place % 2], text, time), id=message_id)


def chat(texts: str) -> list[Message]:
    return [message(text, place) for place, text in enumerate(texts)]


def transcript(texts: str, *, ids: bool = False) -> Transcript:
    turns = [
        StoredTurn(
            id=f"talk:D1:{place + 1}",
            order=TurnOrder(1, (place + 1,)),
            speaker=SPEAKERS[place % 2],
            said=said(SPEAKERS[place % 2], text),
            since=place * 1_000_000,
            message_id=text if ids else None,
            fingerprint=None,
        )
        for place, text in enumerate(texts)
    ]
    stored = Transcript()
    stored.add(turns)
    return stored


@pytest.mark.parametrize(
    ("stored", "sent", "expected"),
    [
        ("", "ab", [None, None]),
        ("abcd", "abcd", [0, 1, 2, 3]),
        ("abcd", "abcdef", [0, 1, 2, 3, None, None]),
        ("abcd", "ab", [0, 1]),
        ("abcdef", "abc", [0, 1, 2]),
        ("abcd", "abXd", [0, 1, 2, 3]),
        ("abcd", "abXdef", [0, 1, 2, 3, None, None]),
        ("abcd", "Xbcd", [0, 1, 2, 3]),
        ("abcd", "abcX", [0, 1, 2, 3]),
        ("abcd", "wxyz", [None, None, None, None]),
    ],
)
def test_a_list_without_ids_is_laid_over_what_is_stored(
    stored: str, sent: str, expected: list[int | None]
) -> None:
    assert list(align(chat(sent), transcript(stored), fewest=1).positions) == expected


@given(st.integers(0, 20), st.integers(1, 12), st.integers(0, 8))
def test_a_window_on_the_end_stores_only_what_is_new(known: int, window: int, new: int) -> None:
    texts = [f"said {place}" for place in range(known + new)]
    stored = Transcript()
    whole = [message(text, place) for place, text in enumerate(texts)]
    for place in range(known):
        one = whole[place].turn
        turn = StoredTurn(
            f"t{place}", TurnOrder(1, (place + 1,)), one.speaker, said(one.speaker, one.text), 0, None, None
        )
        stored.add([turn])
    first = max(0, known - window)
    sent = whole[first:]
    if sent:
        positions = align(sent, stored, fewest=2).positions
        assert list(positions) == [*range(first, known), *([None] * new)]


def test_a_message_is_found_by_its_id_wherever_it_stands() -> None:
    stored = transcript("abcdef", ids=True)
    sent = [message("other words", 1, message_id="b"), message("e", 4, message_id="e")]
    alignment = align(sent, stored, fewest=2)
    assert alignment.positions == (1, 4)
    assert alignment.left_out == (2, 3)


def test_a_message_without_its_id_is_found_beside_one_with_an_id() -> None:
    stored = transcript("abc", ids=True)
    sent = [message("a", 0), message("b", 1, message_id="b"), message("c", 2), message("d", 3)]
    assert align(sent, stored, fewest=2).positions == (0, 1, 2, None)


def test_the_same_words_at_another_time_are_new() -> None:
    stored = transcript("ab")
    assert align([message("b", 1, second=1)], stored, fewest=2).positions == (1,)
    assert align([message("b", 1, second=9)], stored, fewest=2).positions == (None,)


def test_one_reply_after_a_greeting_that_was_said_before_is_new() -> None:
    assert align(chat("aX"), transcript("abcdef"), fewest=2).positions == (None, None)


def test_a_message_more_or_less_in_the_middle_moves_the_rest() -> None:
    more = [message(text, place) for text, place in (("a", 0), ("b", 1), ("X", 0), ("c", 0), ("d", 1))]
    assert align(more, transcript("abcd"), fewest=1).positions == (0, 1, None, 2, 3)
    fewer = [message(text, place) for text, place in (("a", 0), ("b", 1), ("d", 1), ("e", 0))]
    alignment = align(fewer, transcript("abcd"), fewest=1)
    assert (alignment.positions, alignment.left_out) == ((0, 1, 3, None), (2,))


def test_a_place_is_found_between_any_two() -> None:
    first, last = TurnOrder(1, (1,)), TurnOrder(1, (2,))
    for _ in range(5):
        between = first.before(last)
        assert first < between < last
        assert TurnOrder.of(between.key) == between
        last = between
    assert TurnOrder.of("S1:3") is None


@given(st.text("ab", max_size=12), st.text("ab", min_size=1, max_size=12))
def test_no_stored_turn_is_two_messages(stored: str, sent: str) -> None:
    found = [at for at in align(chat(sent), transcript(stored), fewest=1).positions if at is not None]
    assert found == sorted(set(found))
