"""Revisions: a memory and a link are revised in the same ways, and the path alone says which one."""

from __future__ import annotations

from typing import Any

import pytest

from api.request_parsing.addresses import LinkAddress, MemoryAddress
from api.routes import links, memories
from api.routes.revisions import command_at
from schemas.errors import InvalidRequest
from schemas.memory import Level


def test_memories_and_links_have_the_same_revisions() -> None:
    actions = [revision.action for revision in memories.REVISIONS]
    assert actions == [revision.action for revision in links.REVISIONS]
    assert actions == ["supersede", "correct", "retract", "resolve", "undo"]


@pytest.mark.parametrize("address", [MemoryAddress(Level.N2, "m/1"), LinkAddress(Level.N2, "m/1")])
def test_a_revision_gets_its_id_and_level_from_the_path(address: MemoryAddress | LinkAddress) -> None:
    assert command_at(address, {"name": "new"}) == {"name": "new", "id": "m/1", "level": Level.N2}


@pytest.mark.parametrize("body", [{"id": "m"}, {"level": "N1"}, {"command": "undo"}, [], "text", None])
def test_a_body_that_repeats_the_path_or_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(InvalidRequest):
        command_at(MemoryAddress(Level.N1, "m"), body)
