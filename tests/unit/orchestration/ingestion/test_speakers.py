"""Which stored person each speaker of a conversation is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import person_id, person_ids
from orchestration.ingestion.speakers import MAX_NOTES, identify_speakers

names = st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=6)


def test_a_speaker_whom_nobody_knows_has_the_id_of_the_name() -> None:
    assert identify_speakers(["Ada"], {}) == ({"Ada": "person:ada"}, ())


def test_case_and_width_make_no_other_person() -> None:
    found = identify_speakers(["ADA", "Ａda"], {"person:ada": ["Ada"]})
    assert set(found.ids.values()) == {"person:ada"}
    assert found.notes == (
        "speaker ADA is taken for Ada (person:ada), although the spelling differs",
        "speaker Ａda is taken for Ada (person:ada), although the spelling differs",
    )


def test_other_accents_make_another_person() -> None:
    found = identify_speakers(["Rene", "René"], {"person:rene": ["Rene"]})
    assert found.ids["Rene"] == "person:rene"
    assert found.ids["René"] == person_ids("René")[1] != "person:rene"
    [note] = found.notes
    assert "the accents differ" in note


def test_any_name_that_a_person_ever_had_counts() -> None:
    assert identify_speakers(["René"], {"person:rene": ["Rene", "René"]}).ids == {"René": "person:rene"}


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


def test_a_long_list_of_notes_is_cut_and_says_so() -> None:
    count = MAX_NOTES + 3
    known = {person_id(f"Ada {n}"): [f"Ada {n}"] for n in range(count)}
    notes = identify_speakers([f"ADA {n}" for n in range(count)], known).notes
    assert len(notes) == MAX_NOTES + 1
    assert notes[-1] == "and 3 more speakers like these"
