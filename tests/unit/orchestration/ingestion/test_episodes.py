"""A conversation as commands: ids, times, order, and nothing that changes from one run to the next."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import identifier, person_id
from orchestration.ingestion.episodes import Turn
from schemas.commands import Remember


@pytest.mark.parametrize(
    ("speaker", "expected"),
    [("Caroline", "person:caroline"), ("Zoë  van-Dyk", "person:zoe_van_dyk"), ("李雷", "person:李雷")],
)
def test_a_person_has_the_same_id_in_every_episode(speaker: str, expected: str) -> None:
    assert person_id(speaker) == expected


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
