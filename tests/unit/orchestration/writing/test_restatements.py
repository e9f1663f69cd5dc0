"""Texts that only repeat what a memory says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing import records
from orchestration.writing.restatements import (
    raises_source,
    readings,
    repeats,
)
from schemas.memory import Source
from schemas.temporal import Period, to_instant
from substrate.bitemporal import Record
from tests.unit.orchestration.writing.memory_store import command, moment

TEXT = "The harbour bell rings twice at noon"
WORDS = st.lists(st.sampled_from(("harbour", "bell", "rings", "twice", "noon", "again")), min_size=5, max_size=9)


def sent(**fields: Any) -> Any:
    return command("remember", **{"name": "A memory", "description": TEXT, **fields})


def record(**content: Any) -> Record:
    fields = {"name": "Bell", "description": TEXT, **content}
    return Record("m", 1, Period(to_instant(moment(1))), Period(5), fields)


def is_repeated(remember: Any, stored: Record) -> bool:
    return repeats(remember, readings(remember), stored)


@given(WORDS)
def test_a_text_of_five_words_or_more_is_recognised_whatever_its_case_and_punctuation(words: list[str]) -> None:
    stored = record(description=" ".join(words))
    assert is_repeated(sent(description=f"  {', '.join(words).upper()}!"), stored)


@given(WORDS)
def test_a_text_is_found_by_the_number_under_which_it_is_stored(words: list[str]) -> None:
    text = " ".join(words)
    content = {"name": "A", "node_type": "Memory", "description": text}
    assert records.search_properties(content, None)["text_key"] in readings(sent(description=text))


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        (TEXT, True),
        ("Bell: " + TEXT, True),
        ("Ada: " + TEXT, True),
        ("Luca: " + TEXT, False),
        (f"- [fact] {TEXT} (2026-01-01)", True),
        (f"[fact] Ada: {TEXT} (2026-01-01, 0.8)", True),
        (TEXT + " again", False),
        ("Thanks!", False),
    ],
)
def test_a_text_is_recognised_as_it_was_shown(text: str, repeated: bool) -> None:
    assert is_repeated(sent(description=text), record(speaker="Ada")) is repeated


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "own"},
        {"episode_id": "e"},
        {"restate": True},
        {"source": Source.INGESTION},
        {"description": "Thank you very much"},
    ],
)
def test_commands_that_want_a_memory_of_their_own_have_no_readings(fields: dict[str, Any]) -> None:
    assert readings(sent(**fields)) == {}


@pytest.mark.parametrize(
    ("fields", "repeated"),
    [
        ({"speaker": "Ada"}, True),
        ({"speaker": "Luca"}, False),
        ({"valid_at": moment(1)}, True),
        ({"valid_at": moment(2)}, False),
    ],
)
def test_another_speaker_or_beginning_makes_another_memory(fields: dict[str, Any], repeated: bool) -> None:
    assert is_repeated(sent(**fields), record(speaker="Ada")) is repeated


@pytest.mark.parametrize(
    ("by", "owner", "raised"),
    [
        (Source.CITIZEN, Source.TOOL, True),
        (Source.TOOL, Source.CITIZEN, False),
        (Source.CITIZEN, Source.CITIZEN, False),
        (Source.SYSTEM, Source.CITIZEN, True),
    ],
)
def test_only_a_source_of_more_weight_raises_what_it_repeats(by: Source, owner: Source, raised: bool) -> None:
    assert raises_source(sent(source=by), record(source=owner.value)) is raised
