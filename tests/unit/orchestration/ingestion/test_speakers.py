"""Which stored person each speaker of a conversation is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import person_id, person_ids
from orchestration.ingestion.speakers import identify_speakers

names = st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=6)


@given(names)
def test_each_speaker_has_one_of_the_two_ids_of_the_name_whatever_the_others(speakers: list[str]) -> None:
    found = identify_speakers(speakers, {})
    assert list(found.ids) == speakers
    assert all(found.ids[name] in person_ids(name) for name in speakers)


@given(names)
def test_with_the_people_stored_everybody_is_the_same_again(speakers: list[str]) -> None:
    first = identify_speakers(speakers, {}).ids
    known: dict[str, list[str]] = {}
    for name, person in first.items():
        if person == person_id(name):
            known.setdefault(person, []).append(name)
    assert identify_speakers(speakers, known).ids == first
