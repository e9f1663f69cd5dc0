"""What is nearly as far may come in another order; what is farther, or older of the same text, may not."""

from __future__ import annotations

import pytest

from tests.oracle.nearness import nearest_first

LAMP, LAMP_LATER = ("lamp", 1, "lamp", "red"), ("lamp", 2, "lamp", "red")
DOOR, ROOF = ("door", 1, "door", "red"), ("roof", 1, "roof", "")
FAR = {DOOR: 0.2, LAMP: 0.2 + 1e-8, LAMP_LATER: 0.2 + 1e-8, ROOF: 0.4}


@pytest.mark.parametrize(
    ("found", "limit", "right"),
    [
        ([DOOR, LAMP, LAMP_LATER, ROOF], 9, True),
        ([LAMP, LAMP_LATER, DOOR, ROOF], 9, True),
        ([LAMP, LAMP_LATER], 2, True),
        ([LAMP, DOOR, LAMP_LATER, ROOF], 9, True),
        ([LAMP_LATER, LAMP, DOOR, ROOF], 9, False),
        ([LAMP_LATER, DOOR], 2, False),
        ([DOOR, LAMP, ROOF, LAMP_LATER], 9, False),
        ([DOOR, LAMP, LAMP_LATER], 9, False),
        ([DOOR, DOOR], 2, False),
        ([DOOR, ("door", 2, "door", "red")], 2, False),
    ],
)
def test_only_what_is_nearly_as_far_changes_places(found: list[tuple[object]], limit: int, right: bool) -> None:
    assert nearest_first(found, FAR, limit) is right
