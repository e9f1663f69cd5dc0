"""The order in which resonances are shown, and how channels are weighed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.algorithms import jaccard
from orchestration.ranking.plurality import DAY
from orchestration.resonance.ranking import (
    PER_EMOTION,
    Echo,
    SignalWords,
    choose,
    complete,
    diversify,
    effective_weights,
    split_by_emotion,
    suppression,
)
from schemas.memory import ConsciousnessNode, Level
from schemas.wave_signal import CHANNELS, Resonance, Weights
from substrate.store.resonance import Triple

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


def test_a_weaker_memory_with_other_nodes_goes_before_a_double() -> None:
    """Worked by hand: 0.85 · 0.45 / 0.5 − 0.15 = 0.615 for the double, 0.85 · 0.4 / 0.5 = 0.68 for the other."""
    ab, c = frozenset("ab"), frozenset("c")
    found = [echo(1, 0.5, None, ab), echo(2, 0.45, None, ab), echo(3, 0.4, None, c)]
    assert [one.resonance.memory.node_id for one in diversify(found)] == ["m1", "m3", "m2"]


@given(NODES, NODES)
def test_jaccard_is_the_share_in_common(left: frozenset[str], right: frozenset[str]) -> None:
    assert jaccard(left, right) == jaccard(right, left)
    assert jaccard(left, left) == (1.0 if left else 0.0)
    assert 0.0 <= jaccard(left, right) <= 1.0


def test_suppression_rises_from_a_fifth_to_the_whole_in_a_day() -> None:
    assert [suppression(0, age) for age in (0, DAY // 2, DAY, 9 * DAY)] == pytest.approx([0.2, 0.6, 1.0, 1.0])
    assert suppression(DAY, 0) == 0.2, "what will be shown is taken as shown now"


def test_a_silent_channel_weighs_nothing_and_drives_multiply_the_others() -> None:
    found = effective_weights(Weights(nodes=2), frozenset(("likeness",)), 0.5, [{"nodes": 3.0}, {"result": 0.0}])
    assert found == {**dict.fromkeys(CHANNELS, 1.0), "nodes": 6.0, "emotion": 0.5, "result": 0.0, "likeness": 0.0,
                     "words": 0.5, "beside": 0.5, "importance": 0.2, "recency": 0.2}  # fmt: skip


WORDED = {**dict.fromkeys(CHANNELS, 0.0), "likeness": 1.0, "words": 0.5, "beside": 0.5}


def worded(*said: tuple[str, str, float], links: tuple[Triple, ...] = ()) -> list[Echo]:
    """Memories with these speakers, texts and totals, completed for the words `ladder` and `hedge`."""
    found = []
    for place, (speaker, text, total) in enumerate(said):
        one = echo(place, total, None)
        memory = one.resonance.memory.model_copy(update={"speaker": speaker, "description": text})
        had = one.resonance.model_copy(update={"memory": memory, "total": total})
        found.append(one._replace(resonance=had, links=links))
    signal = SignalWords({Level.N1: {"ladder": 3.0, "hedg": 1.0}}, "en", frozenset(("assistant",)))
    return complete(found, signal, WORDED, Level.N1)


def test_a_memory_has_the_share_of_the_words_of_a_signal_by_their_weight() -> None:
    first, second = worded(("user", "the ladder", 0.2), ("user", "the hedges", 0.2))
    assert (first.resonance.channels["words"], second.resonance.channels["words"]) == (0.75, 0.25)
    assert first.resonance.total == pytest.approx(0.2 + 0.5 * 0.75)


def test_what_stands_beside_a_memory_is_the_score_of_the_best_that_it_is_linked_with() -> None:
    """Worked by hand: the first scores (0.3 + 0.5 · 0.75) / 1.5 = 0.45 by likeness and words."""
    first, second = worded(("user", "the ladder", 0.3), ("user", "yes", 0.0), links=(Triple("NEXT", "m0", "m1"),))
    assert second.resonance.channels["beside"] == pytest.approx(0.45)
    assert second.resonance.resonance == pytest.approx(0.5 * 0.45 / 2.0)
    assert first.resonance.channels["beside"] == 0.0


def test_what_an_answering_side_said_resonates_half() -> None:
    asked, answered = worded(("user", "the ladder", 0.2), ("Assistant", "the ladder", 0.2))
    assert answered.resonance.resonance == pytest.approx(asked.resonance.resonance / 2, abs=1e-6)
    assert answered.resonance.suppression == 0.5


def test_who_said_it_makes_no_two_memories_alike() -> None:
    said = tuple(Triple("SAID_BY", f"m{place}", "kai") for place in (1, 2))
    found = [echo(place, 0.5, None, frozenset(("kai", "hedge")))._replace(links=said) for place in (1, 2)]
    assert {one.subjects for one in found} == {frozenset(("hedge",))}
