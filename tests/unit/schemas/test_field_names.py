"""Names of fields: other names mean the same, misspelt ones are refused, unknown ones are kept."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from orchestration.features.association.values import TagWalk
from orchestration.features.contexts.values import WriteContext
from orchestration.writing.records import fingerprint
from schemas.base import MOST_FIELDS, Request
from schemas.commands import Command, Correct, Relate, Remember, Supersede
from schemas.field_names import ALIASES, NAMES_OF_REST, FieldNames, nearest
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.mind.state import StateChange
from schemas.wave_signal import Resonate
from tests.builders import LINK_METADATA

OF_MEMORY = FieldNames.of(Remember.model_fields, ALIASES)
JOY = {"joy": 0.5}

MISSPELT = {
    "description": "descripton desciption decription discription discripton descriptions Description desc_ription",
    "emotion_vector": "emotion_vectors emotions_vector emotionVector emotion-vector emotion_vecotr emotionvector",
    "emotions": "emotion emotoins emtions",
    "valid_at": "valid_form valid_from validAt valid_att vaild_at effective_at effective_att",
    "invalid_at": "valid_to valid_until valid_til invalidAt invalid_ta invaild_at",
    "energy": "enery enregy energi Energy",
    "confidence": "confidense confidance confidince",
    "goal": "goals gaol",
    "resolution_state": "resolutionState resolution_sate resolution_status resolutions_state",
    "tags": "tag tgas",
    "buckets": "bucket",
    "aliases": "alias aliasses",
    "importance": "importence importnace",
    "intensity": "intesity intensty",
    "result": "reslut resutl",
    "rule": "rules rul",
    "abstraction": "abstration",
    "felt_quality": "felt_qualty feltQuality",
    "body_sensation": "body_sensations bodySensation",
    "correction_pattern_id": "correction_pattern correction_patern_id",
    "discovery_energy": "discovery_enrgy",
    "source": "soruce sourc",
    "speaker": "speeker speakr",
    "episode_id": "episodeId episod_id",
    "citizen_id": "citizenid citizen-id citizenId",
    "node_type": "node_typ nodetype nodeType",
    "name": "names nam naem",
    "level": "levels leve",
    "text": "texts txt",
    "command_id": "comand_id commandId",
}
"""Fields of a memory, and how people write them by mistake."""
KEPT = """
author author_name mood color colour rating location place city country project url link uri lang language
weather channel channel_id thread thread_id user user_id message_id msg_id summary source_url source_id sources
created_at updated_at modified_at model version kind type topic subject title notes note priority status state
date time timestamp people person participants label labels category categories tagline rank range role roles
score sentiment feeling feelings full_name file_name filename username nickname game fame same age page stage
image wage path section chapter position index order count size weight height reason cause context content
contents body_text html format mime hash checksum keywords mentions hashtags due_date deadline duration start
end start_time end_time latitude longitude device app platform client session session_id conversation_id chat_id
team company department email phone address trust trust_level confidence_score energy_level importance_score
goal_id rule_id result_count metadata meta data payload raw original original_text translation transcript
attachments media photos video audio intention instance instant distance estate rest test next gold goat coal
boat tool rude tasks tabs bags flags temperature mindset mindstate relation relation_type source_name speaker_id
speaker_name speakers results decision corrections validity validated invalid abstract relevance related parent
parent_id children evidence quote quotes citation isbn price currency amount unit favourite private archived
pinned unread sender recipient reply_to response answer question prompt tokens cost latency vector cluster
segment series genre artist album song calories heart_rate sleep food recipe naming restore restart
commands
""".split()
"""Fields of their own that people store with a memory."""


def faults_of(kind: type[Request], **fields: Any) -> dict[str, str]:
    """The message of each fault, by its place."""
    with pytest.raises(ValidationError) as refused:
        kind.model_validate(fields)
    return {".".join(map(str, fault["loc"])): fault["msg"] for fault in refused.value.errors()}


@pytest.mark.parametrize("field", MISSPELT)
def test_a_misspelt_field_of_a_memory_is_refused_by_the_name_that_was_meant(field: str) -> None:
    for name in MISSPELT[field].split():
        faults = faults_of(Remember, citizen_id="a", name="n", **{name: "x"})
        assert f"did you mean `{field}`?" in faults[name], name


def test_a_field_of_its_own_is_kept_in_extra() -> None:
    kept = dict.fromkeys(KEPT[:100], 1), dict.fromkeys(KEPT[100:], 1)
    for fields in kept:
        assert Remember.model_validate({"citizen_id": "a", "name": "n", **fields}).extra == fields
    assert len(KEPT) > 200


def test_a_misspelt_field_of_a_link_is_refused_and_one_of_its_own_is_kept() -> None:
    link: dict[str, Any] = {
        "citizen_id": "a", "source_id": "s", "target_id": "t", "relation_type": "R", "energy": 1.0,
        "confidence": 1.0, "emotions": JOY, "goal": "g", "mindstate": "m",
    }  # fmt: skip
    assert Relate.model_validate({**link, "author_name": "Tom"}).extra == {"author_name": "Tom"}
    assert "`mindstate`" in faults_of(Relate, **link, mind_sate="calm")["mind_sate"]


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


def test_a_field_given_under_two_names_is_refused() -> None:
    fault = faults_of(Remember, citizen_id="a", name="n", text="x", description="x")["text"]
    assert fault == "is another name of description, which is given too; leave one of them out"
    assert "query" in faults_of(RetrievalIntention, citizen_id="a", query="x", query_text="x")
    tools = FieldNames.of(("emotions",), NAMES_OF_REST)
    assert tools.rename({"emotion_vector": 1, "current_emotions": 2}) == {"emotions": 1, "current_emotions": 2}


def test_a_fault_has_the_name_that_was_sent_and_all_faults_are_told() -> None:
    faults = faults_of(Remember, citizen_id="a", text=5, emotions={"joy": 7}, enery=1)
    assert faults.keys() == {"name", "text", "emotions.joy", "enery"}
    nested = faults_of(RetrievalIntention, citizen_id="a", query="x", filters={"node_type": ["Person"]})
    assert "`node_types`" in nested["filters.node_type"]


def test_names_inside_of_a_field_that_is_kept_are_not_looked_at() -> None:
    inner = {"descripton": 1, "emotions": {"joy": 9}}
    own = {"mood": inner, "extra": {"emotion_vectors": 1}}
    kept = Remember.model_validate({"citizen_id": "a", "name": "n", **own})
    assert kept.extra == {"mood": inner, "emotion_vectors": 1}
    assert faults_of(Remember, citizen_id="a", name="n", extra=7, mood=1).keys() == {"extra", "mood"}


@pytest.mark.parametrize("name", ["f", "descripton", "description"])
def test_too_many_fields_are_refused_before_any_is_read(name: str) -> None:
    fields = {f"{name}{number}": number for number in range(10_000)}
    fault = faults_of(Remember, citizen_id="a", name="n", **fields)[""]
    assert fault == f"has 10002 fields, at most {MOST_FIELDS} are read"


def test_a_name_that_is_very_long_or_no_text_is_no_misspelling() -> None:
    assert OF_MEMORY.propose("description" * 10_000) is None
    assert nearest("d" * 65, ("d" * 64,)) is None
    assert faults_of(Remember, citizen_id="a", name="n", **{"extra": {}, "tags": [7]}).keys() == {"tags.0"}
    with pytest.raises(ValidationError):
        Remember.model_validate({"citizen_id": "a", "name": "n", 7: "x"})


def test_a_name_in_other_letters_is_kept() -> None:
    kept = {"Öffnungszeit": 1, "気分": 2, "": 3, "  ": 4, "_": 5}
    assert Remember.model_validate({"citizen_id": "a", "name": "n", **kept}).extra == kept


def test_the_schema_says_what_a_field_may_also_be_called() -> None:
    fields = Remember.model_json_schema()["properties"]
    assert (fields["description"]["x-alias"], fields["emotion_vector"]["x-alias"]) == ("text", "emotions")
    mode = StateBasedRetrieval.model_json_schema()["properties"]["query_mode"]
    assert mode["description"] == "Also `mode`."
