"""Shapes are compared by what happened, whatever it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.shape.queries import Mark, Step
from orchestration.features.shape.shape import Neighbourhood, compare, traits

STORY = (
    ("blocked", "", "fear"),
    ("", "", "curiosity"),
    ("resolved", "positive", "relief"),
    ("", "positive", "joy"),
)
LINKS = ((2, "WAKES", 0), (1, "LEADS_TO", 2), (2, "FREES", 3))

type Links = Sequence[tuple[int, str, int]]


def story(name: str, told: Sequence[tuple[str, str, str]], links: Links) -> tuple[dict[str, Mark], list[Step]]:
    """A story as marks and steps; its memories are `name0`, `name1` and so on, one after the other."""
    marks = {
        f"{name}{place}": Mark(f"{name}{place}", state or None, result or None, (felt,) if felt else (), place)
        for place, (state, result, felt) in enumerate(told)
    }
    steps = [Step(f"{name}{one}", True, kind, f"{name}{other}") for one, kind, other in links]
    steps += [Step(f"{name}{other}", False, kind, f"{name}{one}") for one, kind, other in links]
    return marks, steps


def together(*stories: tuple[Mapping[str, Mark], Sequence[Step]]) -> Neighbourhood:
    marks: dict[str, Mark] = {}
    steps: list[Step] = []
    for some, links in stories:
        marks.update(some)
        steps += links
    return Neighbourhood.of(marks, steps)


@given(
    st.lists(st.tuples(st.sampled_from(("", "blocked", "resolved")), st.sampled_from(("", "positive")),
                       st.sampled_from(("", "joy", "fear"))), min_size=2, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(("CAUSES", "FREES")), st.integers(0, 5)), max_size=8),
)  # fmt: skip
def test_likeness_is_a_share_and_names_do_not_matter(
    told: list[tuple[str, str, str]], drawn: list[tuple[int, str, int]]
) -> None:
    links = [(one, kind, other) for one, kind, other in drawn if max(one, other) < len(told)]
    around = together(story("a", told, links), story("z", told, links), story("c", STORY, LINKS))
    assert traits("a0", around) == traits("z0", around)
    found = compare("c2", around.marks, around) or []
    assert all(0.0 < one.likeness <= 1.0 for one in found)
    likeness = {one.memory_id: one.likeness for one in found}
    assert likeness.get("a0") == pytest.approx(likeness.get("z0"))
