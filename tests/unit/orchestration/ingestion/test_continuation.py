"""A list of messages and what is stored of its episode: which commands store the rest."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestration.ingestion.arrangement import Continuation, continue_episode
from orchestration.ingestion.episodes import Episode, Message, Turn, turn_memory
from orchestration.ingestion.formats.messages import read_stamp
from orchestration.ingestion.transcript import StoredSession, StoredTurn, Transcript, TurnOrder, said
from orchestration.writing.records import fingerprint
from schemas.commands import Correct, Relate, Remember, Retract, Supersede, Unrelate
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
        said=said(turn.speaker, turn.text),
        since=NOW if time is None else to_instant(time),
        message_id=turn.extra.get("id"),
        fingerprint=fingerprint(turn_memory(episode, turn, f"talk:{turn.key}", time)),
        stamp=read_stamp(turn.extra),
    )


def became(continuation: Continuation) -> list[tuple[str, str | None]]:
    return [(heard.status, heard.id) for heard in continuation.heard]


def linked(continuation: Continuation, kind: str) -> list[tuple[str, str]]:
    links = (command for command in continuation.commands() if isinstance(command, Relate))
    return [(link.source_id, link.target_id) for link in links if link.relation_type == kind]


def test_a_new_list_becomes_turns_in_their_order_with_their_speakers() -> None:
    first = continued(message("Hello"), message("Hi", speaker="assistant"))
    assert became(first) == [("stored", "talk:D1:1"), ("stored", "talk:D1:2")]
    assert linked(first, "NEXT") == [("talk:D1:1", "talk:D1:2")]
    assert linked(first, "SAID_BY") == [("talk:D1:1", "person:user"), ("talk:D1:2", "person:assistant")]
    assert linked(first, "STARTS_WITH") == [("talk:session_1", "talk:D1:1")]
    assert first.size == len(list(first.commands()))
    assert first.known == frozenset()


def test_a_new_message_follows_the_last_stored_one() -> None:
    grown = continued(message("How are you?"), after=stored(message("Hello")))
    assert became(grown) == [("stored", "talk:D1:2")]
    assert linked(grown, "NEXT") == [("talk:D1:1", "talk:D1:2")]
    assert linked(grown, "STARTS_WITH") == []


def test_a_pause_of_more_than_an_hour_begins_a_session() -> None:
    calm = continued(message("a", 0), message("b", 60), message("c", 121), message("d"))
    assert linked(calm, "STARTS_WITH") == [("talk:session_1", "talk:D1:1"), ("talk:session_1.2", "talk:D1:3")]
    assert ("talk:session_1", "talk:session_1.2") in linked(calm, "NEXT")
    later = continued(message("e", 600), after=stored(message("a", 0), message("b", 121)))
    assert linked(later, "STARTS_WITH") == [("talk:session_1.3", "talk:D1:3")]


def test_the_session_that_a_message_names_wins_over_pauses() -> None:
    named = continued(
        message("a", 0, session="one"), message("b", 500, session="one"), message("c", 501, session="2")
    )
    assert linked(named, "STARTS_WITH") == [("talk:session_1", "talk:D1:1"), ("talk:session_2", "talk:D2:1")]
    again = continued(message("d", 900, session="one"), after=stored(message("a", 0, session="one")))
    assert became(again) == [("stored", "talk:D1:2")]


def test_a_list_sent_again_names_only_what_is_known() -> None:
    messages = (message("a", 0), message("b", 200), message("c"))
    again = continued(*messages, after=stored(*messages))
    assert {status for status, _ in became(again)} == {"duplicate"}
    memories = {command.id for command in again.commands() if isinstance(command, Remember)}
    assert memories <= again.shared()
    assert list(again.changes) == []


def test_sessions_that_a_former_list_did_not_have_are_not_added_to_its_turns() -> None:
    messages = (message("a", 0), message("b", 200))
    former = stored(*messages)
    del former.sessions["session_1.2"]
    assert linked(continued(*messages, after=former), "STARTS_WITH") == [("talk:session_1", "talk:D1:1")]


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


def test_a_text_that_was_edited_and_is_sent_as_it_first_was_changes_nothing() -> None:
    before = stored(message("a", 0, id="1"))
    before.turns[0] = replace(before.turns[0], said=said("user", "edited"), since=NOW - 5, version=2)
    before.index()
    assert became(continued(message("a", 0, id="1"), after=before)) == [("duplicate", "talk:D1:1")]
    back = message("a", 0, id="1", edited_at=MAY + timedelta(days=31))
    assert became(continued(back, after=before)) == [("superseded", "talk:D1:1")]


def test_a_message_between_two_stored_ones_parts_them() -> None:
    before = stored(message("a", 0, id="1"), message("c", 2, id="3"))
    between = continued(message("a", 0, id="1"), message("b", 1, id="2"), message("c", 2, id="3"), after=before)
    assert became(between)[1] == ("stored", "talk:D1:1.1")
    assert linked(between, "NEXT") == [("talk:D1:1", "talk:D1:1.1"), ("talk:D1:1.1", "talk:D1:2")]
    parted = [command.id for command in between.commands() if isinstance(command, Unrelate)]
    assert parted == ["talk:D1:1|NEXT|talk:D1:2"]


def test_a_message_left_out_is_told_and_stays() -> None:
    messages = (message("a", 0, id="1"), message("b", 1, id="2"), message("c", 2, id="3"))
    fewer = continued(messages[0], messages[2], after=stored(*messages))
    assert fewer.changes == ()
    assert "(2)" in fewer.notes[0]


def test_each_message_that_cannot_be_stored_has_its_reason() -> None:
    before = stored(message("a", 0, id="1"))
    heard = continued(
        message("b", 1, id="2"),
        message("b", 1, id="2"),
        message("other", 2, id="2"),
        message("", 3, id="4"),
        message("", id="5", deleted=True),
        message("said by another", 0, id="1", speaker="assistant"),
        after=before,
    ).heard
    assert [one.status for one in heard] == ["stored", "duplicate", "refused", "left_out", "left_out", "refused"]
    assert all(one.reason for one in heard[2:])


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


def test_an_edit_or_a_retraction_that_is_stamped_ahead_holds_at_once() -> None:
    edited_at = MAY + timedelta(minutes=AHEAD)
    before = stored(message("It is Okapi.", 0, id="m1"), message("Gone soon.", 1, id="m2"))
    told = (
        message("It is Zebra.", 0, id="m1", edited_at=edited_at),
        message("", 1, id="m2", deleted=True, edited_at=edited_at),
    )
    changed = continued(*told, after=before)
    assert [change.effective_at for change in changed.changes if isinstance(change, Supersede | Retract)] == [
        MAY + timedelta(days=30)
    ] * 2
    assert changed.notes == ("2 messages dated ahead of the clock: true from now on",)
