"""Speakers of a conversation who look like somebody whom the citizen knows: they are not taken for that person."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.conftest import Service


def talk(service: Service, citizen: str, episode: str, *speakers: str) -> dict[str, Any]:
    messages = [{"speaker": one, "text": f"I am {one}, and I say so."} for one in speakers]
    body = {"citizen_id": citizen, "episode_id": episode, "messages": messages}
    answer = service.http.post("/v1/episodes", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["refused"] == 0, answer.text
    return dict(answer.json())


def people(service: Service, citizen: str) -> dict[str, str]:
    asked = {"citizen_id": citizen, "node_type": "Person"}
    found = service.http.get("/v1/memories", params=asked).json()["memories"]
    return {str(one["node_id"]): str(one["name"]) for one in found}


def who_said(service: Service, citizen: str, episode: str) -> list[str]:
    found = service.http.get("/v1/links", params={"citizen_id": citizen, "relation_type": "SAID_BY"}).json()[
        "links"
    ]
    return [str(one["target_id"]) for one in found if one["source_id"].startswith(f"{episode}:")]


@pytest.mark.parametrize(
    ("known", "speaker"), [("Jose", "José"), ("José", "Jose"), ("Zoe", "Zoë"), ("Zoë", "Ｚoé")]
)
def test_a_name_with_other_accents_is_another_person_and_a_note_says_so(
    service: Service, citizen: str, known: str, speaker: str
) -> None:
    service.remember(
        citizen,
        id=f"person:{known[:2].lower() + ('se' if 'J' in known else 'e')}",
        node_type="Person",
        name=known,
        description="My brother.",
    )
    [own] = people(service, citizen)
    told = talk(service, citizen, "first", speaker)
    assert sorted(people(service, citizen).values()) == sorted([known, speaker])
    assert own not in who_said(service, citizen, "first")
    assert [note for note in told["notes"] if speaker in note and known in note]
    again = talk(service, citizen, "first", speaker)
    assert (again["stored"], again["refused"]) == (0, 0)
    talk(service, citizen, "second", speaker)
    assert who_said(service, citizen, "second") == who_said(service, citizen, "first")
    assert len(people(service, citizen)) == 2


@pytest.mark.parametrize("speaker", ["JOSÉ", "Ｊosé", "Jose\u0301"])
def test_another_case_or_width_is_the_same_person_with_a_note(
    service: Service, citizen: str, speaker: str
) -> None:
    service.remember(citizen, id="person:jose", node_type="Person", name="José", description="My brother.")
    told = talk(service, citizen, "first", speaker)
    assert who_said(service, citizen, "first") == ["person:jose"]
    assert bool([note for note in told["notes"] if "José" in note]) is (speaker != "Jose\u0301")


def test_a_person_who_was_given_another_name_since_is_still_met(service: Service, citizen: str) -> None:
    talk(service, citizen, "first", "José")
    body = {"citizen_id": citizen, "name": "José Silva"}
    assert service.http.post("/v1/memories/N1/person:jose/correct", json=body).status_code == 200
    assert talk(service, citizen, "second", "José")["notes"] == []
    assert who_said(service, citizen, "second") == ["person:jose"]


def test_two_speakers_whose_names_look_alike_stay_two_in_one_conversation(service: Service, citizen: str) -> None:
    talk(service, citizen, "both", "José", "Jose", "José")
    found = people(service, citizen)
    assert sorted(found.values()) == ["Jose", "José"]
    said = who_said(service, citizen, "both")
    assert sorted(map(said.count, found)) == [1, 2]
    assert talk(service, citizen, "both", "José", "Jose", "José")["stored"] == 0
