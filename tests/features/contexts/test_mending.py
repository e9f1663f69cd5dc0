"""What a context says badly is refused, or mended with a warning."""

from __future__ import annotations

from typing import Any

import pytest

from orchestration.features.contexts.commands import mend
from orchestration.features.contexts.values import WriteContext
from schemas.errors import InvalidRequest


def a_context(**given: Any) -> WriteContext:
    return WriteContext(**{"citizen_id": "kai", "description": "Egor criticized the plan.", **given})


@pytest.mark.parametrize("name", ["None", "null", "", "  ", "undefined", "N/A"])
def test_a_node_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match=r"nodes\.1: .* is no name"):
        mend(a_context(nodes=["Kai", name]))


@pytest.mark.parametrize("name", ["neutral", "None", ""])
def test_no_feeling_is_left_out_with_a_warning(name: str) -> None:
    mended = mend(a_context(emotion=name))
    assert (mended.context.emotion, len(mended.warnings)) == (None, 1)
