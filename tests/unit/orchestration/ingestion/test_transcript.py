"""Where the messages of a list stand among the stored turns of their episode."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.episodes import Message, Turn
from orchestration.ingestion.transcript import StoredTurn, Transcript, TurnOrder, align, speech_key

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
            said=speech_key(SPEAKERS[place % 2], text),
            since=place * 1_000_000,
            message_id=text if ids else None,
            fingerprint=None,
        )
        for place, text in enumerate(texts)
    ]
    stored = Transcript()
    stored.add(turns)
    return stored


@given(st.integers(0, 20), st.integers(1, 12), st.integers(0, 8))
def test_a_window_on_the_end_stores_only_what_is_new(known: int, window: int, new: int) -> None:
    texts = [f"said {place}" for place in range(known + new)]
    stored = Transcript()
    whole = [message(text, place) for place, text in enumerate(texts)]
    for place in range(known):
        one = whole[place].turn
        turn = StoredTurn(
            f"t{place}", TurnOrder(1, (place + 1,)), one.speaker, speech_key(one.speaker, one.text), 0, None, None
        )
        stored.add([turn])
    first = max(0, known - window)
    sent = whole[first:]
    if sent:
        positions = align(sent, stored, fewest=2).positions
        assert list(positions) == [*range(first, known), *([None] * new)]


@given(st.text("ab", max_size=12), st.text("ab", min_size=1, max_size=12))
def test_no_stored_turn_is_two_messages(stored: str, sent: str) -> None:
    found = [at for at in align(chat(sent), transcript(stored), fewest=1).positions if at is not None]
    assert found == sorted(set(found))
