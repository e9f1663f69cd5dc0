"""Which command writes or updates the copy of a shared memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.sharing.copies import Copying, copy_link, write_copy
from orchestration.identifiers import copy_id
from orchestration.writing.changes import MAY_CHANGE
from schemas.commands import Writer
from schemas.memory import Level, SharedFrom, Source
from schemas.temporal import END_OF_TIME, Period
from substrate.bitemporal import Record
from substrate.store.changesets import LinkEnds

ORIGIN = SharedFrom(level=Level.N1, citizen_id="ada", id="home", version=2)
COPYING = Copying(Level.N2, "ada", "s_1", "share-1", Writer(author="ada", steward=False), ORIGIN)
CONTENT: dict[str, Any] = {
    "name": "Home", "node_type": "Place", "description": "By the river.", "energy": 0.5, "confidence": 0.5,
    "tags": '["porto"]', "emotion_vector": '{"joy":0.5}', "source": "tool", "unset": "goal", "episode_id": "e1",
}  # fmt: skip
ORIGINAL = Record("home", 2, Period(10), Period(20), CONTENT)
SOURCES = st.sampled_from(Source)


def write(original: Record, *copies: Record, writer: Writer | None = None) -> Any:
    return write_copy(original, copies, COPYING._replace(writer=writer or COPYING.writer), 100)


@given(SOURCES, SOURCES)
def test_a_copy_has_the_source_of_the_original_but_never_one_above_that_of_the_key(
    own: Source, most: Source
) -> None:
    original = replace(ORIGINAL, content={**CONTENT, "source": own.value})
    source = write(original, writer=Writer(author="ada", highest_source=most)).source
    assert source in (own, most)
    assert source in MAY_CHANGE[own]
    assert source in MAY_CHANGE[most]


@pytest.mark.parametrize(("own_id", "named"), [("a|NEXT|b", False), ("mine", True)])
def test_a_link_goes_between_the_copies_with_its_metadata(own_id: str, *, named: bool) -> None:
    content = {
        "relation_type": "NEXT", "goal": "g", "mindstate": "m", "energy": 0.4, "confidence": 0.6,
        "energy_transfer_coefficient": 0.5, "resolution_state": "resolved", "emotion_vector": "{}",
        "source": "tool",
    }  # fmt: skip
    link = Record(own_id, 1, Period(10, END_OF_TIME), Period(20), content)
    relate = copy_link(link, LinkEnds("a", "b"), LinkEnds("s_a", "s_b"), COPYING, graph="citizen_ada")
    assert (relate.source_id, relate.target_id, relate.relation_type) == ("s_a", "s_b", "NEXT")
    assert (relate.energy, relate.source, relate.writer) == (0.4, Source.TOOL, COPYING.writer)
    assert relate.id == (copy_id("citizen_ada", "mine") if named else None)
