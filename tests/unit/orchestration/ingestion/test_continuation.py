"""A list of messages and what is stored of its episode: which commands store the rest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestration.ingestion.arrangement import Continuation, continue_episode
from orchestration.ingestion.episodes import Episode, Message, Turn, turn_memory
from orchestration.ingestion.formats.messages import read_stamp
from orchestration.ingestion.transcript import StoredSession, StoredTurn, Transcript, TurnOrder, speech_key
from orchestration.writing.records import fingerprint
from schemas.commands import Correct, Retract, Supersede
from schemas.temporal import Instant, to_instant

MAY = datetime(2025, 5, 8, 9, 0, tzinfo=UTC)
NOW = to_instant(MAY + timedelta(days=30))


def message(text: str, minute: int | None = None, speaker: str = "user", **more: Any) -> Message:
    time = None if minute is None else MAY + timedelta(minutes=minute)
    message_id = more.get("id")
    extra = {} if message_id is None else {"id": message_id}
    return Message(Turn("", speaker, text, time, extra), **more)


def continued(*messages: Message, after: Transcript | None = None, now: Instant = NOW) -> Continuation:
    return continue_episode(Episode("talk", "ada", (), messages=messages), after or Transcript(), now, fewest=1)


def stored(*messages: Message) -> Transcript:
    """What is stored after these messages."""
    first = continued(*messages)
    transcript = Transcript()
    for step in first.steps:
        if step.starts is not None:
            since = NOW if step.time is None else to_instant(step.time)
            transcript.sessions[step.starts.key] = StoredSession(step.starts.key, step.starts.title, since)
    transcript.add([_stored_turn(first.episode, step.turn, step.time) for step in first.steps])
    return transcript


def _stored_turn(episode: Episode, turn: Turn, time: datetime | None) -> StoredTurn:
    order = TurnOrder.of(turn.key)
    assert order is not None
    return StoredTurn(
        id=f"talk:{turn.key}",
        order=order,
        speaker=turn.speaker,
        said=speech_key(turn.speaker, turn.text),
        since=NOW if time is None else to_instant(time),
        message_id=turn.extra.get("id"),
        fingerprint=fingerprint(turn_memory(episode, turn, f"talk:{turn.key}", time)),
        stamp=read_stamp(turn.extra),
    )


def became(continuation: Continuation) -> list[tuple[str, str | None]]:
    return [(heard.status, heard.id) for heard in continuation.heard]


@pytest.mark.parametrize(
    ("edited", "kind", "at"),
    [
        (message("b!", 1, id="2"), Supersede, NOW),
        (message("b!", 1, id="2", edited_at=MAY + timedelta(hours=2)), Supersede, None),
        (message("b!", 1, id="2", edited_at=MAY), Correct, None),
        (message("b", 1, id="2", deleted=True), Retract, NOW),
    ],
)
def test_an_edited_message_changes_its_turn_and_a_deleted_one_takes_it_back(
    edited: Message, kind: type[Any], at: int | None
) -> None:
    before = stored(message("a", 0, id="1"), message("b", 1, id="2"))
    [change] = continued(edited, after=before).changes
    assert isinstance(change, kind)
    assert change.id == "talk:D1:2"
    if at is not None:
        assert to_instant(change.effective_at) == at


AHEAD = 60 * 24 * 40
"""Minutes from the first message to ten days after now."""


@pytest.mark.parametrize("ids", [{}, {"id": "m1"}])
def test_what_was_stamped_ahead_makes_the_same_commands_before_and_after_its_time(ids: dict[str, str]) -> None:
    told = (message("Hello", 0), message("The code word is Zebra.", AHEAD, **ids), message("Thanks."))
    first = continued(*told)
    assert [step.time for step in first.steps] == [MAY, None, None]
    assert first.steps[1].turn.extra["timestamp"] == (MAY + timedelta(minutes=AHEAD)).isoformat()
    later = NOW + 100 * 86_400_000_000
    for now in (NOW, NOW + 1, later):
        again = continued(*told, after=stored(*told), now=now)
        assert {status for status, _ in became(again)} == {"duplicate"}
        turns = [one for one in again.commands() if getattr(one, "node_type", "Turn") == "Turn"]
        made = {fingerprint(command) for command in first.commands()}
        assert {fingerprint(command) for command in turns} <= made
        assert again.notes == ()
    grown = continued(*told, message("Another one."), after=stored(*told), now=later)
    assert [heard.status for heard in grown.heard][-1] == "stored"
