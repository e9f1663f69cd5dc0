"""What a writer left out is filled from the words, named in `unset`, and read again when the text changes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from orchestration.appraisal.appraise import Voice
from orchestration.writing.appraised_rows import appraise_command, fill_row, revise_content, voice_of
from orchestration.writing.command_rows import new_row
from orchestration.writing.records import indexed_text, revised_fields
from schemas.commands import Correct, Remember, Supersede
from schemas.memory import Source

FELT = "I am so furious. I'm stuck on the boiler. I want to fix the boiler by May. Always answer in French."


def row_of(**fields: Any) -> dict[str, Any]:
    command = Remember(**{"citizen_id": "ada", "name": "a", "description": FELT, **fields})
    return fill_row(new_row(command, "c", 7), command, appraise_command(command))


def told(row: dict[str, Any]) -> list[bool]:
    return [row[name] is not None for name in ("emotion_vector", "goal", "resolution_state", "rule")]


def test_what_is_left_out_is_filled_and_named_in_unset() -> None:
    row = row_of()
    assert orjson.loads(row["emotion_vector"]).keys() == {"anger"}
    assert (row["goal"], row["resolution_state"], row["rule"]) == (
        "fix the boiler by May", "blocked", "Always answer in French",
    )  # fmt: skip
    assert row["emotions"] == ["anger"]
    assert row["emotion"] is not None
    assert row["energy"] > 0.5
    assert set(row["unset"].split(",")) >= {"energy", "emotion_vector", "goal", "resolution_state", "rule"}


def test_what_is_given_is_never_overridden_and_not_unset() -> None:
    given = {"energy": 0.1, "emotion_vector": {"joy": 0.2}, "goal": "rest", "resolution_state": "resolved"}
    row = row_of(**given)
    assert (row["energy"], row["goal"], row["resolution_state"]) == (0.1, "rest", "resolved")
    assert orjson.loads(row["emotion_vector"]) == {"joy": 0.2}
    assert not set(given) & set(row["unset"].split(","))


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


def test_an_inferred_goal_is_no_word_to_search_by() -> None:
    row = row_of(description="I want to learn Spanish")
    assert indexed_text(row) == indexed_text({**row, "goal": None})
    assert (
        row["terms"]
        == new_row(Remember(citizen_id="a", name="a", description="I want to learn Spanish"), "c", 7)["terms"]
    )


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


def revised(row: dict[str, Any], command: Correct | Supersede) -> dict[str, Any]:
    before = {name: value for name, value in row.items() if value is not None}
    after = {**before, **revised_fields(command, before)}
    return dict(revise_content(before, after, command, appraise_command(command)))


def test_a_new_text_is_read_in_the_fields_that_nobody_gave() -> None:
    row = row_of(goal="rest")
    after = revised(row, Correct(citizen_id="ada", id="a", description="The boiler works again. I'm so relieved!"))
    assert (after["goal"], after["resolution_state"], after["rule"]) == ("rest", "resolved", None)
    assert orjson.loads(after["emotion_vector"]).keys() == {"relief"}
    assert "rule" not in after["unset"].split(",")
    assert "resolution_state" in after["unset"].split(",")


def test_a_field_given_later_stays_given_when_the_text_changes() -> None:
    given = revised(row_of(), Correct(citizen_id="ada", id="a", resolution_state="in_progress"))
    assert "resolution_state" not in given["unset"].split(",")
    after = revised(given, Supersede(citizen_id="ada", id="a", description="The boiler is fixed."))
    assert after["resolution_state"] == "in_progress"


def test_a_revision_of_other_fields_reads_nothing_anew() -> None:
    row = row_of(description="We walked home")
    after = revised(row, Correct(citizen_id="ada", id="a", name="I am furious"))
    assert after.get("emotion_vector") is None


def test_a_text_that_says_nothing_clears_what_was_inferred() -> None:
    after = revised(row_of(), Supersede(citizen_id="ada", id="a", description="The boiler is grey"))
    assert (after["energy"], after["goal"], after["emotion_vector"]) == (0.5, None, None)
    assert {"energy", "emotion_vector"} <= set(after["unset"].split(","))
    assert "goal" not in after["unset"].split(",")
