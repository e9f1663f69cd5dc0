"""Which command writes or updates the copy of a shared memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.sharing.copies import Copying, copy_id, copy_link, origin_of, write_copy
from orchestration.writing.changes import MAY_CHANGE, Refusal
from schemas.commands import Correct, Remember, Supersede, Writer
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


def copied(version: int, **fields: Any) -> Record:
    kept = ORIGIN.model_copy(update={"version": version}).model_dump_json(exclude_none=True)
    return Record("s_1", 1, Period(10), Period(30), {**CONTENT, "shared_from": kept, **fields})


def write(original: Record, *copies: Record, writer: Writer | None = None) -> Any:
    return write_copy(original, copies, COPYING._replace(writer=writer or COPYING.writer), 100)


def test_the_first_share_remembers_the_content_and_its_valid_time_without_its_episode() -> None:
    command = write(replace(ORIGINAL, valid=Period(10, 500)))
    assert isinstance(command, Remember)
    assert (command.id, command.level, command.citizen_id, command.command_id) == ("s_1", "N2", "ada", "share-1")
    assert (command.description, command.tags, command.emotion_vector) == (
        "By the river.",
        ("porto",),
        {"joy": 0.5},
    )
    assert (command.episode_id, command.valid_at is None, command.invalid_at is None) == (None, False, False)
    assert command.copy_of == ORIGIN.model_dump(mode="json", exclude_none=True)


@given(SOURCES, SOURCES)
def test_a_copy_has_the_source_of_the_original_but_never_one_above_that_of_the_key(
    own: Source, most: Source
) -> None:
    original = replace(ORIGINAL, content={**CONTENT, "source": own.value})
    source = write(original, writer=Writer(author="ada", highest_source=most)).source
    assert source in (own, most)
    assert source in MAY_CHANGE[own]
    assert source in MAY_CHANGE[most]


def test_the_same_version_is_not_written_again() -> None:
    assert write(ORIGINAL, copied(2)) is None


def test_a_corrected_original_corrects_the_copy_and_clears_what_it_no_longer_has() -> None:
    command = write(ORIGINAL, copied(1, description="By the sea.", goal="rest", tags='["a"]'))
    assert isinstance(command, Correct)
    changed = command.model_fields_set - {"command_id", "level", "collective", "citizen_id", "id", "source"}
    assert changed == {"description", "goal", "tags"}
    assert (command.description, command.goal, command.tags) == ("By the river.", None, ("porto",))


def test_an_original_that_became_another_thing_supersedes_the_copy_at_that_moment() -> None:
    command = write(replace(ORIGINAL, valid=Period(50)), copied(1, description="By the sea."))
    assert isinstance(command, Supersede)
    assert command.effective_at is not None


def test_an_original_with_another_valid_time_corrects_that_of_the_copy() -> None:
    command = write(replace(ORIGINAL, valid=Period(5, 900)), copied(1))
    assert isinstance(command, Correct)
    assert {"valid_at", "invalid_at"} <= command.model_fields_set


def test_a_new_version_with_the_old_content_is_noted_all_the_same() -> None:
    command = write(ORIGINAL, copied(1))
    assert isinstance(command, Correct)
    assert command.copy_of is not None
    assert command.copy_of["version"] == 2


def test_a_retracted_copy_is_remembered_again() -> None:
    assert isinstance(write(ORIGINAL, replace(copied(2), known=Period(30, 40))), Remember)


def test_a_memory_that_is_no_copy_is_not_overwritten() -> None:
    taken = Record("s_1", 1, Period(10), Period(30), CONTENT)
    assert origin_of(taken) is None
    with pytest.raises(Refusal, match="is a memory of its own"):
        write(ORIGINAL, taken)


def test_the_id_of_a_copy_follows_from_the_graph_and_the_id_of_the_original() -> None:
    assert copy_id("citizen_ada", "home") == copy_id("citizen_ada", "home")
    assert len({copy_id(graph, one) for graph in ("citizen_ada", "citizen_bo") for one in ("a", "b")}) == 4


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
