"""A conversation as commands: ids, times, order, and nothing that changes from one run to the next."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import identifier, ingestion_id, person_id
from orchestration.ingestion.episodes import Episode, Session, Turn, commands
from orchestration.ingestion.transcript import said
from schemas.commands import Relate, Remember
from schemas.memory import ResolutionState, Source

MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def talk(*sessions: Session) -> Episode:
    return Episode("talk", "ada", sessions or (first(), second()))


def first() -> Session:
    turns = (Turn("D1:1", "Caroline", "Hey Mel!"), Turn("D1:2", "Melanie", "Hey Caroline!"))
    return Session("session_1", "session 1", MAY, turns)


def second() -> Session:
    return Session("session_2", "session 2", None, (Turn("D2:1", "Caroline", "Back again."),))


def memories(episode: Episode) -> dict[str, Remember]:
    return {c.id: c for c in commands(episode) if isinstance(c, Remember) and c.id is not None}


def links(episode: Episode) -> list[tuple[str, str, str]]:
    return [(c.source_id, c.relation_type, c.target_id) for c in commands(episode) if isinstance(c, Relate)]


def test_turns_speakers_and_sessions_become_memories() -> None:
    found = memories(talk())
    assert {key: memory.node_type for key, memory in found.items()} == {
        "talk:session_1": "Session",
        "talk:D1:1": "Turn",
        "person:caroline": "Person",
        "talk:D1:2": "Turn",
        "person:melanie": "Person",
        "talk:session_2": "Session",
        "talk:D2:1": "Turn",
    }
    turn = found["talk:D1:2"]
    assert (turn.name, turn.description, turn.speaker, turn.episode_id) == (
        "D1:2",
        "Hey Caroline!",
        "Melanie",
        "talk",
    )
    assert found["talk:session_1"].name == "session 1 · 8 May 2023"
    assert found["talk:session_1"].description == "8 May 2023"
    assert found["talk:session_2"].name == "session 2"
    assert {memory.source for memory in found.values()} == {Source.INGESTION}
    assert not {"energy", "confidence"} & turn.model_fields_set


def test_the_tags_that_somebody_writes_into_a_turn_are_its_tags() -> None:
    said = ("Planted #beans and #peas/early, issue #12, more #beans `#code`", "Try #sunset for the photo")
    turns = (Turn("1", "user", said[0]), Turn("2", "assistant", said[1]))
    found = memories(talk(Session("session_1", "session 1", MAY, turns)))
    assert found["talk:1"].tags == ("beans", "peas/early")
    assert found["talk:2"].tags == ()


def test_turns_stay_in_order_across_sessions() -> None:
    assert links(talk()) == [
        ("talk:D1:1", "SAID_BY", "person:caroline"),
        ("talk:session_1", "STARTS_WITH", "talk:D1:1"),
        ("talk:D1:2", "SAID_BY", "person:melanie"),
        ("talk:D1:1", "NEXT", "talk:D1:2"),
        ("talk:session_1", "NEXT", "talk:session_2"),
        ("talk:D2:1", "SAID_BY", "person:caroline"),
        ("talk:session_2", "STARTS_WITH", "talk:D2:1"),
        ("talk:D1:2", "NEXT", "talk:D2:1"),
    ]


def test_a_link_says_only_what_ingestion_knows() -> None:
    link = next(c for c in commands(talk()) if isinstance(c, Relate))
    assert (link.goal, link.mindstate, link.formation_trigger) == (
        "remember who said it",
        "ingestion",
        "ingestion",
    )
    assert (link.energy, link.confidence, link.emotion_vector) == (0.5, 1.0, {})
    assert (link.resolution_state, link.valid_at) == (ResolutionState.RESOLVED, MAY)


def test_turns_without_times_follow_the_date_of_their_session_by_seconds() -> None:
    later = MAY + timedelta(hours=1)
    turns = tuple(Turn(f"D1:{n}", "A", "x", later if n == 3 else None) for n in (1, 2, 3, 4))
    seconds = timedelta(seconds=1)
    assert Session("s", "s", MAY, turns).times() == (MAY, MAY + seconds, later, later + seconds)


def test_without_any_time_none_is_made_up() -> None:
    found = memories(talk(second()))
    assert all("valid_at" not in memory.model_fields_set for memory in found.values())


def test_a_link_comes_after_both_of_its_ends() -> None:
    seen: set[str] = set()
    for command in commands(talk()):
        if isinstance(command, Remember):
            seen.add(command.id or "")
        elif isinstance(command, Relate):
            assert {command.source_id, command.target_id} <= seen


def test_an_episode_knows_its_size_and_says_the_same_twice() -> None:
    assert talk().size == len(list(commands(talk()))) == 15
    assert list(commands(talk())) == list(commands(talk()))
    assert {c.command_id for c in commands(talk())} == {ingestion_id("talk")}


@pytest.mark.parametrize(
    ("speaker", "expected"),
    [("Caroline", "person:caroline"), ("Zoë  van-Dyk", "person:zoe_van_dyk"), ("李雷", "person:李雷")],
)
def test_a_person_has_the_same_id_in_every_episode(speaker: str, expected: str) -> None:
    assert person_id(speaker) == expected


def test_names_without_letters_stay_different_people() -> None:
    assert person_id("🙂") != person_id("🙃")


@given(st.text(min_size=1, max_size=400), st.text(min_size=1, max_size=400))
def test_any_text_gives_a_valid_id_of_its_own(one: str, other: str) -> None:
    made = Remember(citizen_id="ada", name="x", id=identifier(one))
    assert made.id == identifier(one)
    assert (identifier(one) == identifier(other)) is (one == other)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Junlei (tech lead)", "Junlei"),
        ("Ann (she/her)", "Ann"),
        ("Ann (CEO)", "Ann"),
        ("Bob [bot]", "Bob"),
        ("us\u200ber\ufeff", "user"),
    ],
)
def test_what_is_written_beside_a_name_is_kept_and_no_part_of_it(written: str, name: str) -> None:
    turn = Turn("D1:1", written, "Hello.", extra={"id": 7})
    assert (turn.speaker, turn.extra) == (name, {"speaker": written, "id": 7})
    assert replace(turn, key="D1:2").extra == turn.extra


@pytest.mark.parametrize(
    "name", ["Max (Sales)", "(me)", "\u200b", "Ann (Lee) Smith", "علی\u200cرضا", "👩\u200d💻"]
)
def test_a_name_that_needs_its_brackets_stays_as_it_is(name: str) -> None:
    turn = Turn("D1:1", name, "Hello.")
    assert (turn.speaker, turn.extra) == (name, {})


def test_a_message_stored_under_a_name_with_a_role_is_the_same_message() -> None:
    """So it was stored before roles were told apart: the same export again adds nothing."""
    assert said("Junlei (tech lead)", "Hello.") == said("Junlei", "Hello.") != said("Max", "Hello.")
