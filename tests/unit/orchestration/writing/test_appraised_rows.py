"""What a writer left out is filled from the words, named in `unset`, and read again when the text changes."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.appraisal.appraise import Voice
from orchestration.writing.appraised_rows import appraise_command, fill_row, voice_of
from orchestration.writing.command_rows import new_row
from schemas.commands import Remember
from schemas.memory import Source

FELT = "I am so furious. I'm stuck on the boiler. I want to fix the boiler by May. Always answer in French."


def row_of(**fields: Any) -> dict[str, Any]:
    command = Remember(**{"citizen_id": "ada", "name": "a", "description": FELT, **fields})
    return fill_row(new_row(command, "c", 7), command, appraise_command(command))


def told(row: dict[str, Any]) -> list[bool]:
    return [row[name] is not None for name in ("emotion_vector", "goal", "resolution_state", "rule")]


@pytest.mark.parametrize(
    ("fields", "step"),
    [
        ({}, "Decision"),
        ({"node_type": "Turn", "speaker": "user"}, "Decision"),
        ({"node_type": "Problem"}, None),
        ({"node_type": "Memory"}, None),
    ],
)
def test_a_type_that_was_given_says_what_a_memory_is_as_a_step(fields: dict[str, Any], step: str | None) -> None:
    assert row_of(description="I decided to sell the boat.", **fields)["step"] == step


def test_the_fingerprint_is_of_what_was_given() -> None:
    command = Remember(citizen_id="ada", name="a", description=FELT)
    assert row_of()["fingerprint"] == new_row(command, "c", 7)["fingerprint"]


@pytest.mark.parametrize(
    ("fields", "voice"),
    [
        ({}, Voice.OWN),
        ({"speaker": "user", "source": Source.INGESTION, "node_type": "Turn"}, Voice.OWN),
        ({"speaker": "Caroline", "source": Source.INGESTION, "node_type": "Turn"}, Voice.OWN),
        ({"speaker": "Assistant", "source": Source.INGESTION, "node_type": "Turn"}, Voice.OTHER),
        ({"speaker": "tool"}, Voice.OTHER),
        ({"source": Source.TOOL}, Voice.OTHER),
        ({"source": Source.SYSTEM}, Voice.OTHER),
        ({"source": Source.UPKEEP}, Voice.OTHER),
        ({"source": Source.INGESTION, "node_type": "Document"}, Voice.OTHER),
        ({"node_type": "Person"}, Voice.OTHER),
        ({"node_type": "Session"}, Voice.OTHER),
    ],
)
def test_the_voice_is_told_by_source_type_and_speaker(fields: dict[str, Any], voice: Voice) -> None:
    row = row_of(**fields)
    assert voice_of(row) is voice
    assert any(told(row)) == (voice is Voice.OWN)


@pytest.mark.parametrize(
    ("fields", "ruled"),
    [
        ({}, True),
        ({"speaker": "user"}, True),
        ({"speaker": "Ada"}, True),
        ({"speaker": "Bob"}, False),
        ({"level": "N2"}, False),
    ],
)
def test_only_the_citizen_sets_a_rule(fields: dict[str, Any], ruled: bool) -> None:
    assert (row_of(**fields)["rule"] is not None) == ruled
