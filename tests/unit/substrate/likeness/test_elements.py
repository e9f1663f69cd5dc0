"""Names and forms of what a vector set holds."""

from __future__ import annotations

import pytest

from substrate.likeness.elements import (
    Role,
    set_name,
    set_names,
)


@pytest.mark.parametrize("graph", ["citizen_ada", "{citizen_ada}import-1a2b"])
def test_the_sets_of_a_graph_have_its_hash_tag_and_differ(graph: str) -> None:
    names = set_names(graph)
    assert len(set(names)) == len(names) == 4
    assert all("{citizen_ada}" in name for name in names)
    assert set_name(graph, Role.MEMORIES, 1) in names
