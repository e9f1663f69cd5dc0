"""Contents in stored form: fingerprints, search properties, revised fields."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.identifiers import handle, natural_id
from orchestration.writing.command_rows import memory_row
from orchestration.writing.records import embedded_text, fingerprint
from schemas.commands import Remember

NOW = 1_700_000_000_000_000
THEN = datetime(2025, 6, 29, tzinfo=UTC)


def remember(**fields: Any) -> Remember:
    return Remember.model_validate({"citizen_id": "ada", "name": "A walk", **fields})


# --- fingerprints and ids --------------------------------------------------------------------------------


@given(st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.integers(), min_size=2))
def test_a_fingerprint_does_not_depend_on_the_order_of_fields(extra: dict[str, int]) -> None:
    turned = dict(reversed(extra.items()))
    small = {name: value % 1000 for name, value in extra.items()}
    assert fingerprint(remember(extra=small, energy=0.1)) == fingerprint(
        remember(energy=0.1, extra={name: value % 1000 for name, value in turned.items()})
    )


@pytest.mark.parametrize(
    "change",
    [
        {"name": "A talk"},
        {"id": "m1"},
        {"energy": 0.51},
        {"citizen_id": "bob"},
        {"level": "N2"},
        {"valid_at": THEN},
        {"tags": ["x"]},
        {"emotion_vector": {"joy": 0.1}},
        {"weather": "rain"},
    ],
)
def test_a_fingerprint_sees_every_other_field(change: dict[str, Any]) -> None:
    assert fingerprint(remember(**change)) != fingerprint(remember())


@given(st.text(max_size=20))
def test_numbers_of_fingerprints_and_handles_are_exact_in_the_engine(text: str) -> None:
    assert 0 <= handle(text.encode("utf-8", "replace").decode()) < 2**53
    assert 0 <= fingerprint(remember(extra={"text": text.encode("utf-8", "replace").decode()})) < 2**53


identifiers = st.text(st.characters(codec="utf-8", exclude_characters="|\n\r\t\x7f", min_codepoint=32), min_size=1)


@given(st.tuples(identifiers, identifiers), st.tuples(identifiers, identifiers))
def test_two_links_share_a_natural_id_only_when_they_share_both_ends(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    same = natural_id(one[0], "NEXT", one[1]) == natural_id(other[0], "NEXT", other[1])
    assert same is (one == other)
    assert natural_id("a", "NEXT", "b") != natural_id("a", "BEFORE", "b")


# --- memories --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "search"),
    [
        ({"description": "plain text"}, None),
        ({"name": "Café"}, "cafe"),
        ({"description": "über alles"}, "a walk uber alles"),
        ({"goal": "build_bridge", "tags": ["Été", "work"]}, "build bridge ete work"),
        ({"name": "Café", "goal": "rest"}, "cafe rest"),
    ],
)
def test_the_search_text_holds_what_the_engine_would_not_read_by_itself(
    fields: dict[str, Any], search: str | None
) -> None:
    assert memory_row(remember(**fields), "m", "c", NOW)["search_text"] == search


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"node_type": "Person", "name": "person_Luca"}, "person luca"),
        ({"name": "Zoë", "aliases": ["Zozo", "zoe"]}, "zoe zozo"),
        ({"node_type": "Turn", "name": "D1:3"}, None),
        ({"node_type": "Session", "name": "session 1"}, None),
        ({"name": "?!"}, None),
    ],
)
def test_every_memory_can_be_named_but_turns_and_sessions(fields: dict[str, Any], names: str | None) -> None:
    assert memory_row(remember(**fields), "m", "c", NOW)["entity_names"] == names


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "A walk."),
        ({"description": "by the sea"}, "A walk. by the sea"),
        ({"description": "Hello!", "speaker": "Ada"}, "Ada: Hello!"),
        ({"description": "Hello!", "speaker": ""}, "A walk. Hello!"),
    ],
)
def test_the_embedded_text_has_the_speaker_and_the_words(fields: dict[str, Any], text: str) -> None:
    assert embedded_text(remember(**fields).model_dump()) == text


# --- revisions -------------------------------------------------------------------------------------------
