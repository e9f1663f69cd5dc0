"""Shapes are compared by what happened, whatever it is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.shape.queries import Mark, Step
from orchestration.features.shape.shape import CROWDED, Neighbourhood, compare, traits

STORY = (
    ("blocked", "", "fear"),
    ("", "", "curiosity"),
    ("resolved", "positive", "relief"),
    ("", "positive", "joy"),
)
LINKS = ((2, "WAKES", 0), (1, "LEADS_TO", 2), (2, "FREES", 3))
OTHER_LINKS = ((0, "CAUSES", 1), (1, "CAUSES", 2), (3, "AFTER", 2))

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


def test_the_same_story_under_other_names_is_the_most_alike() -> None:
    around = together(story("a", STORY, LINKS), story("b", STORY, LINKS), story("c", STORY[::-1], OTHER_LINKS))
    found = compare("a2", around.marks, around) or []
    assert found[0].memory_id == "b2"
    assert found[0].likeness == pytest.approx(1.0)
    assert all(one.likeness < 1.0 for one in found[1:])
    assert "→ FREES" in found[0].shared


def test_what_lies_within_two_links_is_the_same_story() -> None:
    around = together(story("a", STORY, LINKS), story("b", STORY, LINKS))
    assert {one.memory_id[0] for one in compare("a2", around.marks, around) or []} == {"b"}


def test_a_memory_without_links_says_too_little() -> None:
    around = together(story("a", STORY, ()), story("b", STORY, LINKS))
    assert compare("a2", around.marks, around) is None


def test_the_order_of_a_chat_alone_says_too_little() -> None:
    plain = (("", "", ""),) * 4
    chat = ((0, "NEXT", 1), (1, "NEXT", 2), (2, "NEXT", 3))
    around = together(story("a", plain, chat), story("b", plain, chat))
    assert compare("a2", around.marks, around) is None


def test_no_way_leads_over_a_crowd() -> None:
    crowd = [Step("speaker", False, "SAID_BY", f"m{place}") for place in range(CROWDED + 1)]
    marks = {
        name: Mark(name, None, None, ("joy",), 0) for name in ("speaker", *(f"m{n}" for n in range(CROWDED + 1)))
    }
    around = Neighbourhood.of(marks, [*crowd, Step("m0", True, "SAID_BY", "speaker")])
    assert around.near("m0") == {"m0", "speaker"}


def test_a_link_to_itself_and_one_to_what_cannot_be_seen_are_no_steps() -> None:
    marks, _ = story("a", STORY, ())
    around = Neighbourhood.of(marks, [Step("a0", True, "KNOWS", "a0"), Step("a0", True, "KNOWS", "gone")])
    assert around.near("a0") == {"a0"}


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
