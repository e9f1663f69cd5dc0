"""Which contexts stand in the working memory, and which rules are active with them (002)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.rules.in_force import HeldRule
from orchestration.features.rules.queries import StoredRule
from orchestration.features.situation.values import ActiveRule
from orchestration.features.situation.working_memory import SHARED, active_rules, choose_contexts, fitting_rules
from schemas.memory import Level, Source
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


def test_what_is_a_name_alone_or_shown_elsewhere_is_no_context() -> None:
    name = resonance(1, 0.9).model_copy(update={"memory": a_node(node_id="felix", description="")})
    chosen = choose_contexts([name, resonance(2, 0.8), resonance(3, 0.7)], {"m2"})
    assert [context.memory_id for context in chosen] == ["m3"]


def test_a_context_has_the_fields_of_002() -> None:
    [context] = choose_contexts([resonance(1, 0.5, "joy", result="positive", rule="Ask.", abstraction="L1")])
    assert (context.emotion, context.intensity) == ("joy", 0.4)
    assert (context.result, context.rule, context.abstraction, context.score) == ("positive", "Ask.", "L1", 0.5)
    [recorded] = choose_contexts([resonance(1, 0.5, "joy", intensity=0.9)])
    assert recorded.intensity == 0.9


def test_each_rule_is_active_once_with_its_memories() -> None:
    contexts = choose_contexts(
        [resonance(1, 0.9, rule="Ask."), resonance(2, 0.8), resonance(4, 0.7, rule=" Ask. "), resonance(5, 0.1)]
    )
    [rule] = active_rules(contexts)
    assert (rule.rule, set(rule.memory_ids)) == ("Ask.", {"m1", "m4"})


def held(text: str, alike: float | None = None) -> HeldRule:
    stored = StoredRule(
        key=Level.N1, memory_id=text, version=1, name="n", rule=text, severity=None, source=Source.CITIZEN,
        author=None, result=None, valid_at=0, created_at=0, emotions=(), alike=alike,
    )  # fmt: skip
    return HeldRule(text, (stored,), "warn")


def test_a_rule_fits_by_its_words_or_its_meaning_the_nearest_first() -> None:
    rules = [held("Water the beans on Sunday", 0.2), held("Never lend the ladder", 0.1), held("Be short", 0.9)]
    fitting = fitting_rules(rules, "Tom asks for the ladder")
    assert [rule.text for rule in fitting] == ["Be short", "Never lend the ladder"]


def test_a_rule_that_fits_and_is_of_a_context_is_told_once_with_all_its_memories() -> None:
    contexts = choose_contexts([resonance(1, 0.9, rule="Ask.")])
    assert active_rules(contexts, [held("Ask."), held("Wait.")]) == (
        ActiveRule(rule="Ask.", memory_ids=("m1", "Ask.")),
        ActiveRule(rule="Wait.", memory_ids=("Wait.",)),
    )
