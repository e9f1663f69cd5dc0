"""Names of fields: other names mean the same, misspelt ones are refused, unknown ones are kept."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestration.features.association.values import TagWalk
from orchestration.features.contexts.values import WriteContext
from orchestration.writing.records import fingerprint
from schemas.base import Request
from schemas.commands import Command, Correct, Relate, Remember, Supersede
from schemas.field_names import ALIASES, FieldNames, nearest
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.mind.state import StateChange
from schemas.wave_signal import Resonate
from tests.builders import LINK_METADATA

OF_MEMORY = FieldNames.of(Remember.model_fields, ALIASES)
JOY = {"joy": 0.5}


def faults_of(kind: type[Request], **fields: Any) -> dict[str, str]:
    """The message of each fault, by its place."""
    with pytest.raises(ValidationError) as refused:
        kind.model_validate(fields)
    return {".".join(map(str, fault["loc"])): fault["msg"] for fault in refused.value.errors()}


@pytest.mark.parametrize(
    ("kind", "short", "long"),
    [
        (Remember, {"text": "Tea.", "emotions": JOY}, {"description": "Tea.", "emotion_vector": JOY}),
        (Correct, {"id": "m", "text": "Tea.", "emotions": JOY},
         {"id": "m", "description": "Tea.", "emotion_vector": JOY}),
        (Supersede, {"id": "m", "text": None}, {"id": "m", "description": None}),
    ],
)  # fmt: skip
def test_a_command_is_the_same_under_either_name(
    kind: type[Command], short: dict[str, Any], long: dict[str, Any]
) -> None:
    rest = {"citizen_id": "a", "name": "n"}
    if None in short.values():
        assert faults_of(kind, **rest, **short) == faults_of(kind, **rest, **long)
        return
    one, other = kind.model_validate({**rest, **short}), kind.model_validate({**rest, **long})
    assert one == other
    assert fingerprint(one) == fingerprint(other)


def test_every_question_takes_the_short_names() -> None:
    felt = {"citizen_id": "a", "emotions": JOY, "energy": 0.5, "goal": "g"}
    asked = RetrievalIntention.model_validate({**felt, "query": "tea"})
    woken = StateBasedRetrieval.model_validate({**felt, "mode": "find_similar_state"})
    for state in (asked, woken):
        assert (state.current_emotions, state.current_energy, state.current_goal) == (JOY, 0.5, "g")
    assert (asked.query_text, woken.query_mode) == ("tea", "find_similar_state")
    assert TagWalk.model_validate({"citizen_id": "a", "query": "tea"}).query_text == "tea"
    assert Resonate.model_validate({"citizen_id": "a", "query": "tea"}).query_text == "tea"
    assert StateChange.model_validate({"emotions": JOY}).emotion_vector == JOY


def test_what_one_thing_is_to_another_has_one_name_wherever_it_is_said() -> None:
    said = {"source": "Egor", "target": "Kai"}
    for name in ("relation", "relation_type"):
        edge = {**said, name: "criticized"}
        context = WriteContext.model_validate({"citizen_id": "kai", "description": "x", "edges": [edge]})
        signal = Resonate.model_validate({"citizen_id": "kai", "relations": [edge]})
        ends = {"citizen_id": "kai", "source_id": "a", "target_id": "b"}
        link = Relate.model_validate({**ends, **LINK_METADATA, name: "CRITICIZED"})
        assert {context.edges[0].relation_type, signal.relations[0].relation_type, link.relation_type} == {
            "CRITICIZED"
        }


def test_a_name_that_is_very_long_or_no_text_is_no_misspelling() -> None:
    assert OF_MEMORY.propose("description" * 10_000) is None
    assert nearest("d" * 65, ("d" * 64,)) is None
    assert faults_of(Remember, citizen_id="a", name="n", **{"extra": {}, "tags": [7]}).keys() == {"tags.0"}
    with pytest.raises(ValidationError):
        Remember.model_validate({"citizen_id": "a", "name": "n", 7: "x"})
