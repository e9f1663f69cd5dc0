"""Which contexts stand in the working memory, and which rules are active with them (002)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.situation.stimuli import SHARED, choose_contexts
from schemas.memory import Level
from schemas.wave_signal import WORKING_MEMORY, ContextNode, Resonance
from tests.builders import a_node


def resonance(place: int, strength: float, emotion: str | None = None, **fields: object) -> Resonance:
    memory = a_node(
        node_id=f"m{place}",
        description=f"text {place}",
        emotion_vector={emotion: 0.4} if emotion else None,
        **fields,
    )
    around = (ContextNode(node_id=f"n{place % 3}", name="n"),)
    total = {"resonance": strength, "total": strength, "channels": {}, "suppression": 1, "level_boost": 1}
    return Resonance(memory=memory, nodes=around, **total)


found = st.lists(
    st.tuples(st.floats(0, 1.15), st.sampled_from(("joy", "fear", "calm", None)), st.sampled_from(Level)),
    max_size=30,
).map(
    lambda said: [resonance(place, one[0], one[1], level=one[2]) for place, one in enumerate(said)]
)  # fmt: skip


@given(found)
def test_at_most_seven_contexts_of_all_levels_and_at_most_two_of_an_emotion(found: list[Resonance]) -> None:
    chosen = choose_contexts(found)
    felt = Counter(context.emotion for context in chosen if context.emotion is not None)
    assert all(count <= 2 for count in felt.values())
    of_emotion = Counter(one.memory.emotion_vector and next(iter(one.memory.emotion_vector)) for one in found)
    could = sum(count if emotion is None else min(2, count) for emotion, count in of_emotion.items())
    assert len(chosen) == min(WORKING_MEMORY, could)
    if chosen:
        own = [one.resonance * (1.0 if one.memory.level == Level.N1 else SHARED) for one in found]
        assert chosen[0].score == pytest.approx(max(own), abs=1e-6)
