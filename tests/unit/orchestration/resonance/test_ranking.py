"""The order in which resonances are shown, and how channels are weighed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orchestration.algorithms import jaccard
from orchestration.resonance.ranking import (
    PER_EMOTION,
    Echo,
    choose,
    split_by_emotion,
)
from schemas.memory import ConsciousnessNode, Level
from schemas.wave_signal import Resonance

NODES = st.frozensets(st.sampled_from("abcdef"), max_size=4)


def echo(place: int, strength: float, emotion: str | None, around: frozenset[str] = frozenset()) -> Echo:
    memory = ConsciousnessNode(
        node_id=f"m{place}",
        node_type="Memory",
        name="m",
        description="",
        valid_at=datetime(2026, 1, 1, tzinfo=UTC),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        energy=0.5,
        confidence=0.5,
        level=Level.N1,
    )
    one = Resonance(memory=memory, resonance=strength, total=strength, channels={}, suppression=1, level_boost=1)
    return Echo(one, emotion, around)


echoes = st.lists(
    st.tuples(st.floats(0, 1.15), st.sampled_from(("joy", "despair", "calm", None)), NODES), max_size=14
).map(
    lambda said: [
        echo(place, *one) for place, one in enumerate(sorted(said, key=lambda one: -one[0]))
    ]
)  # fmt: skip


@given(echoes, st.integers(1, 15))
def test_a_third_of_an_emotion_comes_only_when_nothing_else_is_left(found: list[Echo], limit: int) -> None:
    emotion = {one.resonance.memory.node_id: one.emotion for one in found}
    order = [emotion[one.resonance.memory.node_id] for one in choose(found, limit)]
    assert len(order) == min(limit, len(found))
    first = [name for name in emotion.values() if name is None]
    held = Counter(name for name in emotion.values() if name is not None)
    before = len(first) + sum(min(PER_EMOTION, count) for count in held.values())
    counted = Counter(name for name in order[:before] if name is not None)
    assert all(count <= PER_EMOTION for count in counted.values())


@given(echoes)
def test_the_strongest_is_shown_first_and_nothing_is_shown_twice(found: list[Echo]) -> None:
    order = [one.resonance for one in choose(found, 20)]
    assert sorted(one.memory.node_id for one in order) == sorted(e.resonance.memory.node_id for e in found)
    assert [one.resonance for one in order[:1]] == [e.resonance.resonance for e in found[:1]]


@given(echoes)
def test_the_two_parts_keep_the_order_given(found: list[Echo]) -> None:
    for part in split_by_emotion(found):
        assert part == sorted(part, key=found.index)


@given(NODES, NODES)
def test_jaccard_is_the_share_in_common(left: frozenset[str], right: frozenset[str]) -> None:
    assert jaccard(left, right) == jaccard(right, left)
    assert jaccard(left, left) == (1.0 if left else 0.0)
    assert 0.0 <= jaccard(left, right) <= 1.0
