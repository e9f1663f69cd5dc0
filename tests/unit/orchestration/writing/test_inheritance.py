"""A link that the service makes takes what the memories at its ends feel."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing.command_rows import LEAST_FINISHED, inherit

ROW = {"id": "a|NEXT|b", "emotion_vector": "{}", "resolution_state": "resolved", "energy": 0.5, "unset": None}
UNITS = st.floats(0.0, 1.0).map(lambda number: round(number, 3))


def build_end(**felt: Any) -> dict[str, Any]:
    emotions = felt.pop("emotions", None)
    return {"energy": 0.5, **felt, "emotion_vector": emotions and orjson.dumps(emotions).decode()}


ENDS = st.builds(
    build_end,
    energy=UNITS,
    resolution_state=st.sampled_from((*LEAST_FINISHED, None)),
    emotions=st.dictionaries(st.sampled_from(("joy", "fear", "anger")), UNITS, max_size=3),
)


@pytest.mark.parametrize(
    ("states", "state"),
    [
        (("blocked", "resolved"), "blocked"),
        (("resolved", "in_progress"), "in_progress"),
        ((None, "resolved"), "resolved"),
        (("in_progress", "blocked"), "blocked"),
    ],
)
def test_the_least_finished_state_of_the_ends_is_that_of_the_link(states: tuple[str, str], state: str) -> None:
    ends = [build_end(resolution_state=each) for each in states]
    assert inherit(ROW, ends)["resolution_state"] == state


@given(st.lists(ENDS, max_size=2))
def test_the_order_of_the_ends_makes_no_difference(ends: list[dict[str, Any]]) -> None:
    one, other = inherit(ROW, ends), inherit(ROW, ends[::-1])
    emotions = [orjson.loads(row.pop("emotion_vector")) for row in (one, other)]
    assert emotions[0] == emotions[1]
    assert one == other


@given(st.lists(ENDS, max_size=2))
def test_no_emotion_of_a_link_is_stronger_than_at_its_ends(ends: list[dict[str, Any]]) -> None:
    felt = [orjson.loads(end["emotion_vector"] or "{}") for end in ends]
    for name, intensity in orjson.loads(inherit(ROW, ends)["emotion_vector"]).items():
        assert intensity == max(emotions.get(name, 0.0) for emotions in felt)
